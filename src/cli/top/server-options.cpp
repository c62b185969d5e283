// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/server-options.hpp"

#include "osc/socket-address.hpp"

#include <cmath>
#include <cstdlib>
#include <getopt.h>
#include <string_view>
#include <vector>

namespace scs::top {

namespace {

constexpr size_t longest_password = 31;
constexpr const char* server_letters = "u:t:B:p:";
constexpr int first_long = 256; ///< what getopt_long() returns for long options: no letter

/// What getopt_long() is given.
struct Table {
    explicit Table(std::span<const CommandOption> own) : letters(std::string(":h") + server_letters) {
        longs.push_back({"help", no_argument, nullptr, 'h'});
        for (const CommandOption& each : own) {
            const bool is_long = std::string_view(each.name).starts_with("--");
            if (std::string_view(each.name) == words) {
                has_words = true;
            } else if (is_long) {
                longs.push_back({each.name + 2, each.has_value ? required_argument : no_argument, nullptr,
                                 first_long + int(names.size())});
                names.emplace_back(each.name);
            } else {
                letters += each.name[1];
                letters += each.has_value ? ":" : "";
            }
        }
        longs.push_back({});
    }
    std::string name(int code) const {
        return code >= first_long ? names[size_t(code - first_long)] : std::string{'-', char(code)};
    }

    std::string letters;
    bool has_words = false;
    std::vector<option> longs;
    std::vector<std::string> names;
};

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
        const auto port = read_number(value, 1, 65535);
        if (!port || *port != std::trunc(*port))
            return Error{option + " " + value + ": expected a port, 1 to 65535"};
        to.port = int(*port);
        to.tcp = option == "-t";
    }
    return {};
}

} // namespace

std::optional<double> read_number(const std::string& text, double low, double high) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !(value >= low && value <= high)) // also if it is NaN
        return {};
    return value;
}

std::optional<Error>
read_options(std::span<const char* const> arguments, std::span<const CommandOption> own, ServerOptions& server,
             const std::function<std::optional<Error>(const std::string& option, const std::string& value)>& take) {
    const Table table(own);
    std::vector<char*> argv{const_cast<char*>("pw-scsynth")}; // getopt_long() writes to none of them
    for (const char* argument : arguments)
        argv.push_back(const_cast<char*>(argument));
    argv.push_back(nullptr);
    const auto at = [&](int index) { return std::string(argv[size_t(index)]); };
    ::optind = 0;
    while (true) {
        const int found =
            ::getopt_long(int(arguments.size()) + 1, argv.data(), table.letters.c_str(), table.longs.data(), nullptr);
        if (found == -1)
            break;
        if (found == '?')
            return Error{(::optopt > 0 && ::optopt < first_long ? std::string{'-', char(::optopt)} : at(::optind - 1)) +
                         ": no such option"};
        if (found == ':')
            return Error{table.name(::optopt) + ": expected a value after it"};
        if (found == 'h') {
            server.help = true;
            return {};
        }
        const std::string option = table.name(found), value = ::optarg ? ::optarg : "";
        const bool is_own =
            found >= first_long || std::string_view(server_letters).find(char(found)) == std::string::npos;
        if (auto error = is_own ? take(option, value) : read_server_option(option, value, server))
            return error;
    }
    for (int word = ::optind; word <= int(arguments.size()); ++word) {
        if (!table.has_words)
            return Error{at(word) + ": no such option"};
        if (auto error = take(words, at(word)))
            return error;
    }
    if (!server.password.empty() && !server.tcp)
        return Error{"-p: a password is for TCP, so the port is that of -t"};
    return {};
}

bool ServerOptions::is_remote() const {
    const auto address = osc::to_sockaddr(host, uint16_t(port));
    return address && !osc::is_loopback(address.value().sin_addr);
}

std::string how_to_find_server(const ServerOptions& options, const std::string& command, const std::string& others) {
    const std::string port = std::to_string(options.port);
    if (options.is_remote())
        return std::string("\na server that other machines reach is started there with -B and the address of that "
                           "network interface, or has this in scsynth.osc.bind, and scsynth.allow = any: then everyone "
                           "who reaches it is obeyed, files included (docs/safety.md)") +
               (options.tcp ? "; it may also have another password (-p), or none" : "");
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
