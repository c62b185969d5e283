// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/synthdef/synthdef.hpp"

#include <optional>

namespace scs {

/// [worker] The definition with phases of more digits, which a BufRd needs in long buffers, where samples of a phase in
/// single precision are off by more than a frame. Each BufRd whose phase is made by a Phasor or another unit that does
/// so (Phase, units/unit-facts.hpp) gets another input: a second output of that unit, with what its samples are off by.
/// The same holds for what passes a phase, as sums do (ugens/fine-arithmetic.hpp). Nothing if there is no such BufRd.
/// Only for native units; plugins' have no use for it. The definition may be invalid.
std::optional<SynthDef> refined_phases(const SynthDef&);

} // namespace scs
