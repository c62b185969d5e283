// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/later-inputs.hpp"

#include <doctest/doctest.h>

using namespace scs;

namespace {

SynthDef delays(Rate rate, std::vector<InputRef> one, std::vector<InputRef> two) {
    SynthDef def;
    def.constants = {0.5f};
    def.units = {{"SinOsc", rate, 0, {{-1, 0}, {-1, 0}}, {rate}},
                 {"Delay1", rate, 0, std::move(one), {rate}},
                 {"Delay2", rate, 0, std::move(two), {rate}}};
    return def;
}

} // namespace

TEST_CASE("delays of a sample get what sclang 3.14 gives them") {
    SynthDef def = delays(Rate::audio, {{0, 0}}, {{1, 0}});
    add_later_inputs(def, Release::v3_14);
    CHECK(def.constants == std::vector<float>{0.5f, 0.f});
    CHECK(def.units[1].inputs == std::vector<InputRef>{{0, 0}, {-1, 1}});
    CHECK(def.units[2].inputs == std::vector<InputRef>{{1, 0}, {-1, 1}, {-1, 1}});

    def = delays(Rate::control, {{0, 0}}, {{1, 0}});
    add_later_inputs(def, Release::v3_14);
    CHECK(def.constants == std::vector<float>{0.5f});
    CHECK(def.units[1].inputs == std::vector<InputRef>{{0, 0}, {0, 0}});
    CHECK(def.units[2].inputs == std::vector<InputRef>{{1, 0}, {1, 0}, {1, 0}});
}

TEST_CASE("inputs that are there stay, and so does what is broken or older") {
    for (const SynthDef& original :
         {delays(Rate::audio, {{0, 0}, {-1, 0}}, {{1, 0}, {-1, 0}, {0, 0}}), delays(Rate::audio, {}, {})}) {
        SynthDef def = original;
        add_later_inputs(def, Release::v3_14);
        CHECK(def.units == original.units);
        CHECK(def.constants == original.constants);
    }
    SynthDef def = delays(Rate::audio, {{0, 0}}, {{1, 0}});
    add_later_inputs(def, Release::v3_13);
    CHECK(def.units == delays(Rate::audio, {{0, 0}}, {{1, 0}}).units);
}
