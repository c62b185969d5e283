// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/status/options.hpp"

#include <optional>

namespace scs::status {

namespace {

constexpr top::CommandOption own_options[] = {{"--json", false}, {"--all", false}};

std::optional<Error> read_option(const std::string& option, const std::string&, Options& to) {
    (option == "--json" ? to.json : to.all) = true;
    return {};
}

} // namespace

Result<Options> parse_options(std::span<const char* const> arguments) {
    return top::parse<Options>(arguments, own_options, read_option);
}

std::string help_text() {
    return R"(usage: pw-scsynth status [OPTION ...]

Says what a running server has: nodes with the values of their controls, SynthDefs, buffers, bindings, devices.

  -u PORT      the server's port (57110)         -t PORT      the same, asked by TCP
  -B ADDRESS   the server's address (127.0.0.1)  -p WORD      its password, with -t
  --json       all of it, as a JSON object       --all        long lists and lines whole
  -h, --help   this text
)";
}

} // namespace scs::status
