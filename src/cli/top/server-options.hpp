// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <optional>
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

/// A finite number, and nothing after it.
std::optional<double> read_number(const std::string& text);

/// Whether this is one of the options for a server, each of which has a value: -u or -t for the port, -B for the
/// address, -p for the password, as when pw-scsynth starts a server.
bool is_server_option(std::string_view option);
/// Takes its value. Returns what is wrong with it: a sentence that begins with the option.
std::optional<Error> read_server_option(const std::string& option, const std::string& value, ServerOptions& to);
/// What is wrong with all of them together.
std::optional<Error> server_options_problem(const ServerOptions&);

/// What to do if none answers, for a message: it begins with a line feed. `command`: the word behind pw-scsynth;
/// `others`: which servers there are, in lines; may be empty.
std::string how_to_find_server(const ServerOptions&, const std::string& command, const std::string& others);

} // namespace scs::top
