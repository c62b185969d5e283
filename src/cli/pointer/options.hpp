// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/server-options.hpp"

#include <span>
#include <string>

namespace scs::pointer {

struct Options : top::ServerOptions {
    bool keys = false; ///< the keyboard's, too
};

/// What follows "pw-scsynth pointer". An error is a sentence that begins with the option.
Result<Options> parse_options(std::span<const char* const> arguments);
std::string help_text();

} // namespace scs::pointer
