// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/server-options.hpp"
#include "engine/base/result.hpp"

#include <span>
#include <string>

namespace scs::status {

/// What `pw-scsynth status` is asked for.
struct Options : top::ServerOptions {
    bool json = false;
    bool all = false; ///< long lists, too
};

/// Reads the arguments after "status". An error is a sentence that begins with the option.
Result<Options> parse_options(std::span<const char* const> arguments);

/// What `pw-scsynth status --help` prints.
std::string help_text();

} // namespace scs::status
