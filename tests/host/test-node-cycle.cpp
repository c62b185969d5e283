// SPDX-License-Identifier: GPL-3.0-or-later
// What happens in and between cycles.
#include "fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <climits>
#include <cmath>
#include <cstring>
#include <ctime>
#include <string>

using namespace scs::test;

namespace {

constexpr spa_direction in = SPA_DIRECTION_INPUT, out = SPA_DIRECTION_OUTPUT;
constexpr int both = SPA_STATUS_HAVE_DATA | SPA_STATUS_NEED_DATA;

/// The largest difference from the fake engine's sine, from frame `first` of that sine on.
double error_of_sine(const std::vector<float>& sound, double hertz, size_t first = 0, double rate = 48000) {
    double worst = 0;
    for (size_t i = 0; i < sound.size(); ++i)
        worst = std::max(worst, std::abs(sound[i] - std::sin(2 * M_PI * hertz * double(first + i) / rate)));
    return worst;
}

uint64_t now_nsec(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

/// Where a frame is heard that the driver's clock has at `monotonic`, if nothing comes after us.
scs::NtpTime heard_at(uint64_t monotonic) {
    const uint64_t nsec = monotonic + now_nsec(CLOCK_REALTIME) - now_nsec(CLOCK_MONOTONIC);
    return scs::ntp_from_unix(int64_t(nsec / 1'000'000'000), uint32_t(nsec % 1'000'000'000));
}

const char* host_version = "";

} // namespace

/// As PipeWire's library, which the plugin finds in its host.
extern "C" __attribute__((visibility("default"))) const char* pw_get_library_version() {
    return host_version;
}

TEST_CASE("sound goes on across any quantum") {
    FakeHost host;
    auto node = host.create({});
    node->link(out, 0);
    node->link(out, 1, 8192, 3);
    node->start();
    size_t frames = 0;
    for (const uint32_t quantum : {16u, 64u, 100u, 441u, 1024u, 8192u, 16u, 8192u, 1u})
        for (int i = 0; i < 5; ++i) {
            CHECK(host.cycle(quantum) == both);
            frames += quantum;
        }
    CHECK(node->output(0).size() == frames);
    CHECK(node->output(1).size() == frames);
    CHECK(error_of_sine(node->output(0), 100) < 1e-6);
    CHECK(error_of_sine(node->output(1), 200) < 1e-6);
}

TEST_CASE("a quantum beyond the limit is cut, not overrun") {
    FakeHost host;
    auto node = host.create({{"clock.quantum-limit", "256"}});
    node->link(out, 0, 256);
    node->start();
    CHECK(host.cycle(1024) == both);
    CHECK(host.fake.frames == 256);
    CHECK(node->output(0).size() == 256);
}

TEST_CASE("the driver of the last cycle is known") {
    FakeHost host;
    auto node = host.create({});
    node->link(out, 0, 8192);
    node->start();
    std::strcpy(host.position().clock.name, "api.alsa.7");
    host.position().clock.id = 33;
    host.cycle(441);
    const scs::osc::Driver& driver = host.fake.driver;
    CHECK(driver.name.data() == std::string("api.alsa.7"));
    CHECK(driver.id == 33);
    CHECK(driver.quantum == 441);
    CHECK(driver.rate == 48000);
    std::memset(host.position().clock.name, 'x', sizeof host.position().clock.name);
    host.cycle(256);
    CHECK(driver.name.data() == std::string(driver.name.size() - 1, 'x'));
    CHECK(driver.quantum == 256);
    node->give_position(false); // a host without a clock
    host.cycle(256);
    CHECK(driver.name[0] == 0);
}

TEST_CASE("a buffer that is too short gets nothing") {
    FakeHost host;
    auto node = host.create({});
    node->link(out, 0, 64);
    node->start();
    CHECK(host.cycle(128) == both);
    CHECK(node->output(0) == std::vector<float>(128, -1000.f));
}

TEST_CASE("links come and go while it plays") {
    FakeHost host;
    auto node = host.create({});
    node->start();
    CHECK(host.cycles(3, 128) == both);
    node->link(out, 1);
    host.cycles(3, 128);
    CHECK(error_of_sine(node->output(1), 200, 3 * 128) < 1e-6);
    node->unlink(out, 1);
    host.cycles(3, 128);
    CHECK(node->output(1).size() == 3 * 128);
    node->output(1).clear();
    node->link(out, 1);
    host.cycles(3, 128);
    CHECK(error_of_sine(node->output(1), 200, 9 * 128) < 1e-6);
}

TEST_CASE("links change from one thread while cycles run on the other") {
    FakeHost host;
    auto node = host.create({});
    node->start();
    std::atomic<bool> stop{false};
    std::thread driver([&] {
        while (!stop)
            host.cycle(64);
    });
    for (int i = 0; i < 200; ++i) {
        CHECK(node->link(out, 0) == 0);
        CHECK(node->link(in, 1) == 0);
        node->unlink(out, 0);
        node->unlink(in, 1);
    }
    stop = true;
    driver.join();
}

TEST_CASE("inputs reach the engine, and are null when there is nothing") {
    FakeHost host;
    auto node = host.create({});
    node->link(out, 0);
    node->start();
    host.cycle(64);
    CHECK(host.fake.inputs_seen == 0);
    node->output(0).clear();
    node->link(in, 0, 8192, 3);
    node->feed = [](uint32_t, uint64_t position, float* samples, uint32_t frames) {
        for (uint32_t i = 0; i < frames; ++i)
            samples[i] = float(position + i);
    };
    host.cycles(4, 64);
    CHECK(host.fake.inputs_seen == 1);
    for (size_t i = 0; i < 256; ++i)
        REQUIRE(node->output(0)[i] ==
                doctest::Approx(double(64 + i) + std::sin(2 * M_PI * 100 * double(64 + i) / 48000)).epsilon(1e-5));
    node->feed_empty = true;
    host.cycle(64);
    CHECK(host.fake.inputs_seen == 0);
}

TEST_CASE("silence until the engine is there") {
    FakeHost host;
    host.fake.ready = false;
    auto node = host.create({});
    CHECK(node->properties["scsynth.state"] == "starting");
    node->link(out, 0);
    node->start();
    CHECK(host.cycles(4, 64) == both);
    CHECK(node->output(0) == std::vector<float>(256, 0.f));
}

TEST_CASE("suspended and started again") {
    FakeHost host;
    auto node = host.create({});
    node->link(out, 0);
    node->start();
    CHECK(host.fake.resets == 1);
    host.cycle(64);
    node->suspend();
    CHECK(host.cycle(64) == INT_MAX); // no node ran
    int error = 0;
    node->port_params(out, 0, SPA_PARAM_Format, &error);
    CHECK(error == -EIO);
    node->link(out, 0);
    node->start();
    CHECK(host.fake.resets == 2);
    CHECK(host.cycle(64) == both);
    CHECK(error_of_sine(node->output(0), 100) < 1e-6);
}

TEST_CASE("frame 0 is timed by the driver's clock, the wall clock and the latency after us") {
    FakeHost host;
    auto node = host.create({});
    node->link(out, 0);
    node->start();
    const uint64_t moment = now_nsec(CLOCK_MONOTONIC) + 5'000'000;
    host.position().clock.nsec = moment;
    host.cycle(480);
    CHECK(std::abs(scs::ntp_seconds_between(heard_at(moment), host.fake.frame0)) < 1e-3);

    spa_latency_info beyond{};
    beyond.direction = in;
    beyond.min_quantum = beyond.max_quantum = 1; // 10 ms
    beyond.min_rate = beyond.max_rate = 960;     // 20 ms
    beyond.max_ns = 30'000'000;
    node->set_latency(out, 0, beyond);
    const uint64_t next = host.position().clock.nsec;
    host.cycle(480);
    CHECK(std::abs(scs::ntp_seconds_between(heard_at(next), host.fake.frame0) - 0.060) < 1e-3);
}

TEST_CASE("what an async node plays is timed for the cycle in which it is heard, whether the host says so or not") {
    struct {
        std::string version, async;
        int uncounted;
    } const cases[] = {{"1.4.2", "true", 1},  {"1.4.2", "1", 1},    {"1.4.2", "false", 0}, {"0.3.65", "true", 0},
                       {"1.1.82", "true", 0}, {"1.2.0", "true", 1}, {"1.5.80", "true", 1}, {"1.5.81", "true", 0},
                       {"1.6.9", "true", 0},  {"2.0.0", "true", 0}, {"", "true", 0}};
    FakeHost host;
    for (const auto& each : cases) {
        CAPTURE(each.version);
        host_version = each.version.c_str();
        auto node = host.create({{"node.async", each.async}});
        host_version = "";
        REQUIRE(node);
        node->link(out, 0);
        node->start();
        const uint64_t moment = now_nsec(CLOCK_MONOTONIC) + 5'000'000;
        host.position().clock.nsec = moment;
        host.cycle(480);
        CHECK(std::abs(scs::ntp_seconds_between(heard_at(moment), host.fake.frame0) - 0.010 * each.uncounted) < 1e-3);
        CHECK(node->latency(in, 0, in).max_quantum == each.uncounted);
        CHECK(node->latency(out, 0, out).min_quantum == each.uncounted);
    }
}

TEST_CASE("the rate is the clock's") {
    FakeHost host;
    auto node = host.create({{"scsynth.rate", "44100"}});
    node->start();
    host.position().clock.rate = {1, 96000};
    host.cycle(64);
    CHECK(host.fake.rate == 96000);
    host.position().clock.rate = {0, 0};
    host.position().clock.nsec = 0;
    host.cycle(64);
    CHECK(host.fake.rate == 96000);
    host.position().clock.rate = {1, 44100};
}

TEST_CASE("the rate is the clock's outside of cycles, too") {
    FakeHost host;
    host.position().clock.rate = {1, 96000};
    auto node = host.create({{"scsynth.rate", "44100"}});
    const auto rate_after_wake = [&](int calls) { // each node begins with one
        CHECK(host.main().run_until([&] { return host.fake.idle_calls == calls - 1; }));
        host.fake.settings.wake();
        CHECK(host.main().run_until([&] { return host.fake.idle_calls == calls; }));
        return host.fake.idle_rate.load();
    };
    CHECK(rate_after_wake(2) == 96000);
    auto own = host.create({{"scsynth.sample-rate", "48000"}});
    CHECK(rate_after_wake(4) == 0); // it stays
}

TEST_CASE("a rate of the clock that no engine runs at is not taken") {
    FakeHost host;
    auto node = host.create({{"scsynth.rate", "44100"}});
    node->start();
    const auto rate_after = [&](uint32_t num, uint32_t denom) {
        host.position().clock.rate = {num, denom};
        host.cycle(64);
        return host.fake.rate.load();
    };
    CHECK(rate_after(1, 999) == 44100);
    CHECK(rate_after(1, 1000) == 1000);
    CHECK(rate_after(1, 768000) == 768000);
    CHECK(rate_after(2, 96000) == 48000);
    const std::pair<uint32_t, uint32_t> wild[] = {
        {1, 768001}, {1, UINT32_MAX}, {48000, 1}, {1, 1}, {UINT32_MAX, UINT32_MAX}, {1, 0}, {0, 48000}};
    for (const auto& each : wild) {
        const uint32_t num = each.first;
        const uint32_t denom = each.second;
        CAPTURE(num);
        CAPTURE(denom);
        CHECK(rate_after(num, denom) == 48000);
    }
}

TEST_CASE("an engine at a rate of its own runs in blocks, and takes in what comes in each cycle") {
    FakeHost host;
    auto node = host.create({{"scsynth.sample-rate", "24000"}, {"scsynth.block-size", "1024"}});
    node->start();
    const uint64_t moment = host.position().clock.nsec = 1'000'000'000'000;
    host.cycle(16);
    CHECK(host.fake.frames == 1024);
    const scs::NtpTime first = host.fake.frame0;
    int blocks = 1;
    for (int i = 1; i < 1000; ++i) {
        host.fake.frames = -1;
        host.cycle(16);
        // The time of the next block, even if it wasn't run in this cycle.
        CHECK(std::abs(scs::ntp_seconds_between(first, host.fake.frame0) - blocks * 1024 / 24000.) < 1e-3);
        CHECK((host.fake.frames == 0 || host.fake.frames == 1024));
        blocks += host.fake.frames == 1024;
    }
    CHECK(host.position().clock.nsec - moment < 334'000'000);
    CHECK(blocks == 8); // 8000 frames and those that the filter needs
}

TEST_CASE("without a position cycles are as long as the buffers") {
    FakeHost host;
    auto node = host.create({{"scsynth.rate", "44100"}});
    node->give_position(false);
    node->start();
    CHECK(host.cycle(64) == both);
    node->link(out, 0, 300);
    CHECK(host.cycle(64) == both);
    CHECK(host.fake.frames == 300);
    CHECK(host.fake.rate == 44100);
}

TEST_CASE("a cycle that ends too late is reported") {
    FakeHost host;
    auto node = host.create({});
    node->start();
    host.position().clock.flags = 0;
    host.position().clock.nsec = now_nsec(CLOCK_MONOTONIC) + 1'000'000'000;
    host.cycle(64);
    CHECK(node->xruns == 0);

    host.fake.in_process = [] {
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
        while (std::chrono::steady_clock::now() < end) {
        }
    };
    host.position().clock.nsec = now_nsec(CLOCK_MONOTONIC);
    host.cycle(480);
    CHECK(node->xruns == 1);
    host.main().expire_timers();
    CHECK(node->properties["scsynth.overruns"] == "1");

    // If a cycle begins after its deadline, another node is to blame. Freewheeling has no deadline.
    host.position().clock.nsec = now_nsec(CLOCK_MONOTONIC) - 1'000'000'000;
    host.cycle(480);
    host.position().clock.flags = SPA_IO_CLOCK_FLAG_FREEWHEEL;
    host.position().clock.nsec = now_nsec(CLOCK_MONOTONIC);
    host.cycle(480);
    host.position().clock.flags = 0;
    CHECK(node->xruns == 1);
}

TEST_CASE("two nodes in one host don't mix") {
    FakeHost host;
    auto first = host.create({});
    auto second = host.create({{"scsynth.osc.port", "57111"}, {"scsynth.outputs", "4"}});
    first->link(out, 0);
    second->link(out, 3);
    first->start();
    host.cycle(64);
    second->start();
    CHECK(host.cycles(8, 100) == both);
    CHECK(error_of_sine(first->output(0), 100) < 1e-6);
    CHECK(error_of_sine(second->output(3), 400) < 1e-6);
    first.reset();
    CHECK(host.cycles(8, 100) == both);
    CHECK(error_of_sine(second->output(3), 400) < 1e-6);
}

TEST_CASE("the wake-up runs the engine on the data loop, a bounded piece a turn") {
    FakeHost host;
    auto node = host.create({});
    CHECK(host.main().run_until([&] { return host.fake.idle_calls == 1; })); // each node begins with one
    host.fake.idle_work = 5;
    host.fake.settings.wake();
    CHECK(host.main().run_until([&] { return host.fake.idle_calls == 6; }));
    host.fake.settings.wake();
    CHECK(host.main().run_until([&] { return host.fake.idle_calls == 7; }));
    // A suspended node has no cycles, but commands must still be carried out.
    node->suspend();
    host.fake.settings.wake();
    CHECK(host.main().run_until([&] { return host.fake.idle_calls == 8; }));
}
