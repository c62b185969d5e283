// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace scs {

/// The server's inputs in blocks that follow one another in a cycle.
struct BlockInputs {
    const float* const* first; ///< a pointer per port to the first block's frames; null where none is linked
    const float* const* cycle; ///< the same to the frames of the cycle …
    ptrdiff_t second;          ///< … and where in these the second block begins

    /// A port's frames in block `index`, of `frames` each; null where none is linked.
    const float* at(size_t port, size_t index, size_t frames) const noexcept {
        if (index == 0 || !cycle[port])
            return index == 0 ? first[port] : nullptr;
        return cycle[port] + second + ptrdiff_t((index - 1) * frames);
    }
};

} // namespace scs
