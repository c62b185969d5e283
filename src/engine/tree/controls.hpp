// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/nodes/node.hpp"

namespace scs {

// A synth's controls, whatever it is made of. [rt] Indices must be in range.

int control_count(const Synth&) noexcept;
/// The value that was set last, also while it is mapped.
float control(const Synth&, int index) noexcept;
/// What it is mapped to, and the bus.
Mapping mapping(const Synth&, int index, int& bus) noexcept;

} // namespace scs
