// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/server-options.hpp"

#include <span>
#include <string>

namespace scs::link {

struct Options : top::ServerOptions {
    double tempo = 120; ///< beats a minute, unless a session has one
};

/// What follows "pw-scsynth link". An error is a sentence that begins with the option.
Result<Options> parse_options(std::span<const char* const> arguments);
std::string help_text();

} // namespace scs::link
