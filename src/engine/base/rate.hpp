// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace scs {

/// How often a unit computes. The values are those of SynthDef files and of SuperCollider's plugins.
enum class Rate : uint8_t { scalar = 0, control = 1, audio = 2, demand = 3 };

} // namespace scs
