// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/link/options.hpp"

#include <optional>

namespace scs::link {

namespace {

constexpr top::CommandOption own_options[] = {{"--tempo", true}};

std::optional<Error> read_option(const std::string& option, const std::string& value, Options& to) {
    const auto tempo = top::read_number(value, 20, 999);
    if (!tempo)
        return Error{option + " " + value + ": expected beats a minute, 20 to 999"};
    to.tempo = *tempo;
    return {};
}

} // namespace

Result<Options> parse_options(std::span<const char* const> arguments) {
    return top::parse<Options>(arguments, own_options, read_option);
}

std::string help_text() {
    return R"(usage: pw-scsynth link [OPTION ...]

Joins the Ableton Link session of the local network and tells a running server of its beats, for /bind_beat,
LinkPhase and LinkTempo; hands on what the server's clients and synths ask of the session. It stays until Ctrl-C
or SIGTERM.

  --tempo BPM  beats a minute where no session is (120)
  -u PORT      the server's port (57110)         -t PORT      the same, by TCP
  -B ADDRESS   the server's address (127.0.0.1)  -p WORD      its password, with -t
  -h, --help   this text
)";
}

} // namespace scs::link
