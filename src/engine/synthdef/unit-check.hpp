// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/synthdef/synthdef.hpp"

#include <cstddef>
#include <optional>

namespace scs {

/// [any] Checks one unit: the least number of inputs and outputs, its rate and, for UGens with a variable number of
/// inputs (EnvGen's stages, Demand's list …), that this number agrees with the count they are given. Unknown UGens are
/// accepted. A few UGens lack an input and read their first output's wire in its place (LocalIn of old clients,
/// NumRunningSynths, Dswitch): in memory a unit's table of outputs must directly follow that of its inputs, as in
/// scsynth. unit_index is an index into def.units; that unit's inputs must refer to something that exists.
std::optional<Error> check_unit(const SynthDef& def, size_t unit_index);

} // namespace scs
