// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/voices/code.hpp"
#include "engine/voices/voice.hpp"

#include <cstddef>

namespace scs {

// An operation at control rate is at rest while computing it again would change nothing: its state was the same after
// its last block as before, and its inputs are still the same. Its output stays in the record. It is awake from when a
// control of its voice is set, or one of its inputs changes, until its state no longer does. Most units at control rate
// are at rest most of the time. All functions are [rt].

/// All operations of a record are awake. To be called when a control in it has changed, and before the first block in
/// it. lanes: of the record.
void wake(const NativeCode&, std::byte* record, size_t lanes) noexcept SCS_NONBLOCKING;
/// The same for the record that the voice's items are in.
void wake(Voice&) noexcept SCS_NONBLOCKING;

/// Computes a block of those operations of the list that may be at rest, but are awake. Returns how many of the list
/// are done with, from the first one on.
size_t run_awake(const Resting&, const OpList&, Block&) noexcept SCS_NONBLOCKING;

} // namespace scs
