// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/state/state.hpp"

#include "cli/top/companion.hpp"
#include "osc/arg-reader.hpp"

#include <array>
#include <filesystem>
#include <string_view>

namespace scs::state {

namespace {

constexpr top::CommandOption own_options[] = {{top::words, false}};

std::optional<Error> read_word(const std::string&, const std::string& word, Options& to) {
    if (word.empty() || !to.path.empty())
        return Error{"one file is expected"};
    to.path = std::filesystem::absolute(word).lexically_normal();
    return {};
}

constexpr const char* server_options = R"(
  -u PORT      the server's port (57110)         -t PORT      the same, by TCP
  -B ADDRESS   the server's address (127.0.0.1)  -p WORD      its password, with -t
  -h, --help   this text
)";

/// Sends a command that takes the path, and waits for its answer.
Result<bool> carry_out(const Options& options, const char* name, const char* address,
                       const std::function<std::string()>& elsewhere) {
    constexpr int look_again = 1000; // ms
    const auto opened = top::Companion::open(options, name, elsewhere);
    if (!opened)
        return Error{opened.error()};
    top::Companion& server = *opened.value();
    if (!server.answers())
        return server.end();
    server.send(address, std::array<osc::ReplyArg, 1>{std::string_view(options.path)});
    bool done = false;
    while (!done && !server.over())
        server.wait(-1, look_again, [&](const osc::Message& message) {
            osc::ArgReader args(message.args);
            done |=
                !server.fail_if_refused(message, address) && message.name() == "done" && args.get_string() == address;
        });
    if (!done && !server.end())
        return Error{server.end().error()};
    return done ? Result<bool>(true) : Error{"ended before it was done"};
}

} // namespace

Result<Options> parse_options(std::span<const char* const> arguments) {
    auto options = top::parse<Options>(arguments, own_options, read_word);
    if (options && !options.value().help && options.value().path.empty())
        return Error{"a file is missing"};
    return options;
}

std::string save_help_text() {
    return std::string(R"(usage: pw-scsynth save FILE [OPTION ...]

Writes what a running server has to FILE: SynthDefs, buffers with their samples, control buses, groups, and the synths
that don't end by themselves, with their controls. It is a score: pw-scsynth restore makes all that anew from it, so does
a server with --set restore=FILE at its start, and scsynth -N plays it.
)") + server_options;
}

std::string restore_help_text() {
    return std::string(R"(usage: pw-scsynth restore FILE [OPTION ...]

Frees all nodes of a running server and makes anew what pw-scsynth save has written to FILE. Synths begin anew, with the
controls that they had.
)") + server_options;
}

Result<bool> save(const Options& options, const std::function<std::string()>& elsewhere) {
    return carry_out(options, "save", "/state_save", elsewhere);
}

Result<bool> restore(const Options& options, const std::function<std::string()>& elsewhere) {
    return carry_out(options, "restore", "/state_restore", elsewhere);
}

} // namespace scs::state
