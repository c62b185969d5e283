// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/fine-phases.hpp"
#include "engine/synthdef/program.hpp"
#include "engine/synthdef/test-support.hpp"
#include "engine/units/unit-facts.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace scs;
using test::PermissiveCatalog;

namespace {

UnitSpec unit(std::string name, Rate rate, std::vector<InputRef> inputs) {
    return {std::move(name), rate, 0, std::move(inputs), {rate}};
}

/// "unit.input" of each mend; with "=" if it is made once, "!" if it is the absolute value.
std::string mended(std::vector<UnitSpec> units, bool mending = true) {
    SynthDef def;
    def.name = "mended";
    def.constants = {-0.5f, 1.f};
    def.units = std::move(units);
    const PermissiveCatalog catalog;
    auto program = compile(def, catalog, 64, 64, mending);
    REQUIRE(program);
    std::string all;
    for (const InputMend& mend : program.value()->mends)
        all += std::to_string(mend.unit) + '.' + std::to_string(mend.input) + (mend.each_block ? "" : "=") +
               (mend.kind == InputMend::Kind::absolute ? "! " : " ");
    return all;
}

} // namespace

TEST_CASE("which inputs are held") {
    CHECK(block_inputs("Fold") == 1);
    CHECK(block_inputs("XFade2") == 3);
    CHECK(block_inputs("Select") == ~uint64_t(1));
    CHECK(block_inputs("SinOsc") == 0);
    CHECK(block_inputs("Sin") == ~uint64_t(0)); // of a pack that isn't known
    CHECK(block_inputs(" Fold ") == ~uint64_t(0));

    const UnitSpec slow = unit("SinOsc", Rate::control, {{-1, 1}, {-1, 1}});
    const UnitSpec fast = unit("SinOsc", Rate::audio, {{-1, 1}, {-1, 1}});
    CHECK(mended({slow, unit("Fold", Rate::audio, {{0, 0}, {0, 0}, {-1, 1}})}) == "1.0 ");
    CHECK(mended({slow, unit("Fold", Rate::audio, {{0, 0}, {0, 0}, {-1, 1}})}, false) == "");
    CHECK(mended({unit("Fold", Rate::audio, {{-1, 0}, {-1, 0}, {-1, 1}})}) == "0.0= ");
    CHECK(mended({fast, unit("Fold", Rate::audio, {{0, 0}, {-1, 0}, {-1, 1}})}) == "");
    CHECK(mended({slow, unit("Fold", Rate::control, {{0, 0}, {-1, 0}, {-1, 1}})}) == "");
    CHECK(mended({fast, slow, unit("OfSomePack", Rate::audio, {{0, 0}, {1, 0}, {-1, 1}})}) == "2.1 2.2= ");
}

TEST_CASE("PanAz takes its width without the sign") {
    const UnitSpec fast = unit("SinOsc", Rate::audio, {{-1, 1}, {-1, 1}});
    const auto panned = [&](InputRef width) {
        return unit("PanAz", Rate::audio, {{0, 0}, {0, 0}, {-1, 1}, width, {-1, 1}});
    };
    CHECK(mended({fast, panned({-1, 1})}) == "");
    CHECK(mended({fast, panned({-1, 0})}) == "1.3=! ");
    CHECK(mended({fast, panned({0, 0})}) == "1.3! ");
}

