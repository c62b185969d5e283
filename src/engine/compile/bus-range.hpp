// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/compile/code.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace scs {

/// The first and the last bus that an operation reaches; empty if it reaches none. Buses that don't exist may be in it.
struct BusRange {
    int64_t low = INT64_MAX, high = INT64_MIN;
    bool empty() const noexcept { return low > high; }
    /// Whether there are too many to look at each. Operations with more channels are rare.
    bool wide() const noexcept { return !empty() && high - low >= 64; }
    /// Those of them that exist.
    BusRange within(size_t buses) const noexcept { return {low, std::min(high, int64_t(buses) - 1)}; }
};

constexpr bool audio(Effect effect) noexcept {
    return effect == Effect::writes_audio || effect == Effect::reads_audio;
}
constexpr bool writes(Effect effect) noexcept {
    return effect == Effect::writes_audio || effect == Effect::writes_control;
}

/// Whether reach_of() can tell the buses before the operation is computed.
inline bool known_before(const NativeCode::BusUse& use, const OpList& list) noexcept {
    const Operand& bus = list.ops[use.op].operands[0];
    return bus.base == Base::fixed || (bus.base == Base::record && bus.offset < list.known_bytes);
}

/// [any] The buses from that number on; none if the number is far too high.
BusRange bus_range(float number, int64_t channels) noexcept SCS_NONBLOCKING;

/// [rt] The buses that an operation of the list reaches in any of the lanes `live` of a record, as its controls are
/// now.
BusRange reach_of(const NativeCode::BusUse&, const OpList&, const std::byte* record,
                  uint32_t live) noexcept SCS_NONBLOCKING;

} // namespace scs
