// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/trace/options.hpp"

#include <optional>

namespace scs::trace {

namespace {

constexpr double shortest = 0.01, longest = 60; // seconds

constexpr top::CommandOption own_options[] = {{"-o", true}, {"--seconds", true}};

std::optional<Error> read_option(const std::string& option, const std::string& value, Options& to) {
    if (option == "-o") {
        if (value.empty())
            return Error{"-o: expected a file"};
        to.file = value;
        return {};
    }
    const auto seconds = top::read_number(value, shortest, longest);
    if (!seconds)
        return Error{option + " " + value + ": expected seconds, 0.01 to 60"};
    to.seconds = *seconds;
    return {};
}

} // namespace

Result<Options> parse_options(std::span<const char* const> arguments) {
    auto options = top::parse<Options>(arguments, own_options, read_option);
    if (options && !options.value().help && options.value().file.empty())
        return Error{"-o: expected a file to write"};
    return options;
}

std::string help_text() {
    return R"(usage: pw-scsynth trace -o FILE [OPTION ...]

Records for a while what each thread of a running server does when, to be looked at in https://ui.perfetto.dev or
in chrome://tracing.

  -o FILE      where to write it, as JSON        --seconds N  for how long, 0.01 to 60 (1); Ctrl-C ends it sooner
  -u PORT      the server's port (57110)         -t PORT      the same, asked by TCP
  -B ADDRESS   the server's address (127.0.0.1)  -p WORD      its password, with -t
  -h, --help   this text
)";
}

} // namespace scs::trace
