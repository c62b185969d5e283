// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/nonblocking.hpp"
#include "engine/engine.hpp"
#include "osc/command-table.hpp"

#include <limits>

namespace scs::osc {

namespace {

bool within_screen(float place) noexcept {
    return place >= 0.f && place <= 1.f;
}

/// x, y, button
Status pointer(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    ArgReader args = command.args();
    const float x = args.get_float(none), y = args.get_float(none);
    const int32_t button = args.get_int(-1);
    if (!within_screen(x) || !within_screen(y))
        return command.fail("x and y are to be 0 to 1");
    if (button != 0 && button != 1)
        return command.fail("the button is to be 0 or 1");
    engine.world().pointer() = {.x = x, .y = y, .pressed = button == 1, .told = true};
    return {};
}

constexpr CommandSpec commands[] = {
    {.name = "/pointer", .types = "iii", .handler = pointer},
};

} // namespace

std::span<const CommandSpec> pointer_commands() {
    return commands;
}

} // namespace scs::osc
