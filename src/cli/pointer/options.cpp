// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/pointer/options.hpp"

#include <optional>

namespace scs::pointer {

Result<Options> parse_options(std::span<const char* const> arguments) {
    Options options;
    const auto help =
        top::read_options(arguments, {}, options, [](const auto&, const auto&) { return std::optional<Error>(); });
    if (!help)
        return Error{help.error()};
    options.help = help.value();
    return options;
}

std::string help_text() {
    return R"(usage: pw-scsynth pointer [OPTION ...]

Tells a running server where the mouse's pointer is on the X display ($DISPLAY), and whether its first button is
down, for MouseX, MouseY and MouseButton. It stays until Ctrl-C or SIGTERM.

  -u PORT      the server's port (57110)         -t PORT      the same, by TCP
  -B ADDRESS   the server's address (127.0.0.1)  -p WORD      its password, with -t
  -h, --help   this text
)";
}

} // namespace scs::pointer
