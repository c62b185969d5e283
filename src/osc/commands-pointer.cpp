// SPDX-License-Identifier: GPL-3.0-or-later
// /pointer and /hid: what hands do that don't play by control ports.
#include "engine/base/nonblocking.hpp"
#include "engine/control/bindings.hpp"
#include "engine/control/midi.hpp"
#include "engine/engine.hpp"
#include "osc/command-table.hpp"

#include <cstring>
#include <limits>
#include <span>
#include <string_view>

namespace scs::osc {

namespace {

bool within_screen(float place) noexcept {
    return place >= 0.f && place <= 1.f;
}

/// x, y, button, and perhaps which keys are down
Status pointer(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    ArgReader args = command.args();
    const float x = args.get_float(none), y = args.get_float(none);
    const int32_t button = args.get_int(-1);
    if (!within_screen(x) || !within_screen(y))
        return command.fail("x and y are to be 0 to 1");
    if (button != 0 && button != 1)
        return command.fail("the button is to be 0 or 1");
    Pointer& pointer = engine.world().pointer();
    const std::span<const std::byte> keys = args.get_blob();
    if (args.tag() != 0 || (!keys.empty() && keys.size() != pointer.keys.size()))
        return command.fail("keys are to be a blob of 32 bytes");
    const ControlEvent press{.kind = ControlEvent::Kind::button,
                             .port = ControlEvent::pointer,
                             .number = ControlEvent::first_button,
                             .value = float(button)};
    if (pointer.pressed != (button == 1))
        engine.bindings().tell(press);
    pointer.x = x;
    pointer.y = y;
    pointer.pressed = button == 1;
    pointer.told = true;
    if (keys.empty())
        return {};
    pointer.keys_told = true;
    std::memcpy(pointer.keys.data(), keys.data(), keys.size());
    return {};
}

/// device, "axis" or "button", code, value
Status hid(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    using Kind = ControlEvent::Kind;
    ArgReader args = command.args();
    const int32_t device = args.get_int(-1);
    const std::string_view kind = args.get_string();
    const int32_t code = args.get_int(-1);
    const float value = args.get_float(std::numeric_limits<float>::quiet_NaN());
    if (device < 0 || device > ControlEvent::last_device)
        return command.fail("a device is 0 to 127");
    if (kind != name_of(Kind::axis) && kind != name_of(Kind::button))
        return command.fail("a kind is axis or button");
    if (code < 0 || code > ControlEvent::last_code)
        return command.fail("a code is 0 to 767");
    const bool button = kind == name_of(Kind::button);
    if (button ? value != 0.f && value != 1.f : !(value >= 0.f && value <= 1.f))
        return command.fail(button ? "a button's value is to be 0 or 1" : "an axis' value is to be 0 to 1");
    engine.bindings().tell({.kind = button ? Kind::button : Kind::axis,
                            .port = uint8_t(device),
                            .number = uint16_t(code),
                            .value = value});
    return {};
}

constexpr CommandSpec commands[] = {
    {.name = "/hid", .types = "isii", .handler = hid},
    {.name = "/pointer", .types = "iii", .handler = pointer},
};

} // namespace

std::span<const CommandSpec> pointer_commands() {
    return commands;
}

} // namespace scs::osc
