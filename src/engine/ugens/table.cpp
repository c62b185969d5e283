// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/simd/lanes.hpp"

namespace scs::SCS_SIMD {
namespace {

const std::span<const NativeUgen> families[] = {
    band_limited, binary_operators, bus_outputs, envelopes, finite_filters, first_order_filters, impulse, lags,
    low_frequency, noise, panning, random, ranges, second_order_filters, selection, server_info, sines, sums,
    unary_operators, var_saw,
};

} // namespace

const NativeUgens& native_ugens() {
    static const NativeUgens all{lanes, families};
    return all;
}

} // namespace scs::SCS_SIMD
