// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/pointer/options.hpp"

#include <optional>

namespace scs::pointer {

namespace {

constexpr top::CommandOption own_options[] = {{"--keys", false}};

std::optional<Error> read_option(const std::string&, const std::string&, Options& to) {
    to.keys = true;
    return {};
}

} // namespace

Result<Options> parse_options(std::span<const char* const> arguments) {
    return top::parse<Options>(arguments, own_options, read_option);
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
