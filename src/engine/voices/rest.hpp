// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/compile/code.hpp"
#include "engine/voices/voice.hpp"

#include <cstddef>
#include <cstdint>

namespace scs {

class Deadline;

// An operation at control rate is at rest while computing it again would change nothing: its state was the same after
// its last block as before, and its inputs are still the same. Its output stays in the record. It is awake from when an
// input changes until its state no longer does. Most units at control rate are at rest most of the time. All functions
// are [rt].

/// All operations of the record that the voice's items are in are awake. To be called before their first block there,
/// and after one that wasn't run_awake()'s.
void wake_all(Voice&) noexcept SCS_NONBLOCKING;
inline void wake(Voice& voice) noexcept {
    if (voice.code->resting.words)
        wake_all(voice);
}
/// Those are awake that read a control whose value in a record has changed. lanes: of the record.
void wake_readers(const NativeCode&, std::byte* record, size_t lanes, uint32_t control) noexcept SCS_NONBLOCKING;
/// States are compared soon, as after wake(). To be called when a command has set a control, where operations may be at
/// rest.
void look_soon(const NativeCode&, std::byte* record, size_t lanes) noexcept SCS_NONBLOCKING;

/// Computes a block of the first code.resting.ops() operations of the list, but those at rest. false: the deadline,
/// unless it is null, passed in between; then the block is of no use. nsec: what 64 operations may take.
bool run_those_awake(const Resting&, const OpList&, Block&, Deadline*, int64_t nsec) noexcept SCS_NONBLOCKING;
inline bool run_awake(const NativeCode& code, const OpList& list, Block& block, Deadline* deadline,
                      int64_t nsec) noexcept {
    return !code.resting.words || run_those_awake(code.resting, list, block, deadline, nsec);
}

} // namespace scs
