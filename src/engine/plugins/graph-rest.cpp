// SPDX-License-Identifier: GPL-3.0-or-later
// Which of a UnitGraph's native units need not be computed, as in voices/rest.hpp: those whose last block left their
// state as it was, and whose inputs are constants, controls that aren't mapped, or outputs of units at rest. Any
// control that is set wakes all of them.
#include "engine/plugins/graph-instance.hpp"
#include "engine/plugins/native-unit.hpp"

#include <numeric>

namespace scs {

void Instance::list_all() noexcept {
    rest.all_awake = false;
    rest.count = graph().mNumCalcUnits;
    std::iota(rest.awake, rest.awake + rest.count, 0u);
    std::fill_n(rest.units, graph().mNumUnits, false);
}

std::span<std::byte> Instance::state_if_it_may_rest(::Unit& unit) const noexcept {
    const std::vector<bool>& may = *rest.may;
    const auto index = size_t(unit.mParentIndex); // of the first INT16_MAX units alone some may
    if (!unit.mUnitDef || !may[index])            // a hidden unit has none
        return {};
    const UnitPlan& plan = program->units[index];
    const auto rests = [&](uint32_t w) {
        const WireSpec& wire = program->wires[w];
        if (wire.from_unit < 0 || wire.rate == Rate::scalar)
            return true;
        if (may[size_t(wire.from_unit)])
            return rest.units[wire.from_unit];
        const UnitPlan& control = program->units[size_t(wire.from_unit)]; // what else it may read is a Control
        return graph().mControlRates[uint32_t(control.special_index) + (w - control.first_output_wire)] ==
               int(Mapping::none);
    };
    const auto inputs = std::span(program->inputs).subspan(plan.first_input, plan.num_inputs);
    return std::all_of(inputs.begin(), inputs.end(), rests) ? NativeUnit::of(unit).state() : std::span<std::byte>();
}

} // namespace scs
