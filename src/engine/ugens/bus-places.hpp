// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which audio bus a number means, where it is, and when it was written last. Always inlined, as kernels are compiled
// for several instruction sets.

#include "engine/ugens/kernel.hpp"

namespace scs {

/// The bus of this number, or -1 if there is none. Numbers below 0 mean the first bus, as in SuperCollider for units
/// that haven't used another one before.
[[gnu::always_inline]] inline int32_t bus_of(float number, int32_t count) {
    if (!(number < float(count)))
        return -1;
    return number > 0.f ? int32_t(number) : 0;
}
/// The bus `channel` places after one that bus_of() gave, or -1.
[[gnu::always_inline]] inline int32_t bus_after(int32_t first, int channel, int32_t count) {
    return first >= 0 && channel < count - first ? first + channel : -1;
}

[[gnu::always_inline]] inline float* audio_bus(const Space& space, int32_t bus) {
    return space.audio_bus + int64_t(bus) * space.block_size;
}

/// Whether the bus has been written in this block. Marks it as written.
[[gnu::always_inline]] inline bool touch(Space& space, int32_t bus) {
    const bool touched = space.audio_touched[bus] == space.block_number;
    space.audio_touched[bus] = space.block_number;
    return touched;
}
/// Blocks since a bus was written, of which `touched` is what the space has noted.
[[gnu::always_inline]] inline uint32_t age(const Space& space, int32_t touched) {
    return uint32_t(space.block_number) - uint32_t(touched);
}

} // namespace scs
