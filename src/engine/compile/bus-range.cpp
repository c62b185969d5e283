// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compile/bus-range.hpp"

#include <algorithm>
#include <bit>

namespace scs {

BusRange bus_range(float number, int64_t channels) noexcept {
    if (!(number < 1e9f))
        return {};
    const auto first = int64_t(std::max(number, 0.f)); // a number below 0 means bus 0
    return {first, first + channels - 1};
}

BusRange reach_of(const NativeCode::BusUse& use, const OpList& list, const std::byte* record, uint32_t live) noexcept {
    const Op& op = list.ops[use.op];
    const Operand& bus = op.operands[0];
    const auto* numbers = reinterpret_cast<const float*>(
        bus.offset + (bus.base == Base::record ? reinterpret_cast<uintptr_t>(record) : 0));
    const int64_t channels = writes(use.effect) ? op.inputs - use.first_channel : op.outputs;
    BusRange range;
    for (uint32_t left = live; left; left &= left - 1) {
        const BusRange lane = bus_range(numbers[std::countr_zero(left)], channels);
        range.low = std::min(range.low, lane.low);
        range.high = std::max(range.high, lane.high);
    }
    return range;
}

} // namespace scs
