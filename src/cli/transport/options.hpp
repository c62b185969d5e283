// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/server-options.hpp"

#include <span>
#include <string>

namespace scs::transport {

struct Options : top::ServerOptions {
    double tempo = 2; ///< beats a second
    int beats_per_bar = 4;
};

/// What follows "pw-scsynth transport". An error is a sentence that begins with the option.
Result<Options> parse_options(std::span<const char* const> arguments);
std::string help_text();

} // namespace scs::transport
