// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace scs::cli {

/// The six arguments of -N.
struct ScoreArguments {
    std::string score;          ///< a file, or "_" for standard input
    std::string input;          ///< a sound file, or "_" for none
    std::string output;         ///< the sound file to write
    int rate = 0;               ///< Hz
    std::string header, sample; ///< scsynth's names of the format: "WAV", "int24" …
};

/// What a command line asks for.
struct CommandLine {
    enum class Action { launch, render, devices, help, version };

    Action action = Action::launch;
    /// The server's settings by the keys of its node (`scsynth.outputs` …), each checked. Where scsynth has another
    /// default than the node, scsynth's is among them.
    std::vector<std::pair<std::string, std::string>> settings;
    ScoreArguments score; ///< of Action::render
    std::string device;   ///< -H with one value: part of a device's name, the server's name, or "sink:source"
    std::string in_device, out_device; ///< -H with two values; empty: the default device
    int quantum = 0;                   ///< -Z: frames asked for; 0: whatever there is
    int rate = 0;                      ///< -S: Hz asked for; 0: the graph's
    int port = -1;                     ///< of -u or -t
    int verbosity = 0;
    int wait = 30;                ///< --wait: seconds to wait for PipeWire at the start
    bool take_over = false;       ///< replace a node of ours that has the port
    bool pointer = true;          ///< follow the pointer where synths ask for it; --no-pointer: don't
    bool in_this_process = false; ///< --client
    /// --isolated, of the module alone: the node's properties come on standard input, and nothing else here counts. The
    /// program ends when that is closed.
    bool isolated = false;
    std::string ugen_path_is_from = "-U"; ///< what named the folders of scsynth.ugen-path
    std::vector<std::string> warnings;    ///< options that do nothing here, one sentence each
};

/// Reads the arguments after the program's name as scsynth does: an option is one letter, its values follow as
/// arguments of their own. Of an option given twice the last one counts. A number may be written as sclang writes a
/// float ("4096.0"). -H takes one value ("sink:source", one name for both, or the server's own) or two (scsynth's input
/// and output).
/// --set KEY=VALUE gives any setting of the node, "scsynth.KEY". With --bind the port needs no option. Relative paths,
/// except in --set, become absolute, because another process will open them. Besides the arguments it reads only
/// SC_SYNTHDEF_PATH, SC_PLUGIN_PATH and the working directory. An error is a sentence that begins with the option.
Result<CommandLine> parse_command_line(std::span<const char* const> arguments);

} // namespace scs::cli
