// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/program.hpp"

#include "engine/synthdef/test-support.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace scs;
using test::example;
using test::PermissiveCatalog;

namespace {

constexpr int block_size = 64;

std::unique_ptr<Program> compiled(const SynthDef& def, const UgenCatalog& catalog, int max_wire_buffers = 64) {
    auto program = compile(def, catalog, block_size, max_wire_buffers);
    REQUIRE_MESSAGE(program, (program ? "" : program.error()));
    return std::move(program.value());
}

UnitSpec audio(std::string name, std::vector<InputRef> inputs, size_t outputs = 1) {
    return {std::move(name), Rate::audio, 0, std::move(inputs), std::vector<Rate>(outputs, Rate::audio)};
}

/// The wire buffer of each output of these units, in order. Names starting with "NoAlias" can't
/// alias.
std::vector<int> buffers(std::vector<UnitSpec> units, uint32_t expected_count) {
    SynthDef def;
    def.name = "graph";
    def.units = std::move(units);
    const PermissiveCatalog catalog({"NoAlias"});
    auto program = compiled(def, catalog);
    CHECK(program->num_wire_buffers == expected_count);
    std::vector<int> result;
    for (const WireSpec& wire : program->wires)
        result.push_back(wire.buffer);
    return result;
}

using Buffers = std::vector<int>;

/// The first index of the control of this name, or -1.
int index_of(const Program& program, std::string_view name) {
    const ControlSlot* slot = program.find_control(name);
    return slot ? int(slot->index) : -1;
}

} // namespace

TEST_CASE("the layout") {
    const PermissiveCatalog catalog;
    auto program = compiled(example(), catalog);
    CHECK(program->name == "example");
    CHECK(program->block_size == block_size);
    CHECK(program->controls == example().controls);
    CHECK(program->num_constants == 4);
    CHECK(program->num_calc_units == 6);

    REQUIRE(program->wires.size() == 4 + 3 + 1 + 1 + 1 + 1);
    CHECK(program->wires[3].value == 0.5f);
    CHECK(program->wires[3].from_unit == -1);
    CHECK(program->wires[3].rate == Rate::scalar);
    CHECK(program->wires[6].from_unit == 0);
    CHECK(program->wires[6].rate == Rate::control);
    CHECK(program->wires[6].buffer == -1);
    CHECK(program->wires[7].from_unit == 1);
    CHECK(program->wires[7].rate == Rate::audio);
    CHECK(program->wires[7].buffer == 0);

    REQUIRE(program->units.size() == 6);
    const UnitPlan& product = program->units[3];
    CHECK(product.ugen == catalog.find("BinaryOpUGen"));
    CHECK(product.rate == Rate::audio);
    CHECK(product.special_index == 2);
    CHECK(product.num_inputs == 2);
    CHECK(program->inputs[product.first_input] == 7);
    CHECK(program->inputs[product.first_input + 1] == 6);
    CHECK(product.first_output_wire == 9);
    CHECK(product.num_outputs == 1);
    CHECK(program->inputs[program->units[1].first_input + 1] == 0); // a constant
}

TEST_CASE("scalar and demand units aren't called each block") {
    SynthDef def;
    def.name = "d";
    def.constants = {0.0f};
    def.units = {{"SampleRate", Rate::scalar, 0, {}, {Rate::scalar}},
                 {"Dwhite", Rate::demand, 0, {{-1, 0}, {-1, 0}, {-1, 0}}, {Rate::demand}},
                 {"Demand", Rate::control, 0, {{0, 0}, {-1, 0}, {1, 0}}, {Rate::control}}};
    CHECK(compiled(def, PermissiveCatalog())->num_calc_units == 1);
}

TEST_CASE("an output takes over its input's buffer, unless the unit can't alias") {
    CHECK(buffers({audio("Make", {}), audio("Change", {{0, 0}}), audio("Eat", {{1, 0}}, 0)}, 1) == Buffers{0, 0});
    CHECK(buffers({audio("Make", {}), audio("NoAlias", {{0, 0}}), audio("Eat", {{1, 0}}, 0)}, 2) == Buffers{0, 1});
}

TEST_CASE("the buffer freed last is taken first, inputs are freed from the last to the first") {
    CHECK(buffers({audio("Make", {}), audio("Make", {}), audio("Add", {{0, 0}, {1, 0}}, 2),
                   audio("Eat", {{2, 0}, {2, 1}}, 0)},
                  2) == Buffers{0, 1, 0, 1});
    CHECK(buffers({audio("Make", {}), audio("Make", {}), audio("Add", {{1, 0}, {0, 0}}, 2),
                   audio("Eat", {{2, 0}, {2, 1}}, 0)},
                  2) == Buffers{0, 1, 1, 0});
}

TEST_CASE("a buffer is held until all its readers have run; one unit may read it twice") {
    CHECK(buffers({audio("Make", {}), audio("Change", {{0, 0}}), audio("Eat", {{0, 0}, {1, 0}}, 0), audio("Make", {})},
                  2) == Buffers{0, 1, 0});
    CHECK(buffers({audio("Make", {}), audio("Square", {{0, 0}, {0, 0}}), audio("Eat", {{1, 0}}, 0)}, 1) ==
          Buffers{0, 0});
}

TEST_CASE("a buffer that nobody reads stays taken") {
    CHECK(buffers({audio("Make", {}), audio("Make", {}), audio("Eat", {{1, 0}}, 0), audio("Make", {})}, 2) ==
          Buffers{0, 1, 1});
}

