// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/program.hpp"

#include "engine/base/hash.hpp"
#include "engine/synthdef/own-rate.hpp"
#include "engine/synthdef/validator.hpp"
#include "engine/synthdef/wire-buffers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <vector>

namespace scs {
namespace {

/// Where the search for a name begins in a table of 2^n places.
size_t place_of(std::string_view name, const std::vector<uint32_t>& table) noexcept {
    return size_t(hash_of_name(name) >> (64 - std::countr_zero(table.size())));
}

/// A name covers the controls from its index up to where the next name starts. If several names have the same index,
/// only the last one listed covers any controls, as in scsynth.
void name_controls(Program& program, const SynthDef& def) {
    std::vector<ControlSlot>& slots = program.control_slots;
    slots.reserve(def.control_names.size());
    for (const ControlName& control : def.control_names)
        slots.push_back({control.name, control.index, 0});

    std::vector<uint32_t>& order = program.slots_by_index;
    order.resize(slots.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return slots[a].index < slots[b].index; });
    for (size_t i = 0; i < order.size(); ++i) {
        const size_t end = i + 1 < order.size() ? slots[order[i + 1]].index : def.controls.size();
        ControlSlot& slot = slots[order[i]];
        slot.channels = uint32_t(end) - slot.index;
    }
    std::erase_if(order, [&](uint32_t slot) { return slots[slot].channels == 0; });
}

/// If several slots have the same name, the first one listed is found, as in scsynth.
std::vector<uint32_t> control_table(const std::vector<ControlSlot>& slots) {
    std::vector<uint32_t> table(std::bit_ceil(2 * slots.size() + 2), 0);
    const size_t mask = table.size() - 1;
    for (size_t i = 0; i < slots.size(); ++i) {
        size_t at = place_of(slots[i].name, table);
        while (table[at] != 0 && slots[table[at] - 1].name != slots[i].name)
            at = (at + 1) & mask;
        if (table[at] == 0)
            table[at] = uint32_t(i + 1);
    }
    return table;
}

void lay_out(Program& program, const SynthDef& def, const UgenCatalog& catalog) {
    program.num_constants = uint32_t(def.constants.size());
    for (float value : def.constants)
        program.wires.push_back({Rate::scalar, -1, value, -1});

    program.units.reserve(def.units.size());
    for (size_t i = 0; i < def.units.size(); ++i) {
        const UnitSpec& spec = def.units[i];
        UnitPlan unit;
        unit.ugen = catalog.find(spec.name);
        unit.rate = spec.rate;
        unit.special_index = spec.special_index;
        unit.first_input = uint32_t(program.inputs.size());
        unit.num_inputs = uint32_t(spec.inputs.size());
        unit.first_output_wire = uint32_t(program.wires.size());
        unit.num_outputs = uint32_t(spec.outputs.size());
        for (const InputRef& input : spec.inputs)
            program.inputs.push_back(
                input.is_constant() ? input.index : program.units[size_t(input.unit)].first_output_wire + input.index);
        program.wires.insert(program.wires.end(), spec.outputs.size(), WireSpec{spec.rate, int32_t(i), 0.0f, -1});
        program.num_calc_units += unit.is_calc();
        program.units.push_back(unit);
    }
}

/// Units whose values are those of their inputs at the same time.
bool only_calculates(std::string_view ugen) {
    constexpr std::array names{std::string_view("BinaryOpUGen"), std::string_view("UnaryOpUGen"),
                               std::string_view("MulAdd"), std::string_view("Sum3"), std::string_view("Sum4")};
    return std::find(names.begin(), names.end(), ugen) != names.end();
}

void mark_late(Program& program) {
    const auto begin = program.inputs.begin();
    for (const UnitPlan& unit : program.units) {
        const auto first = begin + unit.first_input;
        const bool late =
            unit.ugen->name == "Demand" ||
            (only_calculates(unit.ugen->name) &&
             std::any_of(first, first + unit.num_inputs, [&](uint32_t wire) { return program.wires[wire].late; }));
        for (uint32_t i = 0; i < unit.num_outputs; ++i)
            program.wires[unit.first_output_wire + i].late = late;
    }
}

/// The controls that set a synth's block size and its sample rate must be there.
std::optional<Error> check_own_rate(const OwnRate& own, size_t controls) {
    const auto check = [controls](const char* what, bool from_control, int32_t control) -> std::optional<Error> {
        if (!from_control || (control >= 0 && size_t(control) < controls))
            return {};
        return Error{std::string("control ") + std::to_string(control) + " sets its " + what + ", but there are " +
                     std::to_string(controls) + " controls"};
    };
    if (auto wrong = check("block size", own.block_size < 0, own.block_size_control))
        return wrong;
    return check("resampling factor", own.resample < 0, own.resample_control);
}

} // namespace

int32_t Program::control_on(uint32_t wire) const noexcept {
    if (wires[wire].from_unit < 0)
        return -1;
    const UnitPlan& unit = units[size_t(wires[wire].from_unit)];
    const bool control = unit.ugen->name == "Control" && unit.rate == Rate::control;
    return control ? unit.special_index + int32_t(wire - unit.first_output_wire) : -1;
}

const ControlSlot* Program::find_control(std::string_view control_name) const noexcept {
    constexpr size_t longest = 255; // a byte has its length in a SynthDef; longer ones would take long to hash
    if (control_table.empty() || control_name.size() > longest)
        return nullptr;
    const size_t mask = control_table.size() - 1;
    for (size_t at = place_of(control_name, control_table); control_table[at] != 0; at = (at + 1) & mask) {
        const ControlSlot& slot = control_slots[control_table[at] - 1];
        if (same_name(slot.name, control_name))
            return &slot;
    }
    return nullptr;
}

const Variant* Program::find_variant(std::string_view full_name) const noexcept {
    const auto found =
        std::lower_bound(variants.begin(), variants.end(), full_name,
                         [](const Variant& variant, std::string_view name) { return variant.name < name; });
    return found != variants.end() && found->name == full_name ? &*found : nullptr;
}

Result<std::unique_ptr<Program>> compile(const SynthDef& def, const UgenCatalog& catalog, int block_size,
                                         int max_wire_buffers, bool mending) {
    if (block_size < 1)
        return Error{"the block size is " + std::to_string(block_size)};
    if (auto wrong = validate(def, catalog))
        return *wrong;
    if (auto wrong = check_own_rate(def.own_rate, def.controls.size()))
        return *wrong;

    auto program = std::make_unique<Program>();
    program->name = def.name;
    program->block_size = block_size;
    program->own_rate = def.own_rate;
    program->most_frames = most_frames(def.own_rate, block_size);
    program->controls = def.controls;
    name_controls(*program, def);
    program->control_table = control_table(program->control_slots);
    program->variants = def.variants;
    std::stable_sort(program->variants.begin(), program->variants.end(),
                     [](const Variant& a, const Variant& b) { return a.name < b.name; });
    lay_out(*program, def, catalog);
    mark_late(*program);
    program->guards = input_guards(def, asks(def.own_rate) ? 1 : block_size);
    if (mending)
        program->mends = input_mends(*program);
    program->num_wire_buffers = assign_wire_buffers(def, program->units, program->wires);
    if (int64_t(program->num_wire_buffers) > max_wire_buffers)
        return Error{"exceeded number of interconnect buffers"};
    return program;
}

} // namespace scs
