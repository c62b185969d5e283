// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace scs::top {

/// Which server is asked.
struct ServerOptions {
    std::string host = "127.0.0.1"; ///< an IPv4 address
    int port = 57110;
    bool tcp = false;
    std::string password; ///< sent first; with TCP only

    std::string name() const { return host + ":" + std::to_string(port); }
};

/// A number from `low` to `high`, and nothing after it.
std::optional<double> read_number(const std::string& text, double low, double high);

/// The name of what isn't an option but follows them.
inline constexpr const char* words = "";

/// An option that one command has beside those for a server, or words.
struct CommandOption {
    const char* name; ///< "-d" or "--sort"
    bool has_value;
};

/// Reads arguments as getopt_long() does: -u or -t for the port, -B for the address and -p for the password, -h and
/// --help, and those of the command, which `take` gets, with an empty value if they have none; words, one by one. True:
/// help is asked for; what follows that isn't read. An error is a sentence that begins with the option.
Result<bool>
read_options(std::span<const char* const> arguments, std::span<const CommandOption> own, ServerOptions&,
             const std::function<std::optional<Error>(const std::string& option, const std::string& value)>& take);

/// What to do if none answers, for a message: it begins with a line feed. `command`: the word after pw-scsynth;
/// `others`: which servers there are, in lines; may be empty.
std::string how_to_find_server(const ServerOptions&, const std::string& command, const std::string& others);

} // namespace scs::top
