// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

/// Moves a place into a buffer as SuperCollider's units do. With `loop`, it wraps into [0, end). Otherwise it stops at
/// the buffer's ends and sets `stopped`. floor(double) rounds down. [any]
// Always inlined: code for other instruction sets includes it, too.
template <class Floor>
[[gnu::always_inline]] inline double place_in(double place, double end, bool loop, bool& stopped, Floor&& floor) {
    if (place >= end) {
        if (!loop) {
            stopped = true;
            return end;
        }
        place -= end;
        if (place < end)
            return place;
    } else if (place < 0.) {
        if (!loop) {
            stopped = true;
            return 0.;
        }
        place += end;
        if (place >= 0.)
            return place;
    } else {
        return place;
    }
    return place - end * floor(place / end);
}

} // namespace scs
