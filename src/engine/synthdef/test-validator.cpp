// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/validator.hpp"

#include "engine/synthdef/test-support.hpp"
#include "engine/units/unit-facts.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <limits>

using namespace scs;
using test::example;
using test::PermissiveCatalog;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::string verdict(const SynthDef& def, const UgenCatalog& catalog = PermissiveCatalog()) {
    auto wrong = validate(def, catalog);
    return wrong ? wrong->what : "";
}

std::string verdict_after(const std::function<void(SynthDef&)>& change) {
    SynthDef def = example();
    change(def);
    return verdict(def);
}

/// A definition of one unit with constant inputs of these values.
SynthDef single(std::string name, Rate rate, std::vector<float> inputs, size_t outputs) {
    SynthDef def;
    def.name = "single";
    UnitSpec unit{std::move(name), rate, 0, {}, std::vector<Rate>(outputs, rate)};
    for (float value : inputs) {
        unit.inputs.push_back({-1, uint32_t(def.constants.size())});
        def.constants.push_back(value);
    }
    def.units.push_back(std::move(unit));
    return def;
}

/// `count` inputs: those given by index, and 0 for the others.
std::vector<float> zeros(size_t count, std::initializer_list<std::pair<size_t, float>> others = {}) {
    std::vector<float> values(count, 0.0f);
    for (auto [index, value] : others)
        values[index] = value;
    return values;
}

class EmptyCatalog : public UgenCatalog {
    const UgenInfo* find(std::string_view) const override { return nullptr; }
};

} // namespace

TEST_CASE("a sound definition is accepted") {
    CHECK(verdict(example()) == "");
}

TEST_CASE("an unknown UGen is named") {
    CHECK(verdict(example(), EmptyCatalog()) == "UGen 'Control' not installed");
}

TEST_CASE("names") {
    CHECK(verdict_after([](SynthDef& d) { d.name = ""; }) == "the definition has no name");
    CHECK(verdict_after([](SynthDef& d) { d.name = std::string(256, 'x'); }) ==
          "the definition has a name longer than 255 bytes");
    CHECK(verdict_after([](SynthDef& d) { d.name = std::string(255, 'x'); }) == "");
    CHECK(verdict_after([](SynthDef& d) { d.name = std::string("a\0b", 3); }) ==
          "the definition has a zero byte in its name");
    CHECK(verdict_after([](SynthDef& d) { d.units[1].name = ""; }) == "UGen 1 has no name");
    CHECK(verdict_after([](SynthDef& d) { d.control_names[0].name = ""; }) == "a control has no name");
    CHECK(verdict_after([](SynthDef& d) { d.variants[0].name = ""; }) == "a variant has no name");
}

TEST_CASE("numbers may be infinite but must be numbers") {
    CHECK(verdict_after([](SynthDef& d) { d.constants[3] = inf; }) == "");
    CHECK(verdict_after([](SynthDef& d) { d.constants[3] = -inf; }) == "");
    CHECK(verdict_after([](SynthDef& d) { d.constants[3] = nan; }) == "constant 3 is not a number");
    CHECK(verdict_after([](SynthDef& d) { d.controls[1] = nan; }) == "control 1 is not a number");
    CHECK(verdict_after([](SynthDef& d) { d.variants[0].values[1] = nan; }) ==
          "variant 'example.low' value 1 is not a number");
}

TEST_CASE("controls and variants") {
    CHECK(verdict_after([](SynthDef& d) { d.control_names[1].index = 3; }) ==
          "control 'amp' has index 3, but there are 3 controls");
    CHECK(verdict_after([](SynthDef& d) { d.control_names[1] = d.control_names[0]; }) == "");
    CHECK(verdict_after([](SynthDef& d) { d.variants[0].values.pop_back(); }) ==
          "variant 'example.low' has 2 values for 3 controls");
    for (const char* name : {"Control", "TrigControl", "AudioControl", "LagControl"}) {
        CAPTURE(name);
        const auto changed = [&](int16_t special_index) {
            return verdict_after([&](SynthDef& d) {
                d.units[0].name = name;
                d.units[0].inputs.resize(3);
                d.units[0].inputs = {{-1, 0}, {-1, 0}, {-1, 0}};
                d.units[0].special_index = special_index;
            });
        };
        CHECK(changed(0) == "");
        CHECK(changed(1).ends_with(": reads controls 1 to 3, but there are 3"));
        CHECK(changed(-1).ends_with(": reads controls -1 to 1, but there are 3"));
    }
}

