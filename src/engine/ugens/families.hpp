// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The kernels' families: each file defines its list for every instruction set.

#include "engine/ugens/kernel.hpp"

namespace scs::SCS_SIMD {

extern const std::span<const NativeUgen> arithmetic, bus_outputs, controls, counters, env_gen, extremes, filters,
    ienv_gen, linen, panning, ramps, random, sweeps, triggers, var_saw, when_done;

} // namespace scs::SCS_SIMD
