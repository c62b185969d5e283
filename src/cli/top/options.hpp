// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/host-name.hpp"
#include "cli/top/server-options.hpp"
#include "cli/top/view.hpp"
#include "engine/base/result.hpp"

#include <span>
#include <string>
#include <vector>

namespace scs::top {

/// What `pw-scsynth top` is asked for.
struct Options : ServerOptions {
    double seconds = 1; ///< between two samples
    bool once = false, json = false;
    View view;
    std::vector<HostName> hosts; ///< that are named; empty: the server of the options
};

/// Reads the arguments after "top". An error is a sentence that begins with the option.
Result<Options> parse_options(std::span<const char* const> arguments);

/// What `pw-scsynth top --help` prints.
std::string help_text();

} // namespace scs::top
