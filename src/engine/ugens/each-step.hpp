// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {

/// Calls f(step) for each step of a block of an audio unit. The inner loop's length is known to the compiler, which so
/// unrolls it without finding out what is left over: a fifth of what a short kernel costs a lone voice.
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
