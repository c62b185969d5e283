// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

namespace scs {

/// When to look for what has come to rest. The first block after something was set is block 1, and a trigger in it is
/// over in block 3: then, and in blocks 6, 12, 24, 48, and every 48 after that.
struct Looks {
    uint32_t wait;  ///< blocks until the next look
    uint32_t pause; ///< blocks from that to the one after it

    void restart() noexcept { wait = pause = 3; }
    /// To be asked once a block: whether this one is it.
    bool now() noexcept {
        if (--wait)
            return false;
        wait = pause;
        pause = std::min(2 * pause, uint32_t(48));
        return true;
    }
};

} // namespace scs