TEST_CASE("a BufRd gets what its phase is off by") {
    const auto refined = [](std::vector<UnitSpec> units) {
        SynthDef def;
        def.constants = {1.f};
        def.units = std::move(units);
        const auto fine = refined_phases(def);
        CHECK((!fine || fine->constants == std::vector{1.f, 0.f}));
        return fine ? fine->units : std::vector<UnitSpec>();
    };
    const InputRef one{-1, 0}, none{-1, 1};
    const auto audio = [&](const char* name, std::vector<InputRef> inputs, int16_t special = 0) {
        UnitSpec made = unit(name, Rate::audio, std::move(inputs));
        made.special_index = special;
        return made;
    };
    const std::vector<Rate> both{Rate::audio, Rate::audio};
    const UnitSpec sweep = audio("Sweep", {one, one});
    const auto reader = [&](InputRef phase) { return audio("BufRd", {one, phase, one, one}); };
    const auto direct = refined({sweep, reader({0, 0}), reader({0, 0})});
    REQUIRE(direct.size() == 3);
    CHECK(direct[0].outputs == both);
    CHECK(direct[1].inputs.back() == InputRef{0, 1});
    CHECK(direct[2].inputs.back() == InputRef{0, 1});

    const UnitSpec sine = audio("SinOsc", {one, one});
    for (const int16_t special : {0, 1, 2, 4, 5}) { // + - * / %
        const auto made = refined({sweep, sine, audio("BinaryOpUGen", {{1, 0}, {0, 0}}, special),
                                   audio("MulAdd", {{2, 0}, one, {1, 0}}), audio("Sum4", {{3, 0}, one, {0, 0}, one}),
                                   audio("MulAdd", {{4, 0}, one, one}), reader({4, 0})});
        REQUIRE(made.size() == 7);
        CHECK(made[0].outputs == both);
        CHECK(made[1] == sine);
        CHECK(made[2].inputs == std::vector<InputRef>{{1, 0}, {0, 0}, none, {0, 1}});
        CHECK(made[3].inputs == std::vector<InputRef>{{2, 0}, one, {1, 0}, {2, 1}, none, none});
        CHECK(made[4].inputs == std::vector<InputRef>{{3, 0}, one, {0, 0}, one, {3, 1}, none, {0, 1}, none});
        CHECK(made[4].outputs == both);
        CHECK(made[5].inputs.size() == 3); // no BufRd needs it
        CHECK(made[6].inputs.back() == InputRef{4, 1});
    }

    for (const std::vector<UnitSpec>& others : {std::vector{unit("Sweep", Rate::control, {one, one}), reader({0, 0})},
                                                {sweep},
                                                {sweep, audio("BinaryOpUGen", {{0, 0}, one})},
                                                {sweep, audio("BinaryOpUGen", {{0, 0}, one}, 3), reader({1, 0})},
                                                {sweep, audio("Fold", {{0, 0}, one, one}), reader({1, 0})},
                                                {audio("LFSaw", {one}), reader({0, 0})},
                                                {sweep, audio("MulAdd", {one, {0, 0}, one}), reader({1, 0})},
                                                {sweep, audio("MulAdd", {{0, 0}, one}), reader({1, 0})},
                                                {sweep, audio("Sum3", {{2, 0}, one, one}), reader({1, 0})},
                                                {sweep, reader({0, 3})},
                                                {sine, reader({0, 0})},
                                                {sweep, reader({7, 0})},
                                                {sweep, reader(one)},
                                                {sweep, audio("BufRd", {one})},
                                                {sweep, unit("BufRd", Rate::control, {one, {0, 0}, one, one})}})
        CHECK(refined(others).empty());
}

TEST_CASE("values of a Demand are late") {
    SynthDef def;
    def.name = "late";
    def.constants = {1.f};
    def.units = {unit("Demand", Rate::control, {{-1, 0}, {-1, 0}}),
                 unit("BinaryOpUGen", Rate::control, {{0, 0}, {-1, 0}}), unit("Lag", Rate::control, {{1, 0}, {-1, 0}})};
    def.units[0].inputs.push_back({-1, 0});
    const PermissiveCatalog catalog;
    auto program = compile(def, catalog, 64, 64);
    REQUIRE(program);
    const auto late = [&](uint32_t u) {
        return program.value()->wires[program.value()->units[u].first_output_wire].late;
    };
    CHECK(late(0));
    CHECK(late(1));
    CHECK(!late(2));
}
