// SPDX-License-Identifier: GPL-3.0-or-later
// Cycles that have no time for everything: what is left out, and what waits. The clock is the test's.
#include "test-timed.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>

using namespace scs;
using namespace scs::test;

TEST_CASE("a block that is cut is silent but for a fade, and the next one fades in") {
    for (const bool native : {true, false}) {
        Settings settings;
        settings.native_ugens = native;
        Timed t(settings);
        t.play(*t.sine, 1000);
        std::vector<float> sound;
        const auto add = [&](const std::vector<float>& part) { sound.insert(sound.end(), part.begin(), part.end()); };
        for (int i = 0; i < 20; ++i)
            add(t.cycle());
        CHECK(t.engine->status().cuts == 0);
        add(t.cycle(0));
        CHECK(t.engine->status().cuts == 1);
        CHECK(sound.back() == 0.f);
        const auto missing = t.cycle(0);
        CHECK(silent(missing));
        add(missing);
        for (int i = 0; i < 3; ++i)
            add(t.cycle());
        CHECK(t.engine->status().cuts == 2);
        // No step is larger than the sine's own, and a little for the fades.
        float step = 0;
        for (size_t i = 1; i < sound.size(); ++i)
            step = std::max(step, std::abs(sound[i] - sound[i - 1]));
        CHECK(step < 0.5f * 2 * float(M_PI) * 440 / 48000 + 0.5f / 64);
        CHECK(*std::max_element(sound.end() - 64, sound.end()) > 0.4f);
    }
}

