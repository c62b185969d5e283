// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/options.hpp"

#include <optional>

namespace scs::top {

namespace {

constexpr size_t most_hosts = 256;
constexpr double shortest = 0.1, longest = 3600; // seconds between two samples

constexpr CommandOption own_options[] = {{"-d", true},      {"--sort", true},  {"--filter", true},
                                         {"--once", false}, {"--json", false}, {words, true}};

std::optional<Error> read_option(const std::string& option, const std::string& value, Options& to) {
    if (option == words) {
        // The other options have been read by now.
        const auto host = read_host(value, to.port);
        if (!host)
            return Error{host.error()};
        if (to.hosts.size() == most_hosts)
            return Error{value + ": there may be " + std::to_string(most_hosts) + " hosts at most"};
        to.hosts.push_back(host.value());
    } else if (option == "--once") {
        to.once = true;
    } else if (option == "--json") {
        to.json = true;
    } else if (option == "-d") {
        const auto seconds = read_number(value, shortest, longest);
        if (!seconds)
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
    auto options = parse<Options>(arguments, own_options, read_option);
    if (options && !options.value().hosts.empty() && options.value().host != ServerOptions().host)
        return Error{"-B " + options.value().host + ": hosts are named as well; name this one as they are"};
    return options;
}

std::string help_text() {
    return R"(usage: pw-scsynth top [OPTION ...] [HOST[:PORT] ...]

Shows what the groups of a running server cost, as top does with processes; of several hosts' servers, a line
each with its load.

  -u PORT      the server's port (57110)         -t PORT      the same, asked by TCP
  -B ADDRESS   the server's address (127.0.0.1)  -p WORD      its password, with -t
  -d SECONDS   between two samples (1)           -h, --help   this text
  --sort WORD  cost, voices or name              --filter TEXT  groups and SynthDefs with it
  --once       prints one sample and ends        --json       prints a JSON object for each sample

Keys: q quit, h help, p pause, c v n sort, / filter, + - depth, arrows scroll. "man pw-scsynth" says more.
)";
}

} // namespace scs::top
