// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/synthdef/synthdef.hpp"

#include <cstddef>
#include <optional>

namespace scs {

/// [any] Judges the inputs and outputs of one unit: their least number, its rate, and for UGens
/// that take a variable number (EnvGen's stages, Demand's list …) that the count they are given
/// agrees with what they have. UGens that nothing is known of are accepted. A few UGens read the
/// wires of their first outputs in place of inputs they lack (LocalIn of old clients,
/// NumRunningSynths, Dswitch): whoever builds the unit must let the table of its outputs follow
/// that of its inputs directly, as scsynth does. unit_index is an index into def.units; that unit's
/// inputs must refer to something that exists.
std::optional<Error> check_unit(const SynthDef& def, size_t unit_index);

} // namespace scs
