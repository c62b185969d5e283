// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/server-options.hpp"
#include "engine/base/result.hpp"

#include <span>
#include <string>

namespace scs::trace {

/// What `pw-scsynth trace` is asked for.
struct Options : top::ServerOptions {
    std::string file;
    double seconds = 1;
};

/// Reads the arguments after "trace". An error is a sentence that begins with the option.
Result<Options> parse_options(std::span<const char* const> arguments);

/// What `pw-scsynth trace --help` prints.
std::string help_text();

} // namespace scs::trace
