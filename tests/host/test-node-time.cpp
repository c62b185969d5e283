// SPDX-License-Identifier: GPL-3.0-or-later
// The real node to the sample: quanta, bundles, latency, and the thread's floating-point mode. Its clocks are the
// test's, so nothing here depends on how long anything takes.
#include "engine/rt/float-mode.hpp"
#include "playing.hpp"
#include "scripted-cycles.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

using namespace scs;
using namespace scs::test;

namespace {

std::vector<int> nonzero(const std::vector<float>& sound) {
    std::vector<int> places;
    for (size_t i = 0; i < sound.size(); ++i)
        if (sound[i] != 0)
            places.push_back(int(i));
    return places;
}

/// Records clicks of bundles that are due at these frames and sent before the first cycle. The cycles have these
/// lengths in turn.
std::vector<int> clicks(const std::vector<double>& due, const std::vector<uint32_t>& quanta, size_t frames) {
    Host host(library());
    Playing p(host);
    p.define("click", click);
    p.node->link(out, 0);
    const ScriptedCycles clock(host);
    p.node->start();
    host.cycle(quanta[0]); // the engine's time is known from here on
    int id = 2000;
    for (const double frame : due)
        p.client->send(osc_bundle(tag(frame), {osc_message("/s_new", {"click", id++, 0, 0})}));
    REQUIRE(p.client->sync());
    for (size_t i = 1; p.node->output(0).size() < frames; ++i)
        host.cycle(quanta[i % quanta.size()]);
    return nonzero(p.node->output(0));
}

/// A synth with more state than an oscillator: an echo of a sine that is modulated by another one.
const std::vector<DefUnit> wobble = {
    {"SinOsc", {{-1, 3.3f}, {-1, 0}}},
    {"SinOsc", {{-1, 220}, {0, 0}}},
    {"CombN", {{1, 0}, {-1, 0.1f}, {-1, 0.0371f}, {-1, 1}}},
    {"Out", {{-1, 0}, {2, 0}}, false},
};

std::vector<float> wobbling(const std::vector<uint32_t>& quanta, size_t frames) {
    Host host(library());
    Playing p(host);
    p.define("wobble", wobble);
    p.node->link(out, 0);
    p.play("wobble", 1000);
    p.node->start();
    for (size_t i = 0; p.node->output(0).size() < frames; ++i)
        host.cycle(quanta[i % quanta.size()]);
    p.node->output(0).resize(frames);
    return p.node->output(0);
}

} // namespace

TEST_CASE("the same bits at any quantum, and across changes") {
    const size_t frames = 48000;
    const std::vector<float> reference = wobbling({64}, frames);
    REQUIRE(*std::max_element(reference.begin(), reference.end()) > 0.5f);
    for (const uint32_t quantum : {1u, 16u, 100u, 441u, 1024u, 8192u}) {
        CAPTURE(quantum);
        CHECK(wobbling({quantum}, quantum == 1 ? 4800 : frames) ==
              std::vector<float>(reference.begin(), reference.begin() + (quantum == 1 ? 4800 : frames)));
    }
    CHECK(wobbling({16, 64, 100, 441, 1024, 8192}, frames) == reference);
    CHECK(wobbling({8192, 1, 63, 65, 16, 1024, 441}, frames) == reference);
}

TEST_CASE("a bundle begins exactly on its sample") {
    const std::vector<double> due = {9000, 9001, 9063, 9064, 10000, 13007, 16383, 16384, 19999};
    const std::vector<int> expected(due.begin(), due.end());
    for (const auto& quanta : std::vector<std::vector<uint32_t>>{
             {64}, {16}, {100}, {441}, {1024}, {8192}, {1000}, {100, 256, 64, 1024, 8192, 441, 16, 1}}) {
        CAPTURE(quanta[0]);
        CHECK(clicks(due, quanta, 20000) == expected);
    }
}

TEST_CASE("between two samples, a bundle begins at the nearer one") {
    CHECK(clicks({9000.4, 9100.6, 9200.49, 9300.51}, {100}, 10000) == std::vector<int>{9000, 9101, 9200, 9301});
}

