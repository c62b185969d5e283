// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/transport/options.hpp"

#include <cmath>
#include <optional>

namespace scs::transport {

namespace {

constexpr top::CommandOption own_options[] = {{"--tempo", true}, {"--beats-per-bar", true}};

std::optional<Error> read_option(const std::string& option, const std::string& value, Options& to) {
    if (option == "--tempo") {
        const auto bpm = top::read_number(value, 1, 6000);
        if (!bpm)
            return Error{option + " " + value + ": expected beats a minute, 1 to 6000"};
        to.tempo = *bpm / 60;
        return {};
    }
    const auto beats = top::read_number(value, 1, 64);
    if (!beats || *beats != std::floor(*beats))
        return Error{option + " " + value + ": expected 1 to 64"};
    to.beats_per_bar = int(*beats);
    return {};
}

} // namespace

Result<Options> parse_options(std::span<const char* const> arguments) {
    return top::parse<Options>(arguments, own_options, read_option);
}

std::string help_text() {
    return R"(usage: pw-scsynth transport [OPTION ...]

Drives the transport of PipeWire's graph, as a JACK client: other programs see its tempo, beats and bars. It obeys a
running server's clients, which send /transport with "start", "stop", "locate" and a beat, or "tempo" and beats a
second. It stays until Ctrl-C or SIGTERM.

  --tempo BPM           beats a minute, 1 to 6000 (120)
  --beats-per-bar N     1 to 64 (4)
  -u PORT      the server's port (57110)         -t PORT      the same, by TCP
  -B ADDRESS   the server's address (127.0.0.1)  -p WORD      its password, with -t
  -h, --help   this text
)";
}

} // namespace scs::transport
