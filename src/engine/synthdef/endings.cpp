// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/endings.hpp"

#include "engine/synthdef/program.hpp"
#include "engine/units/done-action.hpp"
#include "engine/units/unit-facts.hpp"

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

} // namespace scs
