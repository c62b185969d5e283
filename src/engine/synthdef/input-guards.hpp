// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/synthdef/synthdef.hpp"

#include <cstdint>
#include <vector>

namespace scs {

/// An input that its unit takes for an index or a size without looking at it: it gets a wire of its own, which
/// follows the signal within these limits. Anything that is no number becomes the lower one.
struct InputGuard {
    uint32_t unit = 0;
    uint32_t input = 0;
    float low = 0, high = 0;
    bool in_samples = false; ///< `high` is in samples, the input in seconds
    bool at_start = false;   ///< only the constructor reads it: applied once, not each block
    int32_t high_input = -1; ///< another input of the unit whose value is the upper limit in place of `high`

    float apply(float value, float upper) const noexcept { return value > low ? (value < upper ? value : upper) : low; }
};

/// [worker] The guards that a valid definition needs, in the order of its units, with blocks of block_size frames.
/// Constants that are in range need none.
std::vector<InputGuard> input_guards(const SynthDef& def, int block_size);

} // namespace scs
