// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The kernels' families: each file defines its list for every instruction set.

#include "engine/ugens/kernel.hpp"

namespace scs::SCS_SIMD {

extern const std::span<const NativeUgen> arithmetic, band_limited, bus_outputs, envelopes, filters, impulse,
    low_frequency, low_frequency_noise, noise, panning, random, sines, var_saw;

} // namespace scs::SCS_SIMD
