// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"
#include "engine/base/nonblocking.hpp"

namespace scs {

// A unit's asynchronous command needs the unit until it ends, even if its synth is freed meanwhile. [rt]

/// The unit stays in memory until let_unit_go(). false: its synth is being freed.
bool hold_unit(::Unit&) noexcept SCS_NONBLOCKING;
/// Frees the synth if it has left and this was the last.
void let_unit_go(::Unit&) noexcept SCS_NONBLOCKING;
/// Whether its synth is out of the tree.
bool has_unit_left(const ::Unit&) noexcept SCS_NONBLOCKING;

} // namespace scs
