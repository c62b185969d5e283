// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

/// Where the user's pointer is, as MouseX, MouseY and MouseButton read it. It changes between blocks only.
struct Pointer {
    float x = 0, y = 0;   ///< 0 to 1: from the screen's left edge, and from its lower one
    bool pressed = false; ///< the first button
    bool told = false;    ///< whether any client says where it is
    bool missed = false;  ///< the log has said that none does

    bool operator==(const Pointer&) const = default;
};

} // namespace scs
