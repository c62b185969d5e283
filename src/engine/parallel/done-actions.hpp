// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace scs {

/// The done actions of a block of an item that is computed before they may be performed: 1 and 2, each once for a
/// voice, as a second one of the same kind changes nothing. [rt]
struct DoneActions {
    uint32_t paused = 0; ///< lanes, by action 1 …
    uint32_t ended = 0;  ///< … and 2

    /// Whether it is the first of its kind, and so is to be performed.
    bool add(uint32_t lane, int action) noexcept {
        if (action != 1 && action != 2)
            return false;
        uint32_t& lanes = action == 1 ? paused : ended;
        const bool first = !(lanes >> lane & 1u);
        lanes |= 1u << lane;
        return first;
    }
};

} // namespace scs
