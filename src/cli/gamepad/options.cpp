// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/gamepad/options.hpp"

#include "engine/control/control-event.hpp"

#include <optional>

namespace scs::gamepad {

namespace {

constexpr top::CommandOption own_options[] = {{top::words, true}};

std::optional<Error> read_option(const std::string&, const std::string& device, Options& to) {
    if (device.empty() || to.devices.size() == size_t(ControlEvent::last_device))
        return Error{device + ": expected at most 127 devices, by path or part of the name"};
    to.devices.push_back(device);
    return {};
}

} // namespace

Result<Options> parse_options(std::span<const char* const> arguments) {
    return top::parse<Options>(arguments, own_options, read_option);
}

std::string help_text() {
    return R"(usage: pw-scsynth gamepad [OPTION ...] [DEVICE ...]

Tells a running server what gamepads, joysticks and touch screens do, for /bind_controller, /bind_command and
/bind_moved. They may come and go. It stays until Ctrl-C or SIGTERM.

  DEVICE       a path in /dev/input, or a part of a device's name: only these, and whatever they are; the first one is
               device 1, and so on
  -u PORT      the server's port (57110)         -t PORT      the same, by TCP
  -B ADDRESS   the server's address (127.0.0.1)  -p WORD      its password, with -t
  -h, --help   this text
)";
}

} // namespace scs::gamepad
