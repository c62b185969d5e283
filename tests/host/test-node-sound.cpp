// SPDX-License-Identifier: GPL-3.0-or-later
// The node with its own server and engine: sound, timing, answers, and the rules of the data loop.
#include "host.hpp"
#include "osc-client.hpp"
#include "rt-guard.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <optional>

using namespace scs::test;

namespace {

constexpr spa_direction in = SPA_DIRECTION_INPUT, out = SPA_DIRECTION_OUTPUT;
constexpr int both = SPA_STATUS_HAVE_DATA | SPA_STATUS_NEED_DATA;

const char* library() {
    return std::getenv("SCS_PLUGIN");
}

/// A node with a client, ready to play.
struct Playing {
    std::unique_ptr<HostNode> node;
    std::unique_ptr<OscClient> client;

    explicit Playing(Host& host, Host::Dict info = {}) {
        info.insert(info.end(), {{"scsynth.osc.port", "0"}, {"scsynth.load-synthdefs", "false"}});
        node = host.create(info);
        REQUIRE(node);
        REQUIRE_MESSAGE(host.main().run_until([&] { return node->properties["scsynth.state"] != "starting"; }, 60000),
                        host.log().all());
        REQUIRE(node->properties["scsynth.state"] == "running");
        client = std::make_unique<OscClient>(std::stoi(node->properties["scsynth.osc.port"]));
    }