TEST_CASE("references") {
    CHECK(verdict_after([](SynthDef& d) { d.units[1].inputs[1].index = 4; }) ==
          "UGen 1 'SinOsc': input 1 reads constant 4, but there are 4");
    CHECK(verdict_after([](SynthDef& d) {
              d.units[1].inputs[1] = {1, 0};
          }) == "UGen 1 'SinOsc': input 1 reads unit 1, which does not come earlier");
    CHECK(verdict_after([](SynthDef& d) {
              d.units[1].inputs[1] = {99, 0};
          }) == "UGen 1 'SinOsc': input 1 reads unit 99, which does not come earlier");
    CHECK(verdict_after([](SynthDef& d) {
              d.units[1].inputs[1] = {0, 3};
          }) == "UGen 1 'SinOsc': input 1 reads output 3 of unit 0, which has 3");
}

TEST_CASE("rates") {
    CHECK(verdict_after([](SynthDef& d) { d.units[1].rate = static_cast<Rate>(4); }) ==
          "UGen 1 'SinOsc': has no valid rate");
    CHECK(verdict_after([](SynthDef& d) { d.units[1].outputs[0] = static_cast<Rate>(4); }) ==
          "UGen 1 'SinOsc': output 0 has no valid rate");
    CHECK(verdict_after([](SynthDef& d) { d.units[1].outputs[0] = Rate::control; }) ==
          "UGen 1 'SinOsc': output 0 is not at audio rate as the unit is");
    CHECK(verdict_after([](SynthDef& d) { d.units[2].outputs[0] = Rate::audio; }) == "");
    CHECK(verdict(single("SinOsc", Rate::demand, zeros(2), 1)) == "UGen 0 'SinOsc': cannot run at this rate");
    CHECK(verdict(single("Dseq", Rate::demand, zeros(2), 1)) == "");
    CHECK(verdict(single("Convolution", Rate::control, zeros(3), 1)) ==
          "UGen 0 'Convolution': cannot run at this rate");
}

TEST_CASE("an instance's memory is bounded") {
    CHECK(verdict(example(), PermissiveCatalog({}, 10u << 20)) == "");
    CHECK(verdict(example(), PermissiveCatalog({}, 20u << 20)) ==
          "UGen 3 'BinaryOpUGen': an instance would take more than 64 MiB");
    CHECK(verdict(example(), PermissiveCatalog({}, SIZE_MAX)).ends_with("more than 64 MiB"));
}

TEST_CASE("the least number of inputs and outputs") {
    CHECK(verdict(single("SinOsc", Rate::audio, {}, 1)) == "UGen 0 'SinOsc': needs at least 2 inputs, has 0");
    CHECK(verdict(single("Pan2", Rate::audio, zeros(3), 1)) == "UGen 0 'Pan2': needs at least 2 outputs, has 1");
    CHECK(verdict(single("TGrains", Rate::audio, zeros(8), 17)) == "UGen 0 'TGrains': has room for 16 outputs, has 17");
    CHECK(verdict(single("FM7", Rate::audio, zeros(53), 6)) == "UGen 0 'FM7': needs at least 54 inputs, has 53");
    CHECK(verdict(single("NoSuchThing", Rate::audio, {}, 0)) == "");
    REQUIRE(find_unit_facts("SinOsc") != nullptr);
    CHECK(find_unit_facts("SinOsc")->min_inputs == 2);
    CHECK(find_unit_facts("A") == nullptr);
    CHECK(find_unit_facts("zzz") == nullptr);
}

