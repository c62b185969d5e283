// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/synthdef/program.hpp"

#include <cstdint>
#include <span>

namespace scs {

/// Gives each audio output of a laid out, validated definition a wire buffer: sets WireSpec::buffer and returns the
/// number of buffers. Which outputs share a buffer is audible in units that write an output before they have read all
/// inputs. So the choice is scsynth's. A buffer is free again after the last input that reads it. A unit's inputs are
/// freed from the last to the first: before its outputs get buffers or, if it can't alias, after that. The buffer that
/// was freed last is used first. Inputs of demand-rate units never free a buffer, as they are read later. The buffer of
/// an output that nobody reads is never freed.
uint32_t assign_wire_buffers(const SynthDef& def, std::span<const UnitPlan> units, std::span<WireSpec> wires);

} // namespace scs
