// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/simd/lanes.hpp"
#include "engine/ugens/sine-tables.hpp"

namespace scs::SCS_SIMD {
namespace {

const std::span<const NativeUgen> families[] = {
    arithmetic, band_limited, bus_outputs, envelopes, filters, impulse,
    low_frequency, low_frequency_noise, noise, panning, random, sines, var_saw,
};

} // namespace

const NativeUgens& native_ugens() {
    make_sine_tables();
    static const NativeUgens all{lanes, families};
    return all;
}

} // namespace scs::SCS_SIMD
