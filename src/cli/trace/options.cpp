// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/trace/options.hpp"

#include <optional>
#include <utility>

namespace scs::trace {

namespace {

constexpr double shortest = 0.01, longest = 60; // seconds

std::optional<Error> read_value(const std::string& option, const std::string& value, Options& to) {
    if (top::is_server_option(option))
        return top::read_server_option(option, value, to);
    if (option == "-o") {
        if (value.empty())
            return Error{"-o: expected a file"};
        to.file = value;
        return {};
    }
    const auto seconds = top::read_number(value);
    if (!seconds || *seconds < shortest || *seconds > longest)
        return Error{option + " " + value + ": expected seconds, 0.01 to 60"};
    to.seconds = *seconds;
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
        if (!top::is_server_option(option) && option != "-o" && option != "--seconds")
            return Error{option + ": no such option"};
        if (++i == arguments.size())
            return Error{option + ": expected a value after it"};
        if (auto error = read_value(option, arguments[i], options))
            return std::move(*error);
    }
    if (auto problem = top::server_options_problem(options))
        return std::move(*problem);
    if (options.file.empty())
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
