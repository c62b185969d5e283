// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/pointer/options.hpp"

#include <optional>

namespace scs::pointer {

namespace {

constexpr top::CommandOption own[] = {{"--keys", false}};

} // namespace

Result<Options> parse_options(std::span<const char* const> arguments) {
    Options options;
    const auto help = top::read_options(arguments, own, options, [&](const auto&, const auto&) {
        options.keys = true;
        return std::optional<Error>();
    });
    if (!help)
        return Error{help.error()};
    options.help = help.value();
    return options;
}

std::string help_text() {
    return R"(usage: pw-scsynth pointer [OPTION ...]

Tells a running server where the mouse's pointer is on the X display ($DISPLAY), and whether its first button is
down, for MouseX, MouseY and MouseButton. It stays until Ctrl-C or SIGTERM.

  --keys       which keys are down, too, for KeyState: whoever commands the server can read what you type
  -u PORT      the server's port (57110)         -t PORT      the same, by TCP
  -B ADDRESS   the server's address (127.0.0.1)  -p WORD      its password, with -t
  -h, --help   this text
)";
}

} // namespace scs::pointer