TEST_CASE("a driver that knows only when it was woken moves no bundle by the jitter of that") {
    constexpr uint32_t quantum = 256;
    constexpr uint64_t cycles = 8000;
    const std::vector<double> due = {1'800'000, 1'900'055, 2'000'128, 2'040'200};
    for (const bool predicts : {false, true}) {
        CAPTURE(predicts);
        Host host(library());
        Playing p(host);
        p.define("click", click);
        p.node->link(out, 0);
        const ScriptedCycles clock(host);
        p.node->start();
        std::mt19937 random(1);
        std::uniform_int_distribution<uint64_t> late(0, 200'000); // ns
        const auto cycle = [&](uint64_t number) {
            spa_io_clock& driver = host.position().clock;
            driver.flags = 0;
            driver.nsec = first_nsec + number * quantum * 1'000'000'000 / 48000 + late(random);
            driver.next_nsec = driver.nsec + (predicts ? 1 : 0);
            host.cycle(quantum);
        };
        cycle(0);
        int id = 2000;
        for (const double frame : due)
            p.client->send(osc_bundle(tag(frame), {osc_message("/s_new", {"click", id++, 0, 0})}));
        REQUIRE(p.client->sync());
        for (uint64_t number = 1; number < cycles; ++number)
            cycle(number);
        const std::vector<int> found = nonzero(p.node->output(0));
        REQUIRE(found.size() == due.size());
        int spread = 0;
        for (size_t i = 0; i < due.size(); ++i)
            spread = std::max(spread, std::abs(found[i] - found[0] - int(due[i] - due[0])));
        if (predicts)
            CHECK(spread > 1); // what such a driver says is taken
        else
            CHECK(spread <= 1);
    }
}

TEST_CASE("a bundle that is late begins with the next block") {
    Host host(library());
    Playing p(host);
    p.define("click", click);
    p.node->link(out, 0);
    const ScriptedCycles clock(host);
    p.node->start();
    host.cycles(4, 64);
    p.client->send(osc_bundle(tag(100), {osc_message("/s_new", {"click", 2000, 0, 0})}));
    REQUIRE(p.client->sync());
    host.cycles(4, 64);
    CHECK(nonzero(p.node->output(0)) == std::vector<int>{256});
    host.main().expire_timers();
    CHECK(p.node->properties["scsynth.late"] == "1");
}

TEST_CASE("inputs are delayed by what is reported, at any quantum") {
    const std::pair<uint32_t, int> cases[] = {{64, 0},   {128, 0},  {1024, 0}, {8192, 0}, {16, 48},
                                              {100, 60}, {441, 63}, {1, 63},   {96, 32}};
    for (const auto& each : cases) {
        const uint32_t quantum = each.first;
        const int delay = each.second;
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
        host.cycles(quantum < 64 ? 300 : 20, quantum);
        host.main().expire_timers();
        const std::vector<float>& sound = p.node->output(0);
        int wrong = 0;
        for (size_t i = 0; i < sound.size(); ++i)
            wrong += sound[i] != (i < size_t(delay) ? 0.f : float(i + 1 - size_t(delay)));
        CHECK(wrong == 0);
        CHECK(p.node->latency(out, 0, out).max_rate == uint32_t(delay));
        CHECK(p.node->latency(out, 0, out).min_rate == uint32_t(delay));
    }
}

#if defined(__SSE2__) || defined(__aarch64__)
TEST_CASE("denormals are flushed in process() and nowhere else") {
    Host host(library());
    Playing p(host);
    p.define("sum", {{"In", {{-1, 2}}}, {"BinaryOpUGen", {{0, 0}, {0, 0}}}, {"Out", {{-1, 0}, {1, 0}}, false}});
    p.play("sum", 1000);
    p.node->link(in, 0);
    p.node->link(out, 0);
    float given = 0;
    p.node->feed = [&](uint32_t, uint64_t, float* samples, uint32_t frames) { std::fill_n(samples, frames, given); };
    FloatMode before = 0, after = 0;
    host.before_process = [&] { before = float_mode(); };
    host.after_process = [&] { after = float_mode(); };
    p.node->start();
    given = 1e-30f;
    host.cycle(64);
    given = 1e-40f;
    host.cycle(64);
    CHECK(p.node->output(0)[0] == 2e-30f);
    CHECK(p.node->output(0)[64] == 0.f);
    CHECK((before & flushes_to_zero) == 0);
    // The flags of exceptions that occurred remain; their handling is as before.
    CHECK((after & ~0x3fu) == (before & ~0x3fu));
    // If the host flushes denormals itself, it still does so afterwards.
    host.data().run([] { set_float_mode(float_mode() | flushes_to_zero); });
    host.cycle(64);
    CHECK((before & flushes_to_zero) == flushes_to_zero);
    CHECK((after & flushes_to_zero) == flushes_to_zero);
    host.before_process = host.after_process = nullptr;
}
#endif
