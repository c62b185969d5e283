// SPDX-License-Identifier: GPL-3.0-or-later
// Which of a UnitGraph's native units at control rate need not be computed, as in voices/rest.hpp: those whose last
// block left their state as it was, and whose inputs are constants, controls that aren't mapped, or outputs of units at
// rest.
#include "engine/plugins/graph-instance.hpp"
#include "engine/plugins/native-unit.hpp"

#include <cstring>
#include <numeric>

namespace scs {
namespace {

constexpr uint32_t longest_pause = 48; // blocks

} // namespace

StateBefore::StateBefore(::Unit* unit) noexcept {
    if (!unit)
        return;
    const std::span<std::byte> state = NativeUnit::of(*unit).state();
    state_ = state.data();
    bytes_ = state.size();
    std::memcpy(before_.data(), state_, bytes_);
}

bool StateBefore::remains() const noexcept {
    return state_ && std::memcmp(before_.data(), state_, bytes_) == 0;
}

void Instance::begin_look() noexcept {
    rest.wait = rest.pause;
    rest.pause = std::min(2 * rest.pause, longest_pause);
    if (!rest.all)
        return;
    rest.all = false;
    rest.count = graph().mNumCalcUnits;
    std::iota(rest.awake, rest.awake + rest.count, 0u);
    std::fill_n(rest.units, graph().mNumUnits, false);
}

bool Instance::may_come_to_rest(const ::Unit& unit) const noexcept {
    if (!unit.mUnitDef) // a hidden one
        return false;
    const std::vector<bool>& may = *rest.may;
    const auto index = size_t(uint16_t(unit.mParentIndex));
    if (!may[index])
        return false;
    const UnitPlan& plan = program->units[index];
    const auto inputs = std::span(program->inputs).subspan(plan.first_input, plan.num_inputs);
    return std::all_of(inputs.begin(), inputs.end(), [&](uint32_t w) {
        const WireSpec& wire = program->wires[w];
        if (wire.from_unit < 0 || wire.rate == Rate::scalar)
            return true;
        if (may[size_t(wire.from_unit)])
            return rest.units[wire.from_unit];
        const int32_t control = program->control_on(w);
        return control >= 0 && graph().mControlRates[control] == int(Mapping::none);
    });
}

} // namespace scs
