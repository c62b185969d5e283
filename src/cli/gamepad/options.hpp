// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/server-options.hpp"

#include <span>
#include <string>
#include <vector>

namespace scs::gamepad {

struct Options : top::ServerOptions {
    std::vector<std::string> devices; ///< paths or parts of names; none: whatever is played by hand
};

/// What follows "pw-scsynth gamepad". An error is a sentence that begins with the option.
Result<Options> parse_options(std::span<const char* const> arguments);

/// The text of --help.
std::string help_text();

} // namespace scs::gamepad
