// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/endings.hpp"

#include "engine/synthdef/program.hpp"
#include "engine/synthdef/test-support.hpp"
#include "engine/units/done-action.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include <utility>

using namespace scs;
using namespace scs::test;

namespace {

/// What the definition's last unit may do.
UnitEnding ending(SynthDef def) {
    def.name = "ending";
    const PermissiveCatalog catalog;
    const auto program = compile(def, catalog, 64, 64);
    if (!program)
        FAIL(program.error());
    return ending_of(*program.value(), program.value()->units.back());
}

UnitEnding of_line(float action) {
    SynthDef def;
    def.constants = {0.f, action};
    def.units = {{"Line", Rate::control, 0, {{-1, 0}, {-1, 0}, {-1, 0}, {-1, 1}}, {Rate::control}}};
    return ending(std::move(def));
}

UnitEnding of_unit(const char* name) {
    SynthDef def;
    def.constants = {0.f};
    def.units = {{name, Rate::control, 0, {{-1, 0}}, {Rate::control}}};
    return ending(std::move(def));
}

} // namespace

TEST_CASE("what a constant done action does is known") {
    struct Case {
        float action;
        bool ends, frees, others;
    };
    for (const Case& one : {Case{0, false, false, false},
                            {0.9f, false, false, false},
                            {-0.5f, false, false, false},
                            {1, true, false, false},
                            {1.9f, true, false, false},
                            {2, true, true, false},
                            {2.9f, true, true, false},
                            {3, true, true, true},
                            {14, true, true, true},
                            {15.5f, true, true, true},
                            {float(std::size(done_actions)), true, false, true}, // there is none
                            {-1, false, false, true},
                            {1e9f, true, false, true}}) {
        CAPTURE(one.action);
        const UnitEnding found = of_line(one.action);
        CHECK(found.ends == one.ends);
        CHECK(found.frees == one.frees);
        CHECK(found.others == one.others);
    }
}

TEST_CASE("a done action that is computed, or a control, may be any") {
    SynthDef def;
    def.constants = {0.f};
    def.controls = {2.f};
    def.units = {{"Control", Rate::control, 0, {}, {Rate::control}},
                 {"Line", Rate::control, 0, {{-1, 0}, {-1, 0}, {-1, 0}, {0, 0}}, {Rate::control}}};
    const UnitEnding found = ending(std::move(def));
    CHECK((found.ends && found.frees && found.others));
}

TEST_CASE("units that end or pause their synth without a done action") {
    for (const char* name : {"FreeSelf", "FreeSelfWhenDone", "PauseSelf", "PauseSelfWhenDone"}) {
        CAPTURE(std::string(name));
        const UnitEnding found = of_unit(name);
        CHECK(found.ends);
        CHECK(found.frees == (name[0] == 'F'));
        CHECK_FALSE(found.others);
    }
    for (const char* name : {"Done", "NobodyKnows"}) {
        CAPTURE(std::string(name));
        const UnitEnding found = of_unit(name);
        CHECK_FALSE((found.ends || found.frees || found.others));
    }
}
