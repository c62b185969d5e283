// SPDX-License-Identifier: GPL-3.0-or-later
// The real node when a clock leaps: the wall clock is set, the machine was suspended, or the daemon was stopped.
#include "playing.hpp"
#include "scripted-cycles.hpp"

#include <doctest/doctest.h>

using namespace scs::test;
using scs::NtpTime;

namespace {

constexpr uint32_t quantum = 256;
constexpr int64_t second = 1'000'000'000;

/// Two hundred cycles, in the middle of which `leap` is called. A sine plays on bus 0 throughout. `bundles` are sent
/// before the leap, each for its time; after it, one for frame 30000, on a wall clock that was set by `set` seconds.
struct Run {
    std::vector<float> sine;
    std::vector<int> clicks; ///< frames on bus 1
    uint64_t xruns = 0;
    std::map<std::string, std::string> properties;
};

const std::vector<DefUnit> click_aside = {{"Impulse", {{-1, 0}, {-1, 0}}}, {"OffsetOut", {{-1, 1}, {0, 0}}, false}};

using Leap = std::function<void(Host&, ScriptedCycles&)>;

Run run(const Leap& leap, int64_t set = 0, const std::vector<double>& before = {}) {
    Host host(library());
    host.position().clock.flags = 0; // in real time: cycles have deadlines
    Playing p(host);
    p.define("sine", sine(440));
    p.define("click", click_aside);
    p.play("sine", 1000);
    p.node->link(out, 0);
    p.node->link(out, 1);
    ScriptedCycles clock(host);
    p.node->start();
    int id = 2000;
    const auto send = [&](NtpTime time) {
        p.client->send(osc_bundle(time, {osc_message("/s_new", {"click", id++, 0, 0})}));
        REQUIRE(p.client->sync());
    };
    host.cycles(50, quantum);
    for (const double frame : before)
        send(tag(frame));
    host.cycles(50, quantum);
    leap(host, clock);
    host.cycle(quantum);
    send(tag(30000) + NtpTime(uint64_t(set) << 32));
    host.cycles(99, quantum);
    host.main().expire_timers();

    Run done{p.node->output(0), {}, p.node->xruns, p.node->properties};
    for (size_t i = 0; i < p.node->output(1).size(); ++i)
        if (p.node->output(1)[i] != 0)
            done.clicks.push_back(int(i));
    return done;
}

void nothing(Host&, ScriptedCycles&) {}

/// A leap of all clocks, as the driver's cycles and the node's threads see it.
void monotonic(Host& host, int64_t nsec) {
    host.position().clock.nsec += uint64_t(nsec);
}

} // namespace

TEST_CASE("the wall clock is set: sound goes on, and bundles by the new time are on their frames") {
    const Run still = run(nothing);
    REQUIRE(still.clicks == std::vector<int>{30000});
    for (const int64_t seconds : {3600, -3600, 1, -1}) {
        CAPTURE(seconds);
        const Run set = run([&](Host&, ScriptedCycles& clock) { clock.wall_leap = seconds * second; }, seconds);
        CHECK(set.sine == still.sine);
        CHECK(set.clicks == std::vector<int>{30000});
        CHECK(set.xruns == 0);
        CHECK(set.properties.at("scsynth.late") == "0");
    }
}

TEST_CASE("the wall clock is set forward: what has become due is performed with the next block, once") {
    const Run set =
        run([](Host&, ScriptedCycles& clock) { clock.wall_leap = 3600 * second; }, 3600, {26000, 40000, 48000});
    CHECK(set.clicks == std::vector<int>{100 * int(quantum), 30000});
    CHECK(set.properties.at("scsynth.late") == "0"); // they came in time
}

TEST_CASE("the wall clock is set back: what was scheduled waits for its time") {
    const Run set = run([](Host&, ScriptedCycles& clock) { clock.wall_leap = -3600 * second; }, -3600, {26000});
    CHECK(set.clicks == std::vector<int>{30000});
    CHECK(set.properties.at("scsynth.late") == "0");
}

TEST_CASE("all clocks leap by ten seconds: no block is left out or made up for") {
    const Run still = run(nothing);
    for (const int64_t seconds : {10, 3600}) {
        CAPTURE(seconds);
        const Run leapt = run([&](Host& host, ScriptedCycles&) { monotonic(host, seconds * second); }, seconds);
        CHECK(leapt.sine == still.sine);
        CHECK(leapt.clicks == std::vector<int>{30000});
        CHECK(leapt.xruns == 0);
        for (const char* key : {"scsynth.late", "scsynth.cuts", "scsynth.overruns"}) {
            CAPTURE(key);
            CHECK(leapt.properties.at(key) == "0");
        }
    }
}

TEST_CASE("the machine was suspended: the wall clock alone went on") {
    const Run still = run(nothing);
    const Run slept = run([](Host&, ScriptedCycles& clock) { clock.wall_leap = 10 * second; }, 10, {26000});
    CHECK(slept.sine == still.sine);
    CHECK(slept.clicks == std::vector<int>{100 * int(quantum), 30000});
    CHECK(slept.properties.at("scsynth.late") == "0");
    CHECK(slept.properties.at("scsynth.cuts") == "0");
}
