// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/view.hpp"
#include "engine/base/result.hpp"

#include <span>
#include <string>

namespace scs::top {

/// What `pw-scsynth top` is asked for.
struct Options {
    std::string host = "127.0.0.1"; ///< an IPv4 address
    int port = 57110;
    bool tcp = false;
    std::string password; ///< sent first; with TCP only
    double seconds = 1;   ///< between two samples
    bool once = false, json = false, help = false;
    View view;
};

/// Reads the arguments behind "top". Letters are those with which pw-scsynth starts a server: -u or -t for the port,
/// -B for the address, -p for the password. An error is a sentence that begins with the option.
Result<Options> parse_options(std::span<const char* const> arguments);

/// What `pw-scsynth top --help` prints.
std::string help_text();

} // namespace scs::top
