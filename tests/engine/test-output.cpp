// SPDX-License-Identifier: GPL-3.0-or-later
// What may leave the outputs.
#include "test-timed.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

using namespace scs;
using namespace scs::test;

TEST_CASE("NaN and infinity don't leave the outputs, and the group is named once") {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
        Fixture f;
        SynthDef def = sine_def();
        def.constants = {0.f, 1.f};
        Group* group;
        REQUIRE(f.engine->tree().new_group(7, AddAction::tail, 0, group).ok());
        Definition* sine = f.define(def);
        Synth *good, *spoilt;
        REQUIRE(f.engine->tree().new_synth(*sine, nullptr, 1, AddAction::head, 0, good).ok());
        (void)f.render(640);
        REQUIRE(f.engine->tree().new_synth(*sine, nullptr, 2, AddAction::tail, 7, spoilt).ok());
        f.engine->tree().controls().set(*spoilt, 1, bad);
        const auto sound = f.render(6400);
        CHECK(std::all_of(sound.begin(), sound.end(), [](float x) { return std::isfinite(x); }));
        CHECK(silent({sound.begin() + 64, sound.end()}));
        CHECK(f.engine->status().bad_blocks == 100);
        const auto first = f.printed.find("group 7 puts NaN or infinity");
        CHECK(first != std::string::npos);
        CHECK(f.printed.find("NaN", first + 20) == std::string::npos);
        f.engine->tree().free(*spoilt);
        const auto after = f.render(640);
        CHECK(*std::max_element(after.begin(), after.end()) > 0.4f);
    }
}

TEST_CASE("the output limit") {
    Settings settings;
    settings.output_limit = 0.25;
    Fixture f(settings);
    Synth* synth;
    REQUIRE(f.engine->tree().new_synth(*f.define(sine_def()), nullptr, 1, AddAction::head, 0, synth).ok());
    const auto sound = f.render(1024);
    CHECK(*std::max_element(sound.begin(), sound.end()) == 0.25f);
    CHECK(*std::min_element(sound.begin(), sound.end()) == -0.25f);
}