TEST_CASE("the longest block is known without a further look at the clock") {
    Timed t;
    t.play(*t.sine, 1000);
    for (int i = 0; i < 5; ++i)
        (void)t.cycle();
    const auto longest = [&] { return t.engine->status().longest_block.load(); };
    CHECK(longest() == 0); // this clock stands still
    const int before = t.looks;
    (void)t.cycle();
    // When the cycle, its commands and its block begin, when it ends, and when its load is measured.
    CHECK(t.looks - before == 5);
    REQUIRE(t.engine->submit(t.slow("a", 300'000, ntp_advance(t.start, t.position + 10, 48000))));
    (void)t.cycle();
    CHECK(longest() == 300'000);
    // What a cycle does before its block isn't the block's.
    REQUIRE(t.engine->submit(t.slow("b", 400'000)));
    (void)t.cycle();
    CHECK(t.order == "ab");
    CHECK(longest() == 300'000);
    for (int second = 0; second < 61; ++second)
        for (int i = 0; i < 751; ++i)
            (void)t.cycle(Deadline::never - t.now);
    CHECK(longest() == 0);
}

TEST_CASE("what a synth costs is followed, however little there is to do") {
    for (const bool native : {true, false}) {
        Settings settings;
        settings.native_ugens = native;
        Timed t(settings);
        t.each_look = 1000; // what each turn seems to take that is measured
        t.play(*t.sine, 1000);
        for (int i = 0; i < 100; ++i)
            (void)t.cycle();
        CHECK(t.sine->facts->costs.synth >= 1000);
        t.each_look = 100;
        for (int i = 0; i < 2000; ++i)
            (void)t.cycle();
        CHECK(t.sine->facts->costs.synth < 110);
        const int before = t.looks;
        for (int i = 0; i < 800; ++i)
            (void)t.cycle();
        CHECK(t.looks - before <= 800 * 5 + 2 * 115); // twice in one of seven blocks
    }
}

TEST_CASE(
    "a turn in which the data loop was preempted hardly changes what a synth costs, a synth that gets dear does") {
    for (const bool native : {true, false}) {
        Settings settings;
        settings.native_ugens = native;
        Timed t(settings);
        t.play(*t.sine, 1000);
        t.each_look = 1000;
        for (int i = 0; i < 100; ++i)
            (void)t.cycle();
        const int64_t before = t.sine->facts->costs.synth;
        const auto cycle_of_dear_turns = [&] {
            t.each_look = 1'000'000;
            (void)t.cycle(1'000'000'000);
            t.each_look = 1000;
        };
        for (int i = 0; i < 100 && t.sine->facts->costs.last < 1'000'000;
             ++i) // not each cycle has one that is measured
            cycle_of_dear_turns();
        CHECK(t.sine->facts->costs.last >= 1'000'000);
        CHECK(t.sine->facts->costs.synth > before);
        CHECK(t.sine->facts->costs.synth < 2 * before);
        for (int i = 0; i < 100; ++i)
            (void)t.cycle();
        CHECK(t.sine->facts->costs.synth < before * 11 / 10);
        for (int i = 0; i < 100; ++i)
            cycle_of_dear_turns();
        CHECK(t.sine->facts->costs.synth > 900'000);
    }
}

TEST_CASE("commands that don't fit wait in their order, and no block is computed while a bundle is half done") {
    Timed t;
    t.play(*t.sine, 1000);
    for (int i = 0; i < 3; ++i)
        CHECK((i == 0 || !silent(t.cycle())));
    REQUIRE(t.engine->submit(t.slow("abcdef", 500'000)));
    REQUIRE(t.engine->submit(t.slow("g", 700'000)));
    REQUIRE(t.engine->submit(t.slow("h", 0)));
    (void)t.cycle(); // fades out
    CHECK(t.order == "abc");
    CHECK(silent(t.cycle()));
    CHECK(t.order == "abcdef");
    CHECK(t.freed == 1);
    REQUIRE(t.engine->submit(t.slow("i", 0)));
    // Bundles may take half of the cycle's time, and then there is a block. The one that was begun is finished.
    CHECK_FALSE(silent(t.cycle()));
    CHECK(t.order == "abcdefgh");
    CHECK_FALSE(silent(t.cycle()));
    CHECK(t.order == "abcdefghi");
    CHECK(t.freed == 4);
}

TEST_CASE("a scheduled bundle that doesn't fit cuts its block; those of lost blocks run late, in order") {
    Timed t;
    const auto at = [&](int64_t frame) { return ntp_advance(t.start, frame, 48000); };
    REQUIRE(t.engine->submit(t.slow("abc", 700'000, at(70))));
    REQUIRE(t.engine->submit(t.slow("d", 0, at(140))));
    REQUIRE(t.engine->submit(t.slow("e", 0, at(130))));
    (void)t.cycle();
    CHECK(t.order == "");
    (void)t.cycle();
    CHECK(t.order == "ab");
    (void)t.cycle(0);
    CHECK(t.order == "ab");
    (void)t.cycle(0);
    (void)t.cycle();
    CHECK(t.order == "abced");
}

TEST_CASE("a native synth whose start is interrupted sounds as if it wasn't") {
    // A chain of lags, each of which starts at its input's first value: a constant comes out, if none of them is lost.
    const auto lags = [](float value, float bus) {
        SynthDef def;
        def.name = "lags" + std::to_string(bus);
        def.constants = {value, 1.f, bus};
        def.units = {unit("DC", Rate::audio, {{-1, 0}}, {Rate::audio})};
        for (int32_t i = 0; i < 200; ++i)
            def.units.push_back(unit("Lag", Rate::audio, {{i, 0}, {-1, 1}}, {Rate::audio}));
        def.units.push_back(unit("Out", Rate::audio, {{-1, 2}, {200, 0}}, {}));
        return def;
    };
    Settings settings;
    settings.overload = "none";
    Timed t(settings);
    Definition* const quarter = t.define(lags(0.25f, 1));
    Definition* const half = t.define(lags(0.5f, 0));
    t.play(*quarter, 1000);
    (void)t.cycle(Deadline::never - t.now);
    const Synth& started = t.play(*half, 1001);
    t.each_look = 20'000;
    int cycles = 0;
    for (; started.run != Run::on && cycles < 100; ++cycles)
        (void)t.cycle(300'000);
    CHECK(cycles > 1);
    CHECK(cycles < 100);
    t.each_look = 0;
    (void)t.cycle(); // fades in
    CHECK(t.cycle() == std::vector<float>(64, 0.5f));
}

TEST_CASE("a command may do its work in pieces") {
    Timed t;
    int calls = 0;
    auto* bundle = new CommandBundle;
    bundle->append(new Call([&](Engine& engine) {
        ++calls;
        for (int i = 0; i < 4; ++i) {
            if (engine.out_of_time(100'000))
                return Outcome::again;
            t.now += 200'000;
        }
        return Outcome::done;
    }));
    bundle->append(new Call([&](Engine&) {
        calls += 100;
        return Outcome::done;
    }));
    REQUIRE(t.engine->submit(bundle));
    (void)t.cycle(500'000);
    CHECK(calls < 100);
    for (int i = 0; i < 5; ++i)
        (void)t.cycle(500'000);
    CHECK(calls < 100); // each call begins anew, as this command doesn't keep its place
    (void)t.cycle(5'000'000);
    CHECK(calls > 100);
    CHECK(t.freed == 1);
}

TEST_CASE("an engine ends cleanly in the middle of a bundle") {
    Timed t;
    REQUIRE(t.engine->submit(t.slow("abcdef", 500'000)));
    (void)t.cycle();
    CHECK(t.order.size() < 6);
}

TEST_CASE("where nothing may be rendered, commands are carried out") {
    Timed t;
    t.play(*t.sine, 1000);
    (void)t.cycle();
    (void)t.cycle(cycle_nsec / 10, false);
    REQUIRE(t.engine->submit(t.slow("a", 0)));
    CHECK(silent(t.cycle(cycle_nsec / 10, false)));
    CHECK(t.order == "a");
}

TEST_CASE("the clock is read seldom where synths are cheap, and between all where they are dear") {
    Timed t;
    for (int i = 0; i < 200; ++i)
        t.play(*t.sine, 1000 + i);
    t.each_look = 20; // so cheap that 200 of them are no work at all
    for (int i = 0; i < 8; ++i)
        (void)t.cycle();
    t.looks = 0;
    CHECK_FALSE(silent(t.cycle()));
    CHECK(t.looks < 12);
}

TEST_CASE("a synth within which the clock is read costs what all of it does") {
    for (const bool native : {true, false}) {
        Settings settings;
        settings.native_ugens = native;
        Timed t(settings);
        SynthDef def = sine_def();
        for (int i = 0; i < (native ? 3000 : 300); ++i)
            def.units.push_back(unit("SinOsc", Rate::control, {{0, 0}, {-1, 0}}, {Rate::control}));
        Definition* definition = t.define(def);
        CHECK(bool(definition->code) == native);
        t.play(*definition, 1);
        t.cycle(10 * cycle_nsec);
        t.each_look = 2000;
        definition->facts->costs.synth = 0;
        definition->facts->costs.turn = Deadline::unknown;
        t.looks = 0;
        t.cycle();
        CHECK(t.looks > 15);
        CHECK(definition->facts->costs.synth >=
              (t.looks - 6) * t.each_look); // all but those before and after the synth
        CHECK(definition->facts->costs.turn == Deadline::unknown);
    }
}
