// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace scs {

struct Synth;

/// What a control of a synth is mapped to.
enum class Mapping : uint8_t { none, control, audio };

// A synth's controls, whatever it is made of. [rt] Indices must be in range.

int control_count(const Synth&) noexcept;
/// The value that was set last, also while it is mapped.
float control(const Synth&, int index) noexcept;
/// What it is mapped to, and the bus.
Mapping mapping(const Synth&, int index, int& bus) noexcept;

} // namespace scs
