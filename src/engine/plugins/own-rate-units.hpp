// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/ugens/kernel.hpp"

struct Unit;

namespace scs {

struct Program;
struct UgenInfo;

// Units that convert between the blocks and the rate of a synth and those of the server: In, InFeedback, Out,
// OffsetOut, ReplaceOut, XOut and AudioControl at audio rate. Each of the synth's blocks has its own place in the
// server's. And LocalIn and LocalOut, whose delay is a block of the synth's. They take the place of SuperCollider's in
// synths that have blocks or a rate of their own.
//
// The numbers of buses are read once in each block of the server.

/// [worker] Has a program's units of these names be ours, and notes which run once in a block of the server, and
/// whether any may read audio buses. Output of synths with such can't be computed ahead.
void use_own_rate_units(Program&);

/// [any] Whether it is one of them.
bool is_own_rate_unit(const UgenInfo&) noexcept;

/// [rt] Writes what the unit's destructor would write to buses, so that it has nothing left to write. Only for units
/// that are our own; most have nothing.
void write_tail_of_own_rate_unit(::Unit&) noexcept SCS_NONBLOCKING;

} // namespace scs
