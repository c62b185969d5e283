// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The kernels' families: each file defines its list for every instruction set.

#include "engine/ugens/kernel.hpp"

namespace scs::SCS_SIMD {

extern const std::span<const NativeUgen> arithmetic, bus_outputs, env_gen, filters, linen, panning, ramps, random, var_saw;

} // namespace scs::SCS_SIMD