    /// No cycles run meanwhile: the wake-up has it done.
    void define(const std::string& name, const std::vector<DefUnit>& units) {
        client->send(osc_message("/d_recv", {synthdef_file(name, units)}));
        REQUIRE(client->sync());
    }
    void play(const std::string& name, int id) {
        client->send(osc_message("/s_new", {name, id, 0, 0}));
        REQUIRE(client->sync());
    }
};

/// SinOsc at `hertz` on bus 0.
std::vector<DefUnit> sine(float hertz) {
    return {{"SinOsc", {{-1, hertz}, {-1, 0}}}, {"Out", {{-1, 0}, {0, 0}}, false}};
}

/// One sample of 1 on bus 0, at the sample that the synth starts at.
const std::vector<DefUnit> click = {{"Impulse", {{-1, 0}, {-1, 0}}}, {"OffsetOut", {{-1, 0}, {0, 0}}, false}};

/// Bus 2, the first input, on bus 0.
const std::vector<DefUnit> through = {{"In", {{-1, 2}}}, {"Out", {{-1, 0}, {0, 0}}, false}};

uint64_t now_nsec(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

std::vector<float> sine_at_quanta(const std::vector<uint32_t>& quanta, size_t frames) {
    Host host(library());
    Playing p(host);
    p.define("sine", sine(1000));
    p.node->link(out, 0);
    p.play("sine", 1000);
    p.node->start();
    for (size_t i = 0; p.node->output(0).size() < frames; ++i)
        CHECK(host.cycle(quanta[i % quanta.size()]) == both);
    p.node->output(0).resize(frames);
    return p.node->output(0);
}

} // namespace

TEST_CASE("a node starts and stops in time") {
    Host host(library());
    using Clock = std::chrono::steady_clock;
    auto begin = Clock::now();
    auto node = host.create({{"scsynth.osc.port", "0"}});
    CHECK(Clock::now() - begin < std::chrono::milliseconds(20));
    REQUIRE(node);
    begin = Clock::now();
    node.reset(); // its engine may still be loading
    CHECK(Clock::now() - begin < std::chrono::milliseconds(250));
}

TEST_CASE("OSC is answered when no cycle runs") {
    Host host(library());
    Playing p(host);
    p.client->send(osc_message("/status"));
    CHECK(p.client->receive() == "/status.reply");
    CHECK(p.client->sync());
    host.main().expire_timers();
    CHECK(p.node->properties["scsynth.packets.received"] == "2");
    CHECK(p.node->properties["scsynth.packets.decoded"] == "2");
}

TEST_CASE("a taken port is an error that names it") {
    Host host(library());
    Playing p(host);
    const std::string port = p.node->properties["scsynth.osc.port"];
    CHECK_FALSE(host.create({{"scsynth.osc.port", port}}));
    CHECK(host.error() == -EADDRINUSE);
    CHECK(host.log().has(port));
}

TEST_CASE("a sine is the same at any quantum") {
    const size_t frames = 48000;
    const std::vector<float> reference = sine_at_quanta({64}, frames);
    // SinOsc begins at phase 0 and reads a table.
    double worst = 0;
    for (size_t i = 0; i < frames; ++i)
        worst = std::max(worst, std::abs(reference[i] - std::sin(2 * M_PI * 1000 * double(i) / 48000)));
    CHECK(worst < 1e-3);
    CHECK(sine_at_quanta({16}, frames) == reference);
    CHECK(sine_at_quanta({441}, frames) == reference);
    CHECK(sine_at_quanta({16, 64, 100, 441, 1024, 8192}, frames) == reference);
}

TEST_CASE("a bundle begins on its sample") {
    Host host(library());
    Playing p(host);
    p.define("click", click);
    p.node->link(out, 0);
    p.node->start();
    const uint64_t begin = now_nsec(CLOCK_MONOTONIC);
    host.position().clock.nsec = begin;
    const uint64_t wall = begin + now_nsec(CLOCK_REALTIME) - now_nsec(CLOCK_MONOTONIC);
    const scs::NtpTime frame0 = scs::ntp_from_unix(int64_t(wall / 1'000'000'000), uint32_t(wall % 1'000'000'000));
    const int due[] = {9000, 9063, 10000, 13007};
    for (int i = 0; i < 4; ++i)
        p.client->send(osc_bundle(scs::ntp_advance(frame0, due[i], 48000), {osc_message("/s_new", {"click", 2000 + i, 0, 0})}));
    REQUIRE(p.client->sync());
    for (const uint32_t quantum : {100u, 256u, 64u, 1024u, 8192u, 8192u})
        host.cycle(quantum);
    std::vector<int> clicks;
    const std::vector<float>& sound = p.node->output(0);
    for (size_t i = 0; i < sound.size(); ++i)
        if (sound[i] != 0)
            clicks.push_back(int(i));
    REQUIRE(clicks.size() == 4);
    // Two clocks are read one after the other, so the whole may be off by a sample, but not by more.
    for (int i = 0; i < 4; ++i)
        CHECK(std::abs(clicks[size_t(i)] - due[i]) <= 1);
}

TEST_CASE("inputs are delayed by what is reported") {
    const std::pair<uint32_t, int> cases[] = {{64, 0}, {128, 0}, {16, 48}, {100, 60}, {441, 63}};
    for (const auto& [quantum, delay] : cases) {
        CAPTURE(quantum);
        Host host(library());
        Playing p(host);
        p.define("through", through);
        p.play("through", 1000);
        p.node->link(in, 0);
        p.node->link(out, 0);
        p.node->feed = [](uint32_t, uint64_t position, float* samples, uint32_t frames) {
            for (uint32_t i = 0; i < frames; ++i)
                samples[i] = float(position + i + 1);
        };
        p.node->start();
        host.cycles(40, quantum);
        host.main().expire_timers();
        const std::vector<float>& sound = p.node->output(0);
        int wrong = 0;
        for (size_t i = 0; i < sound.size(); ++i)
            wrong += sound[i] != (i < size_t(delay) ? 0.f : float(i + 1 - size_t(delay)));
        CHECK(wrong == 0);
        CHECK(p.node->latency(out, 0, out).max_rate == uint32_t(delay));
    }
}

TEST_CASE("two engines in one host don't mix") {
    Host host(library());
    Playing first(host), second(host);
    first.define("sine", sine(1000));
    second.define("sine", sine(500));
    first.node->link(out, 0);
    second.node->link(out, 0);
    first.play("sine", 1000);
    second.play("sine", 1000);
    first.node->start();
    second.node->start();
    host.cycles(100, 256);
    double worst = 0;
    for (size_t i = 0; i < 25600; ++i) {
        worst = std::max(worst, std::abs(first.node->output(0)[i] - std::sin(2 * M_PI * 1000 * double(i) / 48000)));
        worst = std::max(worst, std::abs(second.node->output(0)[i] - std::sin(2 * M_PI * 500 * double(i) / 48000)));
    }
    CHECK(worst < 1e-3);
}

TEST_CASE("no rule of the data loop is broken while it plays") {
    std::string reason;
    if (!rt_guard_works(reason)) {
        MESSAGE(reason);
        return;
    }
    // Stock unit generators that break a rule by their nature go here, each with its reason.
    const std::vector<Allowed> allowed;

    Host host(library());
    Playing p(host);
    p.define("sine", sine(1000));
    p.define("click", click);
    p.node->link(out, 0);
    p.node->link(in, 0);
    host.data().run(guard_thread);
    std::optional<RtScope> scope;
    host.before_process = [&] { scope.emplace(); };
    host.after_process = [&] { scope.reset(); };
    p.node->start();
    p.client->send(osc_message("/notify", {1}));
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 10; ++i) {
            p.client->send(osc_message("/s_new", {i % 2 ? "sine" : "click", 1000 + i, 0, 0}));
            host.cycle(100);
        }
        for (int i = 0; i < 10; ++i)
            p.client->send(osc_message("/n_free", {1000 + i}));
        p.client->send(osc_message("/n_free", {1}));      // an error
        p.client->send(osc_message("/s_new", {"nothing", 1, 0, 0}));
        p.client->send(osc_message("/sync", {round}));
        for (std::string address; address != "/synced"; address = p.client->receive(1))
            host.cycle(64);
    }
    host.before_process = host.after_process = nullptr;
    for (const Breach& breach : take_breaches(allowed))
        FAIL_CHECK(breach.what << " at " << breach.where);
}
