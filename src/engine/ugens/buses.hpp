// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How kernels read and write buses. The first writer in a block overwrites a bus, later ones add in the order of their
// turns, on which the last bits of the sum depend.

#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {

/// The bus of this number, or -1 if there is none. Numbers below 0 mean the first bus, as in SuperCollider for units
/// that haven't used another one before.
SCS_INLINE int32_t bus_of(float number, int32_t count) {
    if (!(number < float(count)))
        return -1;
    return number > 0.f ? int32_t(number) : 0;
}
/// The bus `channel` places after one that bus_of() gave, or -1.
SCS_INLINE int32_t bus_behind(int32_t first, int channel, int32_t count) {
    return first >= 0 && channel < count - first ? first + channel : -1;
}

SCS_INLINE float* audio_bus(const Space& space, int32_t bus) {
    return space.audio_bus + int64_t(bus) * space.block_size;
}

/// Whether the bus has been written in this block. Marks it as written.
SCS_INLINE bool touch(Space& space, int32_t bus) {
    const bool touched = space.audio_touched[bus] == space.block_number;
    space.audio_touched[bus] = space.block_number;
    return touched;
}
SCS_INLINE bool touch_control(Space& space, int32_t bus) {
    const bool touched = space.control_touched[bus] == space.block_number;
    space.control_touched[bus] = space.block_number;
    return touched;
}
/// Blocks since the bus was last written.
SCS_INLINE uint32_t age(const Space& space, int32_t touched) {
    return uint32_t(space.block_number) - uint32_t(touched);
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
