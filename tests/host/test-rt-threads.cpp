// SPDX-License-Identifier: GPL-3.0-or-later
// A node whose voices are computed by helper threads, too: the data loop wakes them, once a cycle, and breaks no other
// rule; and the node may end at any moment.
#include "guarded.hpp"
#include "playing.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

using namespace scs::test;

namespace {

constexpr int voices = 600;

/// Sines that modulate each other: much to compute for one voice.
std::vector<DefUnit> thick() {
    std::vector<DefUnit> units;
    for (int i = 0; i < 24; ++i)
        units.push_back({"SinOsc", {{-1, 100.f + float(i)}, i ? DefUnit::Input{i - 1, 0} : DefUnit::Input{-1, 0}}});
    units.push_back({"Out", {{-1, 0}, {23, 0}}, false});
    return units;
}

Host::Dict with_threads(int threads) {
    return {{"scsynth.threads", std::to_string(threads)},
            {"scsynth.max-nodes", "4096"},
            {"scsynth.rt-memory", "65536"},
            {"scsynth.cpu-limit", "0"}};
}

void start(Playing& p) {
    p.define("thick", thick());
    p.node->link(out, 0);
    p.node->start();
    p.client->send(osc_message("/g_new", {1, 0, 0}));
    for (int id = 1000; id < 1000 + voices; ++id) {
        p.client->send(osc_message("/s_new", {"thick", id, 1, 1}));
        if (id % 100 == 0)
            p.settle(256);
    }
    p.settle(256);
}

/// How many batches helpers have computed so far.
long computed(Playing& p) {
    p.host.main().expire_timers();
    return std::stol(p.node->properties["scsynth.ahead"]);
}

/// Runs cycles until helpers have computed something, which may take a while on a busy machine.
bool helped(Playing& p) {
    const long before = computed(p);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (computed(p) == before && std::chrono::steady_clock::now() < end)
        p.host.cycles(10, 256);
    return computed(p) > before;
}

} // namespace

TEST_CASE("helpers are woken by one system call in a cycle, and no other rule is broken") {
    std::string reason;
    if (!rt_guard_works(reason)) {
        MESSAGE("skipped: " << reason);
        return;
    }
    Host host(library());
    Playing p(host, with_threads(2));
    start(p);
    const Guarded guarded(host);
    const auto breaches = [&](const auto& act) {
        (void)take_breaches();
        act();
        // One is a futex() that wakes, which the C library's syscall() makes for us.
        std::vector<Breach> found = take_breaches();
        for (const Breach& breach : found) {
            CAPTURE(breach.where);
            CHECK(breach.what == "system call 202");
        }
        return found.size();
    };
    CHECK(breaches([&] { CHECK(helped(p)); }) > 0);
    CHECK(breaches([&] { host.cycles(50, 1024); }) <= 50);
    CHECK(breaches([&] { // the same while somebody records
              p.client->send(osc_message("/trace_start"));
              host.cycles(50, 1024);
              p.client->send(osc_message("/trace_read", {1}));
              host.cycles(50, 1024);
              p.client->send(osc_message("/trace_stop", {1}));
              host.cycles(50, 1024);
          }) <= 150);
    breaches([&] {
        p.client->send(osc_message("/n_run", {1, 0}));
        p.settle(100);
        p.client->send(osc_message("/n_run", {1, 1}));
        p.settle(100);
        for (int id = 1000; id < 1000 + voices; id += 3)
            p.client->send(osc_message("/n_free", {id}));
        p.settle(100);
        p.client->send(osc_message("/g_freeAll", {1}));
        p.settle(100);
    });
    // What one core can do isn't given to others.
    host.cycles(200, 256);
    CHECK(breaches([&] { host.cycles(100, 256); }) == 0);
}

TEST_CASE("a node ends while helpers compute") {
    Host host(library());
    for (const int threads : {2, 4}) {
        Playing p(host, with_threads(threads));
        start(p);
        CHECK(helped(p));
        p.host.cycle(1024);
        p.node.reset();
    }
}
