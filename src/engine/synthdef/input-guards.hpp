// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/synthdef/synthdef.hpp"

#include <cstdint>
#include <vector>

namespace scs {

/// Guards an input that its unit uses as an index or a size without a check. The input gets a wire of its own, which
/// follows the signal clamped to these limits. NaN becomes the lower one.
struct InputGuard {
    uint32_t unit = 0;
    uint32_t input = 0;
    float low = 0, high = 0;
    bool in_samples = false; ///< `high` is in samples, the input in seconds
    bool at_start = false;   ///< only the constructor reads the input: it is clamped once, not in each block
    bool in_block = false;   ///< the upper limit is the last frame of the synth's blocks, in place of `high`
    bool in_bins = false;    ///< the upper limit is the number of bins of the chain that input 0 names
    int32_t high_input = -1; ///< another input of the unit whose value is the upper limit in place of `high`

    float apply(float value, float upper) const noexcept { return value > low ? (value < upper ? value : upper) : low; }
};

/// [worker] The guards that a valid definition needs with blocks of block_size frames or more, in the order of its
/// units. Constants in range need none.
std::vector<InputGuard> input_guards(const SynthDef& def, int block_size);

} // namespace scs
