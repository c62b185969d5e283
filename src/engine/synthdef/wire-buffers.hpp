// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/synthdef/program.hpp"

#include <cstdint>
#include <span>

namespace scs {

/// Gives each audio output of a laid out, validated definition a wire buffer: sets WireSpec::buffer
/// and returns how many buffers that takes. Which outputs share a buffer is audible in units that
/// write an output before they have read all inputs, so the choice is scsynth's: a buffer is free
/// again when as many inputs as read it have been passed, the one freed last is taken first, a
/// unit's inputs are freed from the last to the first, before its outputs are assigned or, if it
/// can't alias, after. Inputs of demand-rate units never free a buffer (they are read later), nor
/// does an output that nobody reads.
uint32_t assign_wire_buffers(const SynthDef& def, std::span<const UnitPlan> units, std::span<WireSpec> wires);

} // namespace scs
