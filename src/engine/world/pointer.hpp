// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>

namespace scs {

/// Where the user's pointer is, as MouseX, MouseY and MouseButton read it, and which keys are down, for KeyState. It
/// changes between blocks only.
struct Pointer {
    float x = 0, y = 0;             ///< 0 to 1: from the screen's left edge, and from its lower one
    bool pressed = false;           ///< the first button
    bool told = false;              ///< whether any client says where it is
    bool missed = false;            ///< the log has said that none does
    std::array<uint8_t, 32> keys{}; ///< a bit for each key that is down, by its code in X11, the lowest bit first
    bool keys_told = false, keys_missed = false;

    bool is_down(float key) const noexcept {
        return key >= 0 && key < 256 && (keys[size_t(key) / 8] >> size_t(key) % 8 & 1) != 0;
    }
    bool operator==(const Pointer&) const = default;
};

} // namespace scs
