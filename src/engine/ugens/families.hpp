// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The kernels' families: each file defines its list for every instruction set.

#include "engine/ugens/kernel.hpp"

namespace scs::SCS_SIMD {

extern const std::span<const NativeUgen> band_limited, binary_operators, buffer_players, bus_inputs, bus_outputs,
    control_buses, controls, counters, delays, dynamics, env_gen, equalizers, extremes, f_sin_osc, finite_filters,
    first_order_filters, free_verb, gverb, ienv_gen, impulse, lags, limiters, linen, local_buses, low_frequency,
    low_frequency_noise, median, moog, noise, panning, pluck, ramps, random, ranges, second_order_filters, selection,
    server_info, short_delays, sines, slopes, sums, sweeps, triggers, unary_operators, var_saw, wave_tables,
    when_done;

} // namespace scs::SCS_SIMD
