// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/gamepad/move.hpp"
#include "cli/gamepad/options.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <libevdev/libevdev.h>
#include <utility>
#include <vector>

using namespace scs::gamepad;

namespace {

/// A device in memory.
struct Device {
    Device(std::initializer_list<unsigned> buttons,
           std::initializer_list<std::pair<unsigned, input_absinfo>> axes = {}) {
        for (const unsigned button : buttons)
            libevdev_enable_event_code(evdev, EV_KEY, button, nullptr);
        for (const auto& [axis, range] : axes)
            libevdev_enable_event_code(evdev, EV_ABS, axis, &range);
    }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device() { libevdev_free(evdev); }

    std::optional<Move> move(unsigned type, unsigned code, int value) const {
        return move_of(evdev, type, code, value);
    }

    libevdev* evdev = libevdev_new();
};

/// Where an axis is, and its range.
input_absinfo range(int value, int low, int high) {
    input_absinfo made{};
    made.value = value;
    made.minimum = low;
    made.maximum = high;
    return made;
}

} // namespace

TEST_CASE("axes become 0 to 1 in the range of the device") {
    const Device pad({BTN_SOUTH}, {{ABS_X, range(0, -32768, 32767)},
                                   {ABS_Z, range(0, 0, 255)},
                                   {ABS_Y, range(0, INT32_MIN, INT32_MAX)},
                                   {ABS_RZ, range(0, 5, 5)},
                                   {ABS_MT_POSITION_X, range(0, 0, 100)}});
    CHECK(pad.move(EV_ABS, ABS_X, -32768) == Move{true, ABS_X, 0});
    CHECK(pad.move(EV_ABS, ABS_X, 32767) == Move{true, ABS_X, 1});
    CHECK(pad.move(EV_ABS, ABS_Z, 51) == Move{true, ABS_Z, 0.2f});
    CHECK(pad.move(EV_ABS, ABS_Z, 300) == Move{true, ABS_Z, 1});
    CHECK(pad.move(EV_ABS, ABS_Z, -1) == Move{true, ABS_Z, 0});
    CHECK(pad.move(EV_ABS, ABS_Y, INT32_MAX) == Move{true, ABS_Y, 1});
    CHECK_FALSE(pad.move(EV_ABS, ABS_RZ, 5)); // has no range
    CHECK_FALSE(pad.move(EV_ABS, ABS_RX, 5)); // isn't there
    CHECK_FALSE(pad.move(EV_ABS, ABS_MT_POSITION_X, 50));
    CHECK_FALSE(pad.move(EV_REL, REL_X, 5));
    CHECK_FALSE(pad.move(EV_SYN, SYN_REPORT, 0));
}

TEST_CASE("buttons are down or up, and a keyboard's keys are none") {
    const Device pad({BTN_SOUTH, KEY_A, KEY_MICMUTE, KEY_MAX});
    CHECK(pad.move(EV_KEY, BTN_SOUTH, 1) == Move{false, BTN_SOUTH, 1});
    CHECK(pad.move(EV_KEY, BTN_SOUTH, 0) == Move{false, BTN_SOUTH, 0});
    CHECK_FALSE(pad.move(EV_KEY, BTN_SOUTH, 2)); // is still down
    CHECK(pad.move(EV_KEY, KEY_MAX, 1) == Move{false, 0x2ff, 1});
    CHECK_FALSE(pad.move(EV_KEY, KEY_A, 1));
    CHECK_FALSE(pad.move(EV_KEY, KEY_MICMUTE, 1));
}

TEST_CASE("at the start all axes are told, and what is pressed; at the end that is released") {
    const Device pad({KEY_A, BTN_SOUTH, BTN_EAST}, {{ABS_X, range(64, 0, 256)}, {ABS_Y, range(0, 0, 256)}});
    libevdev_set_event_value(pad.evdev, EV_KEY, BTN_EAST, 1);
    libevdev_set_event_value(pad.evdev, EV_KEY, KEY_A, 1);
    CHECK(state_of(pad.evdev) == std::vector<Move>{{true, ABS_X, 0.25f}, {true, ABS_Y, 0}, {false, BTN_EAST, 1}});
    CHECK(release_of(pad.evdev) == std::vector<Move>{{false, BTN_EAST, 0}});
}

TEST_CASE("gamepads, joysticks and touch screens are played; keyboards, mice and touchpads aren't") {
    const auto played = [](const Device& device) { return is_played(device.evdev); };
    const std::pair<unsigned, input_absinfo> x{ABS_X, range(0, 0, 255)};
    CHECK(played({{BTN_SOUTH}, {x}}));
    CHECK(played({{BTN_TRIGGER}, {x}}));
    CHECK(played({{BTN_DPAD_LEFT}}));
    CHECK(played({{BTN_TRIGGER_HAPPY1}}));
    CHECK_FALSE(played({{KEY_A, KEY_ENTER, KEY_OK}}));
    CHECK_FALSE(played({{BTN_LEFT, BTN_RIGHT, BTN_TASK}}));
    const Device surface({BTN_TOUCH, BTN_TOOL_FINGER}, {x});
    CHECK_FALSE(played(surface));
    CHECK(is_playable(surface.evdev));
    libevdev_enable_property(surface.evdev, INPUT_PROP_DIRECT);
    CHECK(played(surface));
    CHECK_FALSE(is_playable(Device({KEY_A, KEY_MICMUTE}).evdev));
    CHECK(is_playable(Device({BTN_0}).evdev));
}

TEST_CASE("words after the options are devices") {
    const char* const arguments[] = {"-u", "57345", "/dev/input/event3", "Xbox"};
    const auto options = parse_options(arguments);
    REQUIRE(options);
    CHECK(options.value().port == 57345);
    CHECK(options.value().devices == std::vector<std::string>{"/dev/input/event3", "Xbox"});
    const std::vector<const char*> many(128, "pad");
    CHECK(parse_options(many).error() == "pad: expected at most 127 devices, by path or part of the name");
    CHECK(parse_options(std::span(many).first(127)));
}
