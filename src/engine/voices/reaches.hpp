// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/voices/ahead-list.hpp"
#include "engine/voices/bus-range.hpp"

#include <cstddef>
#include <cstdint>

namespace scs {

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
        const bool known = !mapped && known_before(use, list);
        what(use, known ? reach_of(use, list, record, live) : BusRange(), known);
    }
}

} // namespace scs
