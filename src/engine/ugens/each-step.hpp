// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {

/// Calls f(step) for each step of a block of an audio unit. The compiler knows the inner loop's length and unrolls it
/// without code for a remainder, which saves a lone voice a fifth of the cost of a short kernel.
template <class Form, class F>
SCS_INLINE void each_step(const Block& block, F&& f) {
    constexpr int chunk = Form::state_lanes == 1 ? block_multiple / Form::width : block_multiple;
    int step = 0;
    unsigned left = unsigned(block.frames) / block_multiple;
    do {
        for (int end = step + chunk; step < end; ++step)
            f(step);
    } while (--left != 0);
}

} // namespace scs::SCS_SIMD
