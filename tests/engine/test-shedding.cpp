// SPDX-License-Identifier: GPL-3.0-or-later
// What an overload that stays ends and pauses, and what comes back.
#include "test-timed.hpp"

#include <doctest/doctest.h>
#include <string>

using namespace scs;
using namespace scs::test;

namespace {

/// `def` with a unit that may free the synth: a line of 2 seconds with done action 2.
SynthDef ending(SynthDef def) {
    def.name += "-ends";
    const auto two = uint32_t(def.constants.size());
    def.constants.push_back(2.f);
    def.units.push_back(unit("Line", Rate::control, {{-1, 0}, {-1, 0}, {-1, two}, {-1, two}}, {Rate::control}));
    return def;
}

} // namespace

TEST_CASE("an overload that stays: voices are ended, then others paused, the newest first, and these run again") {
    for (const bool native : {true, false}) {
        Settings settings;
        settings.native_ugens = native;
        Timed t(settings);
        Definition* ends = t.define(ending(sine_def()));
        REQUIRE(ends->ends_itself);
        REQUIRE_FALSE(t.sine->ends_itself);
        t.play(*t.sine, 1);
        t.play(*ends, 2);
        t.play(*t.sine, 3);
        t.play(*ends, 4);
        t.play(*t.sine, 5);
        (void)t.cycle(Deadline::never - t.now);
        CHECK(t.events('e') == "");
        t.each_look = 400'000;
        for (int i = 0; i < 100; ++i)
            (void)t.cycle();
        const std::string ended = t.events('e');
        CAPTURE(ended);
        CHECK(ended.starts_with("4 2 "));
        const std::string paused = t.events('f');
        CAPTURE(paused);
        CHECK(paused.starts_with("5 "));
        CHECK(t.engine->status().ended == 2);
        CHECK(t.engine->status().paused > 0);
        CHECK(t.printed.find("overload") != std::string::npos);
        // The client's own pause stays, ours ends.
        t.engine->tree().runs().set_run(*t.engine->tree().find(5), false);
        t.each_look = 0;
        for (int i = 0; i < 5 * 750; ++i)
            (void)t.cycle();
        CHECK(t.engine->status().paused == 0);
        CHECK(t.engine->tree().find(3)->run == Run::on);
        CHECK(t.engine->tree().find(5)->run == Run::off);
        CHECK(t.printed.find("there is time again") != std::string::npos);
    }
}

TEST_CASE(
    "cycles that take longer than they last are an overload, also where all is computed, and the skipped after them") {
    Timed t;
    for (int i = 0; i < 10; ++i)
        t.play(*t.sine, 1000 + i);
    t.each_look = cycle_nsec;
    for (int i = 0; i < 100 && !t.engine->status().paused; ++i) {
        (void)t.cycle(1000 * cycle_nsec);
        const auto cuts = t.engine->status().cuts.load();
        CHECK(cuts == uint64_t(i) * 4); // none but those
        for (int skipped = 0; skipped < 4; ++skipped)
            (void)t.cycle(1000 * cycle_nsec, false);
    }
    CHECK(t.engine->status().paused > 0);
    CHECK(t.printed.find("overload") != std::string::npos);
}

TEST_CASE("overload: mute is silent for a second, none ends nothing") {
    for (const char* policy : {"mute", "none"}) {
        Settings settings;
        settings.overload = policy;
        settings.batching = false; // each voice has the clock looked at, which takes long here
        Timed t(settings);
        for (int i = 0; i < 10; ++i)
            t.play(*t.sine, 1000 + i);
        t.each_look = 300'000;
        int rendered = 0;
        for (int i = 0; i < 200; ++i)
            rendered += !silent(t.cycle());
        CHECK(rendered <= 1);
        t.each_look = 0;
        for (int i = 0; i < 700; ++i)
            rendered += !silent(t.cycle());
        CHECK((rendered > 600) == (std::string(policy) == "none"));
        for (int i = 0; i < 200; ++i)
            rendered += !silent(t.cycle());
        CHECK(rendered > 100);
        CHECK(t.events('e') == "");
        CHECK(t.events('f') == "");
        CHECK(t.printed.find("overload") != std::string::npos);
    }
}
