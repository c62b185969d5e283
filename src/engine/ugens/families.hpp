// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The kernels' families: each file defines its list for every instruction set.

#include "engine/ugens/kernel.hpp"

namespace scs::SCS_SIMD {

extern const std::span<const NativeUgen> arithmetic, bus_outputs, dynamics, envelopes, equalizers, finite_filters,
    first_order_filters, free_verb, gverb, lags, limiters, median, moog, panning, ramps, random, second_order_filters,
    var_saw;

} // namespace scs::SCS_SIMD
