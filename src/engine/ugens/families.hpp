// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The kernels' families: each file defines its list for every instruction set.

#include "engine/ugens/kernel.hpp"

namespace scs::SCS_SIMD {

extern const std::span<const NativeUgen> binary_operators, bus_outputs, envelopes, filters, panning, random, ranges,
    selection, server_info, sums, unary_operators, var_saw;

} // namespace scs::SCS_SIMD
