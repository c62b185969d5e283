// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/server-options.hpp"

#include "osc/socket-address.hpp"

#include <cmath>
#include <cstdlib>

namespace scs::top {

namespace {

constexpr size_t longest_password = 31;

} // namespace

std::optional<double> read_number(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !std::isfinite(value))
        return {};
    return value;
}

bool is_server_option(std::string_view option) {
    return option == "-u" || option == "-t" || option == "-B" || option == "-p";
}

std::optional<Error> read_server_option(const std::string& option, const std::string& value, ServerOptions& to) {
    if (option == "-B") {
        if (!osc::to_sockaddr(value, 1))
            return Error{"-B " + value + ": expected an IPv4 address"};
        to.host = value;
    } else if (option == "-p") {
        if (value.empty() || value.size() > longest_password)
            return Error{"-p: expected a password of at most " + std::to_string(longest_password) + " bytes"};
        to.password = value;
    } else {
        const auto port = read_number(value);
        if (!port || *port != std::trunc(*port) || *port < 1 || *port > 65535)
            return Error{option + " " + value + ": expected a port, 1 to 65535"};
        to.port = int(*port);
        to.tcp = option == "-t";
    }
    return {};
}

std::optional<Error> server_options_problem(const ServerOptions& options) {
    if (!options.password.empty() && !options.tcp)
        return Error{"-p: a password is for TCP, so the port is that of -t"};
    return {};
}

std::string how_to_find_server(const ServerOptions& options, const std::string& command, const std::string& others) {
    const std::string port = std::to_string(options.port);
    if (options.tcp)
        return "\nif there is one, it may have another password (-p), or none, and answers no other user; to start "
               "one: "
               "pw-scsynth -t " +
               port + " -p WORD" + (others.empty() ? "" : "\n" + others);
    return "\nto start one: systemctl --user start pw-scsynth, or pw-scsynth -u " + port +
           "\nanother port: pw-scsynth " + command +
           " -u PORT; by TCP, with a password: -t PORT -p WORD; another user's server doesn't answer" +
           (others.empty() ? "" : "\n" + others);
}

} // namespace scs::top
