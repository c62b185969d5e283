// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/gamepad/move.hpp"

#include <algorithm>
#include <libevdev/libevdev.h>

namespace scs::gamepad {

namespace {

struct Codes {
    unsigned first, last;
};

constexpr Codes axes{0, ABS_MT_SLOT - 1};   // what follows is of each finger
constexpr Codes buttons{BTN_MISC, KEY_MAX}; // what is before that is a keyboard's
constexpr Codes of_players[] = {
    {BTN_JOYSTICK, BTN_DIGI - 1}, {BTN_DPAD_UP, BTN_DPAD_RIGHT}, {BTN_TRIGGER_HAPPY, KEY_MAX}};

bool is_among(unsigned code, const Codes& codes) {
    return code >= codes.first && code <= codes.last;
}

bool has_any(const libevdev* device, unsigned type, const Codes& codes) {
    for (unsigned code = codes.first; code <= codes.last; ++code)
        if (libevdev_has_event_code(device, type, code))
            return true;
    return false;
}

} // namespace

bool is_played(const libevdev* device) {
    const bool touched = libevdev_has_property(device, INPUT_PROP_DIRECT) &&
                         libevdev_has_event_code(device, EV_KEY, BTN_TOUCH) &&
                         libevdev_has_event_code(device, EV_ABS, ABS_X);
    return touched || std::any_of(std::begin(of_players), std::end(of_players),
                                  [&](const Codes& codes) { return has_any(device, EV_KEY, codes); });
}

bool is_playable(const libevdev* device) {
    return has_any(device, EV_ABS, axes) || has_any(device, EV_KEY, buttons);
}

std::optional<Move> move_of(const libevdev* device, unsigned type, unsigned code, int value) {
    if (type == EV_KEY && is_among(code, buttons) && (value == 0 || value == 1)) // 2: it is still down
        return Move{false, int(code), float(value)};
    const input_absinfo* const range =
        type == EV_ABS && is_among(code, axes) ? libevdev_get_abs_info(device, code) : nullptr;
    if (!range || range->maximum <= range->minimum)
        return {};
    const double all = double(range->maximum) - range->minimum;
    return Move{true, int(code), float(std::clamp((double(value) - range->minimum) / all, 0., 1.))};
}

std::vector<Move> state_of(const libevdev* device) {
    std::vector<Move> all;
    const auto add = [&](unsigned type, const Codes& codes) {
        for (unsigned code = codes.first; code <= codes.last; ++code) {
            int value = 0;
            if (!libevdev_fetch_event_value(device, type, code, &value))
                continue;
            const auto move = move_of(device, type, code, value);
            if (move && (move->axis || move->value > 0))
                all.push_back(*move);
        }
    };
    add(EV_ABS, axes);
    add(EV_KEY, buttons);
    return all;
}

std::vector<Move> release_of(const libevdev* device) {
    std::vector<Move> all = state_of(device);
    std::erase_if(all, [](const Move& move) { return move.axis; });
    for (Move& move : all)
        move.value = 0;
    return all;
}

} // namespace scs::gamepad