TEST_CASE("units that are told how many inputs or outputs they have") {
    const auto with = [](const char* name, std::vector<float> inputs, size_t outputs) {
        return verdict(single(name, Rate::control, std::move(inputs), outputs));
    };
    CHECK(with("EnvGen", zeros(17, {{6, 2.0f}}), 1) == "");
    CHECK(with("EnvGen", zeros(16, {{6, 2.0f}}), 1) == "UGen 0 'EnvGen': needs at least 17 inputs, has 16");
    CHECK(with("EnvGen", zeros(17, {{6, -3.0f}}), 1) == "UGen 0 'EnvGen': input 6 is no possible count: -3.000000");
    CHECK(with("EnvGen", zeros(17, {{6, inf}}), 1) == "UGen 0 'EnvGen': input 6 is no possible count: inf");
    CHECK(with("IEnvGen", zeros(9, {{3, 1.0f}}), 1) == "");
    CHECK(with("IEnvGen", zeros(9, {{3, 2.0f}}), 1) == "UGen 0 'IEnvGen': needs at least 13 inputs, has 9");
    CHECK(with("SendReply", zeros(5, {{2, 2.0f}}), 1) == "");
    CHECK(with("SendReply", zeros(5, {{2, 3.0f}}), 1) == "UGen 0 'SendReply': needs at least 6 inputs, has 5");
    CHECK(with("MFCC", zeros(2, {{1, 13.0f}}), 13) == "");
    CHECK(with("MFCC", zeros(2, {{1, 13.0f}}), 12) == "UGen 0 'MFCC': needs at least 13 outputs, has 12");
    CHECK(with("MFCC", zeros(2, {{1, 99.0f}}), 42) == "");
    CHECK(with("Demand", zeros(4), 2) == "");
    CHECK(with("Demand", zeros(4), 1) == "UGen 0 'Demand': needs at least 2 outputs, has 1");
    CHECK(with("LocalIn", {}, 2) == ""); // as written by old clients
    CHECK(with("SendPeakRMS", zeros(8, {{3, 2.0f}, {6, 1.0f}}), 0) == "");
    CHECK(with("SendPeakRMS", zeros(8, {{3, 2.0f}, {6, 2.0f}}), 0) ==
          "UGen 0 'SendPeakRMS': needs at least 9 inputs, has 8");
    CHECK(with("SendPeakRMS", zeros(8, {{3, 1025.0f}}), 0) == "UGen 0 'SendPeakRMS': has more than 1024 signals");
    CHECK(with("PackFFT", zeros(10, {{3, 1.0f}, {5, 4.0f}}), 1) == "");
    CHECK(with("PackFFT", zeros(10, {{3, 2.0f}, {5, 4.0f}}), 1) ==
          "UGen 0 'PackFFT': needs at least 12 inputs, has 10");
    CHECK(with("PackFFT", zeros(10, {{2, 5.0f}, {3, 6.0f}, {5, 4.0f}}), 1) ==
          "UGen 0 'PackFFT': bins 5 to 6 don't fit its 4 values");
    CHECK(with("Dtag", zeros(10, {{4, 1.0f}, {5, 1.0f}, {7, 2.0f}}), 1) == "");
    CHECK(with("Dtag", zeros(10, {{4, 1.0f}, {5, 1.0f}, {7, 3.0f}}), 1) ==
          "UGen 0 'Dtag': needs at least 11 inputs, has 10");
}

TEST_CASE("a count from a control") {
    SynthDef def = example();
    def.units[2].inputs[6] = {0, 0}; // EnvGen checks it each time
    CHECK(verdict(def) == "");
    def.units[2].name = "IEnvGen";
    def.units[2].inputs[3] = {0, 0};
    CHECK(verdict(def) == "UGen 2 'IEnvGen': input 3 is a count and must be a constant");
}

TEST_CASE("LagControl reads a control for each lag") {
    SynthDef def = example();
    def.units[0].name = "LagControl";
    def.units[0].inputs.assign(2, {-1, 0});
    CHECK(verdict(def) == "UGen 0 'LagControl': needs at least 3 inputs, has 2");
    def.units[0].inputs.assign(4, {-1, 0});
    CHECK(verdict(def) == "UGen 0 'LagControl': has more inputs than there are controls");
}
