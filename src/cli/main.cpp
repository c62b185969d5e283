// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/command-line.hpp"
#include "cli/gamepad/gamepad.hpp"
#include "cli/launcher.hpp"
#include "cli/link/link.hpp"
#include "cli/pointer/pointer.hpp"
#include "cli/score-file.hpp"
#include "cli/server-list.hpp"
#include "cli/setting-text.hpp"
#include "cli/state/state.hpp"
#include "cli/status/status.hpp"
#include "cli/top/top.hpp"
#include "cli/trace/trace.hpp"
#include "cli/transport/transport.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace {

/// Clients that start a server know a failed start by the word ERROR, which scsynth prints, too.
int fail(const std::string& text) {
    std::fprintf(stderr, "ERROR: pw-scsynth: %s\n", text.c_str());
    return 1;
}

/// Every user can read the arguments of every process.
void hide_passwords(std::span<char* const> arguments) {
    for (size_t i = 0; i + 1 < arguments.size(); ++i) {
        const std::string_view option = arguments[i], value = arguments[i + 1];
        const size_t start = option == "-p"                           ? 0
                             : option != "--set"                      ? value.npos
                             : value.starts_with("password=")         ? value.find('=') + 1
                             : value.starts_with("scsynth.password=") ? value.find('=') + 1
                                                                      : value.npos;
        if (start != value.npos)
            std::fill(arguments[i + 1] + start, arguments[i + 1] + value.size(), '*');
    }
}

/// A command that talks to a running server. act(options) returns a Result.
template <class Parse, class Act>
int run_command(const std::string& name, Parse&& parse, const std::string& help, std::span<char* const> arguments,
                Act&& act) {
    const auto options = parse({arguments.data(), arguments.size()});
    hide_passwords(arguments);
    if (!options)
        return fail(name + ": " + options.error() + "\npw-scsynth " + name + " --help lists the options");
    if (options.value().help) {
        std::fputs(help.c_str(), stdout);
        return 0;
    }
    const auto ended = act(options.value());
    return ended ? 0 : fail(ended.error());
}

int run_top(std::span<char* const> arguments) {
    return run_command("top", scs::top::parse_options, scs::top::help_text(), arguments, [](const auto& options) {
        return scs::top::run(options, [] { return scs::cli::list_servers("top"); });
    });
}

int run_status(std::span<char* const> arguments) {
    return run_command("status", scs::status::parse_options, scs::status::help_text(), arguments,
                       [](const auto& options) {
                           return scs::status::run(
                               options, [] { return scs::cli::list_servers("status"); }, scs::cli::look_around);
                       });
}

int run_trace(std::span<char* const> arguments) {
    return run_command("trace", scs::trace::parse_options, scs::trace::help_text(), arguments, [](const auto& options) {
        auto ended = scs::trace::run(options, [] { return scs::cli::list_servers("trace"); });
        if (ended)
            std::printf("%s\n", ended.value().c_str());
        return ended;
    });
}

int run_pointer(std::span<char* const> arguments) {
    return run_command("pointer", scs::pointer::parse_options, scs::pointer::help_text(), arguments,
                       [](const auto& options) {
                           return scs::pointer::run(options, [] { return scs::cli::list_servers("pointer"); });
                       });
}

int run_transport(std::span<char* const> arguments) {
    return run_command("transport", scs::transport::parse_options, scs::transport::help_text(), arguments,
                       [](const auto& options) {
                           return scs::transport::run(options, [] { return scs::cli::list_servers("transport"); });
                       });
}

int run_link(std::span<char* const> arguments) {
    return run_command("link", scs::link::parse_options, scs::link::help_text(), arguments, [](const auto& options) {
        return scs::link::run(options, [] { return scs::cli::list_servers("link"); });
    });
}

int run_gamepad(std::span<char* const> arguments) {
    return run_command("gamepad", scs::gamepad::parse_options, scs::gamepad::help_text(), arguments,
                       [](const auto& options) {
                           return scs::gamepad::run(options, [] { return scs::cli::list_servers("gamepad"); });
                       });
}

int run_save(std::span<char* const> arguments) {
    return run_command(
        "save", scs::state::parse_options, scs::state::save_help_text(), arguments,
        [](const auto& options) { return scs::state::save(options, [] { return scs::cli::list_servers("save"); }); });
}

int run_restore(std::span<char* const> arguments) {
    return run_command("restore", scs::state::parse_options, scs::state::restore_help_text(), arguments,
                       [](const auto& options) {
                           return scs::state::restore(options, [] { return scs::cli::list_servers("restore"); });
                       });
}

int print_devices() {
    const auto lines = scs::cli::list_devices();
    if (!lines)
        return fail("--devices: " + lines.error());
    std::fputs(lines.value().c_str(), stdout);
    return 0;
}

int run(std::span<char* const> arguments) {
    using Command = int (*)(std::span<char* const>);
    static constexpr std::pair<std::string_view, Command> commands[] = {
        {"status", run_status},       {"top", run_top},   {"trace", run_trace},     {"pointer", run_pointer},
        {"transport", run_transport}, {"link", run_link}, {"gamepad", run_gamepad}, {"save", run_save},
        {"restore", run_restore},
    };
    for (const auto& [name, command] : commands)
        if (!arguments.empty() && arguments[0] == name)
            return command(arguments.subspan(1));
    using scs::cli::CommandLine;
    const auto parsed = scs::cli::parse_command_line({arguments.data(), arguments.size()});
    hide_passwords(arguments);
    if (!parsed)
        return fail(parsed.error() + "\npw-scsynth --help lists the options");
    const CommandLine& line = parsed.value();
    switch (line.action) {
    case CommandLine::Action::help: std::fputs(scs::cli::help_text().c_str(), stdout); return 0;
    case CommandLine::Action::version:
        // Overtone and Sonic Pi look for scsynth's name and version in it, and choose their options by that.
        std::puts("scsynth 3.13.0 (pw-scsynth " SCS_VERSION ")");
        return 0;
    case CommandLine::Action::devices: return print_devices();
    case CommandLine::Action::render:
    case CommandLine::Action::launch: break;
    }

    if (line.verbosity >= 0)
        for (const std::string& warning : line.warnings)
            std::fprintf(stderr, "pw-scsynth: %s\n", warning.c_str());
    if (line.action == CommandLine::Action::render) {
        const auto rendered = scs::cli::render_score_file(line);
        return rendered ? 0 : fail(rendered.error());
    }
    const auto ended = scs::cli::run_server(line);
    return ended ? 0 : fail(ended.error());
}

} // namespace

int main(int argc, char** argv) try {
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // a client reads it through a pipe
    return run({argv + (argc > 0), argv + argc});
} catch (const std::exception& error) {
    return fail(error.what());
}
