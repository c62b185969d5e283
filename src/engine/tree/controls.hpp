// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/nodes/node.hpp"

namespace scs {

// The controls of a synth, be it a UnitGraph or a Voice. [rt] Indices must be in range.

int control_count(const Synth&) noexcept;
/// The value that was set last, even while the control is mapped.
float control(const Synth&, int index) noexcept;
/// What the control is mapped to; `bus` gets the number.
Mapping mapping(const Synth&, int index, int& bus) noexcept;

} // namespace scs
