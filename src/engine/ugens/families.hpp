// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The kernels' families: each file defines its list for every instruction set.

#include "engine/ugens/kernel.hpp"

namespace scs::SCS_SIMD {

extern const std::span<const NativeUgen> band_limited, binary_operators, bus_outputs, envelopes, finite_filters,
    first_order_filters, impulse, lags, low_frequency, noise, panning, random, ranges, second_order_filters,
    selection, server_info, sines, sums, unary_operators, var_saw;

} // namespace scs::SCS_SIMD
