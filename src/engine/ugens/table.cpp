// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/simd/lanes.hpp"

namespace scs::SCS_SIMD {
namespace {

const std::span<const NativeUgen> families[] = {
    arithmetic,
    bus_outputs,
    dynamics,
    envelopes,
    equalizers,
    finite_filters,
    first_order_filters,
    free_verb,
    gverb,
    lags,
    limiters,
    median,
    moog,
    panning,
    ramps,
    random,
    second_order_filters,
    var_saw,
};

} // namespace

const NativeUgens& native_ugens() {
    static const NativeUgens all{lanes, families};
    return all;
}

} // namespace scs::SCS_SIMD
