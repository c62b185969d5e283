// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/simd/lanes.hpp"

namespace scs::SCS_SIMD {
namespace {

const std::span<const NativeUgen> families[] = {
    arithmetic,
    buffer_players,
    bus_inputs,
    bus_outputs,
    control_buses,
    delays,
    envelopes,
    filters,
    local_buses,
    panning,
    random,
    short_delays,
    var_saw,
    wave_tables,
};

} // namespace

const NativeUgens& native_ugens() {
    static const NativeUgens all{lanes, families};
    return all;
}

} // namespace scs::SCS_SIMD
