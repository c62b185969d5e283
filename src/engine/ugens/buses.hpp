// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How kernels read and write buses. The first writer in a block overwrites a bus, later ones add in the order of their
// turns, on which the last bits of the sum depend.

#include "engine/ugens/bus-places.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {

SCS_INLINE bool touch_control(Space& space, int32_t bus) {
    const bool touched = space.control_touched[bus] == space.block_number;
    space.control_touched[bus] = space.block_number;
    return touched;
}
SCS_INLINE void copy(float* to, const float* from, int frames) {
    __builtin_memcpy(to, from, size_t(frames) * sizeof(float));
}
SCS_INLINE void accumulate(float* to, const float* from, int frames) {
    int i = 0;
    for (; i + lanes <= frames; i += lanes)
        (F32<lanes>::load(to + i) + F32<lanes>::load(from + i)).store(to + i);
    for (; i < frames; ++i)
        to[i] += from[i];
}
SCS_INLINE void clear(float* to, int frames) {
    __builtin_memset(to, 0, size_t(frames) * sizeof(float));
}

SCS_INLINE void mix(float* to, const float* from, int frames, bool touched) {
    if (touched)
        accumulate(to, from, frames);
    else
        copy(to, from, frames);
}

} // namespace scs::SCS_SIMD