TEST_CASE("demand-rate units never free a buffer") {
    CHECK(buffers({audio("Make", {}), {"Dpull", Rate::demand, 0, {{0, 0}}, {Rate::demand}}, audio("Make", {})}, 2) ==
          Buffers{0, -1, 1});
}

TEST_CASE("reading at control rate frees an audio buffer too") {
    CHECK(buffers({audio("Make", {}), {"Average", Rate::control, 0, {{0, 0}}, {Rate::control}}, audio("Make", {})},
                  1) == Buffers{0, -1, 0});
}

TEST_CASE("too many wire buffers") {
    SynthDef def;
    def.name = "wide";
    def.units = {audio("Make", {}, 5)};
    const PermissiveCatalog catalog;
    CHECK(compile(def, catalog, block_size, 5));
    auto refused = compile(def, catalog, block_size, 4);
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == "exceeded number of interconnect buffers");
}

TEST_CASE("what is invalid isn't compiled") {
    SynthDef def = example();
    def.units[1].inputs.clear();
    auto refused = compile(def, PermissiveCatalog(), block_size, 64);
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == "UGen 1 'SinOsc': needs at least 2 inputs, has 0");
    CHECK_FALSE(compile(example(), PermissiveCatalog(), 0, 64));
}

TEST_CASE("controls by name") {
    auto program = compiled(example(), PermissiveCatalog());
    CHECK(index_of(*program, "freqs") == 0);
    CHECK(index_of(*program, "amp") == 2);
    CHECK(index_of(*program, "am") == -1);
    CHECK(index_of(*program, "") == -1);
    REQUIRE(program->find_control("freqs") != nullptr);
    CHECK(program->find_control("freqs")->channels == 2);
    CHECK(program->find_control("amp")->channels == 1);
    CHECK(index_of(Program(), "amp") == -1);
}

TEST_CASE("many controls, all found") {
    SynthDef def;
    def.name = "many";
    for (uint32_t i = 0; i < 500; ++i) {
        def.controls.push_back(0.0f);
        def.control_names.push_back({"control" + std::to_string(i), i});
    }
    auto program = compiled(def, PermissiveCatalog());
    for (int i = 0; i < 500; ++i)
        CHECK(index_of(*program, "control" + std::to_string(i)) == i);
    CHECK(index_of(*program, "control500") == -1);
}

TEST_CASE("of equal names the first is found; of equal indices the last reaches the values") {
    SynthDef def = example();
    def.control_names = {{"amp", 2}, {"amp", 0}, {"level", 2}};
    auto program = compiled(def, PermissiveCatalog());
    CHECK(index_of(*program, "amp") == 2);
    CHECK(program->find_control("amp")->channels == 0);
    CHECK(program->find_control("level")->channels == 1);
}

TEST_CASE("variants by their full name") {
    auto program = compiled(example(), PermissiveCatalog());
    REQUIRE(program->find_variant("example.low") != nullptr);
    CHECK(program->find_variant("example.low")->values[0] == 110.0f);
    CHECK(program->find_variant("low") == nullptr);
    SynthDef def = example();
    const size_t controls = def.controls.size();
    def.variants.clear();
    for (const char* name : {"example.z", "example.a", "example.m", "example.a"})
        def.variants.push_back({name, std::vector<float>(controls, float(def.variants.size()))});
    program = compiled(def, PermissiveCatalog());
    CHECK(program->find_variant("example.z")->values[0] == 0.f);
    CHECK(program->find_variant("example.a")->values[0] == 1.f); // the first of two
    CHECK(program->find_variant("example.m")->values[0] == 2.f);
    CHECK(program->find_variant("example.b") == nullptr);
}

TEST_CASE("slots in the order of their controls, one for each") {
    SynthDef def = example();
    def.control_names = {{"amp", 2}, {"freqs", 0}, {"level", 2}};
    const auto program = compiled(def, PermissiveCatalog());
    CHECK(program->slots_by_index == std::vector<uint32_t>{1, 2}); // those without controls are passed over nowhere
}

TEST_CASE("controls that set blocks and sample rates must be there") {
    const auto refusal = [](OwnRate own) {
        SynthDef def = example();
        def.own_rate = own;
        auto program = compile(def, PermissiveCatalog(), block_size, 64);
        return program ? std::string() : program.error();
    };
    CHECK(refusal({}).empty());
    CHECK(refusal({32, -1, 4.f, -1}).empty());
    CHECK(refusal({32, 99, 4.f, 99}).empty()); // nobody reads them
    CHECK(refusal({-1, 2, -1.f, 0}).empty());
    CHECK(refusal({-1, 3, 0.f, -1}) == "control 3 sets its block size, but there are 3 controls");
    CHECK(refusal({-1, -1, 0.f, -1}) == "control -1 sets its block size, but there are 3 controls");
    CHECK(refusal({0, -1, -2.f, 3}) == "control 3 sets its resampling factor, but there are 3 controls");
}

TEST_CASE("limits that depend on the block hold for the shortest that a synth may have") {
    SynthDef def = example();
    def.units.push_back({"T2A", Rate::audio, 0, {{0, 0}, {0, 0}}, {Rate::audio}});
    def.own_rate.block_size = 4;
    const auto guards = compiled(def, PermissiveCatalog())->guards;
    REQUIRE(guards.size() == 1);
    CHECK(guards[0].in_block);
    def.units.back().inputs[1] = {-1, 0};
    def.constants[0] = 30.f; // within the server's block
    CHECK(compiled(def, PermissiveCatalog())->guards.size() == 1);
    def.own_rate = {};
    CHECK(compiled(def, PermissiveCatalog())->guards.empty());
}
