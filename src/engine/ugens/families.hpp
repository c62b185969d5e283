// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The kernels' families: each file defines its list for every instruction set.

#include "engine/ugens/kernel.hpp"

namespace scs::SCS_SIMD {

extern const std::span<const NativeUgen> arithmetic, buffer_players, bus_inputs, bus_outputs, control_buses, delays, envelopes,
    filters, local_buses, panning, random, short_delays, var_saw, wave_tables;

} // namespace scs::SCS_SIMD
