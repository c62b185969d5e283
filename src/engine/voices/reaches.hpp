// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/voices/ahead-list.hpp"
#include "engine/voices/bus-range.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace scs {

/// Calls what(voice) for each voice of a turn. [rt]
template <class What>
void for_each_voice(const Unison& one, What&& what) noexcept {
    if (!one.batch)
        return what(*one.lone->voice);
    for (uint32_t left = one.batch->live; left; left &= left - 1)
        what(*one.batch->synths[std::countr_zero(left)]->voice);
}

/// Whether the number of the bus that an operation of the turn reaches is a mapped control. [rt]
inline bool bus_is_mapped(const Unison& one, const NativeCode::BusUse& use, const OpList& list) noexcept {
    const Operand& bus = list.ops[use.op].operands[0];
    const size_t control = bus.offset / (sizeof(float) * size_t(list.lanes));
    if (bus.base != Base::record || control >= one.code().controls)
        return false;
    bool mapped = false;
    for_each_voice(one, [&](const Voice& voice) { mapped = mapped || voice.mapped()[control]; });
    return mapped;
}

/// Calls what(use, range, known) for each operation of a turn that reaches buses, in their order; `known`: whether the
/// range is all that it can reach. [rt]
template <class What>
void for_each_reach(const Unison& one, What&& what) noexcept {
    const NativeCode& code = one.code();
    Batch* const batch = one.batch ? one.batch : one.lone->voice->batch;
    const OpList& list = batch ? code.batch : code.lone;
    const std::byte* const record = batch ? batch->record() : one.lone->voice->record;
    const uint32_t live = one.batch ? one.batch->live : batch ? 1u << one.lone->voice->lane : 1u;
    const bool mapped = batch ? batch->mapped : one.lone->voice->maps;
    for (const NativeCode::BusUse& use : batch ? code.batch_reaches : code.lone_reaches) {
        const bool known = known_before(use, list) && !(mapped && bus_is_mapped(one, use, list));
        what(use, known ? reach_of(use, list, record, live) : BusRange(), known);
    }
}

} // namespace scs
