// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace scs::top {

/// Which server is asked.
struct ServerOptions {
    std::string host = "127.0.0.1"; ///< an IPv4 address
    int port = 57110;
    bool tcp = false;
    std::string password; ///< sent first; with TCP only
    bool help = false;    ///< is asked for

    std::string name() const { return host + ":" + std::to_string(port); }
    /// Whether its address is one of another machine, or of this one's network interfaces.
    bool is_remote() const;
};

/// A number from `low` to `high`, and nothing after it.
std::optional<double> read_number(const std::string& text, double low, double high);

/// The name of what is no option.
inline constexpr const char* words = "";

/// An option that one command has beside those for a server, or words.
struct CommandOption {
    const char* name; ///< "-d" or "--sort"
    bool has_value;
};

/// Reads arguments as getopt_long() does: -u or -t for the port, -B for the address and -p for the password, -h and
/// --help, after which nothing is read, and those of the command, which `take` gets, with an empty value if they have
/// none; words, one by one. An error is a sentence that begins with the option.
std::optional<Error>
read_options(std::span<const char* const> arguments, std::span<const CommandOption> own, ServerOptions&,
             const std::function<std::optional<Error>(const std::string& option, const std::string& value)>& take);

/// The same, into the options of a command.
template <class Options>
Result<Options> parse(std::span<const char* const> arguments, std::span<const CommandOption> own,
                      std::optional<Error> (*take)(const std::string& option, const std::string& value, Options&)) {
    Options options;
    auto error = read_options(arguments, own, options, [&](const std::string& option, const std::string& value) {
        return take(option, value, options);
    });
    if (error)
        return std::move(*error);
    return options;
}

/// What to do if none answers, for a message: it begins with a line feed. `command`: the word after pw-scsynth;
/// `others`: which servers this machine has, in lines; may be empty, and left out if the server is_remote().
std::string how_to_find_server(const ServerOptions&, const std::string& command, const std::string& others);

} // namespace scs::top
