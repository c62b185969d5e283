// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Converts a batch's audio wires to rows, one for each lane, and back: for kernels that compute voice by voice with a
// voice's samples side by side.

#include "engine/ugens/forms.hpp"
#include "engine/ugens/transpose.hpp"

namespace scs::SCS_SIMD {

/// The lane's row of a set in the scratch memory.
SCS_INLINE float* row(const Block& block, int set, int lane) {
    return block.space->rows + (set * lanes + lane) * block.frames;
}

/// Copies each lane's samples of a wire to the lane's own row.
SCS_INLINE void unweave(const Block& block, const float* wire, int set) {
    float* to = row(block, set, 0);
    for (int frame = 0, end = block.frames; frame < end; frame += lanes) {
        F32<lanes> rows[lanes];
        for (int i = 0; i < lanes; ++i)
            rows[i] = F32<lanes>::load(wire + (frame + i) * lanes);
        transpose(rows);
        for (int i = 0; i < lanes; ++i)
            rows[i].store(to + i * end + frame);
    }
}

/// Writes a wire from a row for each lane; a null row gives zeros.
SCS_INLINE void weave(const Block& block, const float* const* from, float* wire) {
    for (int frame = 0, end = block.frames; frame < end; frame += lanes) {
        F32<lanes> rows[lanes];
        for (int i = 0; i < lanes; ++i)
            rows[i] = from[i] ? F32<lanes>::load(from[i] + frame) : F32<lanes>(0.f);
        transpose(rows);
        for (int i = 0; i < lanes; ++i)
            rows[i].store(wire + (frame + i) * lanes);
    }
}
SCS_INLINE void weave(const Block& block, int set, float* wire) {
    const float* from[lanes];
    for (int i = 0; i < lanes; ++i)
        from[i] = row(block, set, i);
    weave(block, from, wire);
}

} // namespace scs::SCS_SIMD
