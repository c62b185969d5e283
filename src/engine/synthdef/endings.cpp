// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/endings.hpp"

#include "engine/synthdef/program.hpp"
#include "engine/units/done-action.hpp"
#include "engine/units/unit-facts.hpp"

#include <algorithm>

namespace scs {

UnitEnding ending_of(const Program& program, const UnitPlan& unit) {
    const UnitFacts* facts = find_unit_facts(unit.ugen->name);
    if (!facts)
        return {};
    if (facts->done_action_input < 0 || uint32_t(facts->done_action_input) >= unit.num_inputs)
        return {.ends = facts->frees || facts->pauses, .frees = facts->frees};
    const WireSpec& action = program.wires[program.inputs[unit.first_input + uint32_t(facts->done_action_input)]];
    if (action.from_unit >= 0)
        return {.ends = true, .frees = true, .others = true};
    const DoneAction* const known = find_done_action(action.value);
    return {.ends = !(action.value < 1.f), // NaN, too
            .frees = known && known->frees_synth(),
            .others = !known || known->acts_on_others()};
}

namespace {

/// Which input of the unit is a gate that holds its end up; -1: none does.
int gate_input(const Program& program, const UnitPlan& unit) {
    constexpr uint32_t release_node = 7;
    if (unit.ugen->name == "Linen")
        return 0;
    if (unit.ugen->name != "EnvGen" || unit.num_inputs <= release_node)
        return -1;
    const WireSpec& release = program.wires[program.inputs[unit.first_input + release_node]];
    return release.from_unit < 0 && release.value >= 0 ? 0 : -1;
}

/// The control whose value is on a wire, at any rate; -1: none.
int32_t control_from(const Program& program, uint32_t wire) {
    const int32_t unit = program.wires[wire].from_unit;
    const UnitPlan* from = unit < 0 ? nullptr : &program.units[size_t(unit)];
    const bool control = from && (from->ugen->name == "Control" || from->ugen->name == "LagControl" ||
                                  from->ugen->name == "AudioControl");
    return control ? from->special_index + int32_t(wire - from->first_output_wire) : -1;
}

} // namespace

Staying staying(const Program& program) {
    Staying result;
    for (const UnitPlan& unit : program.units) {
        if (!ending_of(program, unit).frees)
            continue;
        const int input = gate_input(program, unit);
        const uint32_t wire = input < 0 ? 0 : program.inputs[unit.first_input + uint32_t(input)];
        const int32_t control = input < 0 ? -1 : control_from(program, wire);
        if (control >= 0)
            result.gates.push_back(control);
        else if (input < 0 || program.wires[wire].from_unit >= 0 || !(program.wires[wire].value > 0))
            result.stays = false;
    }
    std::ranges::sort(result.gates);
    result.gates.erase(std::unique(result.gates.begin(), result.gates.end()), result.gates.end());
    return result;
}

} // namespace scs
