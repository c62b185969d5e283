// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/release.hpp"
#include "engine/synthdef/synthdef.hpp"

namespace scs {

/// [worker] Gives units of a definition the inputs that the units of this release read and those before it didn't have,
/// with the values that its sclang would have given them: plugins don't look how many inputs there are. A definition
/// that has them, or is broken, stays as it is.
void add_later_inputs(SynthDef&, Release);

} // namespace scs
