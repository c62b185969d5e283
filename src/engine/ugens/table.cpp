// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/simd/lanes.hpp"

namespace scs::SCS_SIMD {
namespace {

const std::span<const NativeUgen> families[] = {
    arithmetic, bus_outputs, controls, counters, env_gen, extremes, filters,
    ienv_gen, linen, panning, ramps, random, sweeps, triggers, var_saw, when_done,
};

} // namespace

const NativeUgens& native_ugens() {
    static const NativeUgens all{lanes, families};
    return all;
}

} // namespace scs::SCS_SIMD
