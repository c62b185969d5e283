// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/synthdef/synthdef.hpp"

namespace scs {

/// [worker] Gives each BufRd whose phase is a Phasor's, a Sweep's or a Line's another input: a second output of that
/// unit, with what its samples are off by in single precision. In long buffers that is more than a frame. Only for
/// native units; plugins' have no use for it. The definition may be invalid.
void refine_phases(SynthDef& def);

} // namespace scs
