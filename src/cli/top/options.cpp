// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/options.hpp"

#include "osc/socket-address.hpp"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace scs::top {

namespace {

constexpr double shortest = 0.1, longest = 3600; // seconds between two samples
constexpr size_t longest_password = 31;

std::optional<double> number(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !std::isfinite(value))
        return {};
    return value;
}

std::optional<Error> read_port(const std::string& option, const std::string& value, Options& to) {
    const auto port = number(value);
    if (!port || *port != std::trunc(*port) || *port < 1 || *port > 65535)
        return Error{option + " " + value + ": expected a port, 1 to 65535"};
    to.port = int(*port);
    to.tcp = option == "-t";
    return {};
}

std::optional<Error> read_value(const std::string& option, const std::string& value, Options& to) {
    if (option == "-u" || option == "-t")
        return read_port(option, value, to);
    if (option == "-B") {
        if (!osc::to_sockaddr(value, 1))
            return Error{"-B " + value + ": expected an IPv4 address"};
        to.host = value;
    } else if (option == "-p") {
        if (value.empty() || value.size() > longest_password)
            return Error{"-p: expected a password of at most " + std::to_string(longest_password) + " bytes"};
        to.password = value;
    } else if (option == "-d") {
        const auto seconds = number(value);
        if (!seconds || *seconds < shortest || *seconds > longest)
            return Error{"-d " + value + ": expected seconds, 0.1 to 3600"};
        to.seconds = *seconds;
    } else if (option == "--filter") {
        to.view.filter = value;
    } else if (value == "cost" || value == "voices" || value == "name") {
        to.view.sort = value == "cost" ? Sort::cost : value == "voices" ? Sort::voices : Sort::name;
    } else {
        return Error{"--sort " + value + ": expected cost, voices or name"};
    }
    return {};
}

} // namespace

Result<Options> parse_options(std::span<const char* const> arguments) {
    Options options;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const std::string option = arguments[i];
        if (option == "-h" || option == "--help") {
            options.help = true;
            return options;
        }
        if (option == "--once") {
            options.once = true;
        } else if (option == "--json") {
            options.json = true;
        } else if (option == "-u" || option == "-t" || option == "-B" || option == "-p" || option == "-d" ||
                   option == "--sort" || option == "--filter") {
            if (++i == arguments.size())
                return Error{option + ": expected a value after it"};
            if (auto error = read_value(option, arguments[i], options))
                return std::move(*error);
        } else {
            return Error{option + ": no such option"};
        }
    }
    if (!options.password.empty() && !options.tcp)
        return Error{"-p: a password is for TCP, so the port is that of -t"};
    return options;
}

std::string help_text() {
    return R"(usage: pw-scsynth top [OPTION ...]

Shows what the groups of a running server cost, as top does with processes.

  -u PORT      the server's port (57110)         -t PORT      the same, asked by TCP
  -B ADDRESS   the server's address (127.0.0.1)  -p WORD      its password, with -t
  -d SECONDS   between two samples (1)           -h, --help   this text
  --sort WORD  cost, voices or name              --filter TEXT  groups and SynthDefs with it
  --once       prints one sample and ends        --json       prints a JSON object for each sample

Keys: q quit, h help, p pause, c v n sort, / filter, + - depth, arrows scroll. "man pw-scsynth" says more.
)";
}

} // namespace scs::top
