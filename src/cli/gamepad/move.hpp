// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

struct libevdev;

namespace scs::gamepad {

/// What a hand has done on a device, as /hid has it.
struct Move {
    bool axis = false; ///< else a button
    int code = 0;      ///< of evdev, 0 to 0x2ff
    float value = 0;   ///< 0 to 1 in the axis' range; 1: the button is down

    bool operator==(const Move&) const = default;
};

/// Whether it is a gamepad, a joystick or the like, or a touch screen: no keyboard, no mouse, no touchpad.
bool is_played(const libevdev*);

/// Whether it has axes or buttons at all that move_of() knows.
bool is_playable(const libevdev*);

/// What an event of evdev says. Nothing: it isn't of a button or an axis. A keyboard's keys are none, and neither are
/// the second and further fingers of a touch screen.
std::optional<Move> move_of(const libevdev*, unsigned type, unsigned code, int value);

/// All that is pressed, and where all axes are.
std::vector<Move> state_of(const libevdev*);

/// The end of all that is pressed.
std::vector<Move> release_of(const libevdev*);

} // namespace scs::gamepad
