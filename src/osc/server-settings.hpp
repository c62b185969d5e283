// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/settings.hpp"

#include <functional>
#include <memory>
#include <string>

namespace scs {
class HelperPool;
}

namespace scs::osc {

/// Settings of the server around an engine. What the fields may be is in the table below.
struct ServerSettings {
    Settings engine;
    int port = 57110;               ///< UDP and TCP; 0: any free one
    bool tcp = true;                ///< whether to listen on TCP, too
    std::string udp = "auto";       ///< whether to listen on UDP: "true", "false", "auto": without a password
    std::string bind = "127.0.0.1"; ///< address to listen on
    std::string socket = "auto";    ///< the Unix socket's path; "auto": after the port; "none"
    std::string allow = "own";      ///< whose packets are obeyed: "own", "user" or "any"
    int max_logins = 4;             ///< clients that may be notified at once
    std::string password;           ///< what TCP clients send first, at most 31 bytes; empty: nothing
    std::string synthdef_path;      ///< colon-separated folders of .scsyndef files
    bool load_synthdefs = true;     ///< load them at start
    std::string bindings;           ///< what keys play from the start: see parse_bindings()
    bool control_osc = false;       ///< whether OSC of control ports is carried out
    int control_outputs = 0;        ///< ports for notes that commands send, and for what synths tell
    std::string instruments;        ///< folder of the SynthDefs that only bindings find; no setting
    std::string restricted_path;    ///< file commands may only touch what is below; empty: anything
    bool shared_memory = true;      ///< whether to open the segment by which local clients see buses and scopes
    int plugin_job_limit = 0;       ///< seconds that a plugin's job may take; 0: no limit
    std::string keep = "all";       ///< what comes back when the engine broke: "none", "definitions", "all"
    std::string keep_path;          ///< folder in memory in which that outlives the process; empty: none
    std::string restore;            ///< path of a saved state to begin with; empty: none
    bool allow_quit = true;         ///< whether /quit ends the node, or only frees everything
    std::string print_to;           ///< path of a PrintSocket that gets all but debug lines; empty: only the log
    std::string crash_marker;       ///< path of a CrashMarker; empty: none

    /// [osc, worker] One line for the log, without a newline. Must be thread-safe and must not block for long. output:
    /// what the server was asked to print (Poll, /dumpOSC …), to be shown wherever warnings are. If `print_to` is
    /// connected, output and info go only there.
    enum class Level { error, warning, output, info, debug };
    std::function<void(Level, const std::string&)> log;
    /// [osc] Wakes the data loop so that it calls Engine::run_idle(); called only when no cycle has run for 50 ms.
    std::function<void()> wake;
    /// [osc] /quit has been answered and the server has stopped listening: the node may go.
    std::function<void()> quit;
    /// [osc] A command that makes a synth has come after Server::rest(). It hasn't been carried out yet.
    std::function<void()> rouse;
    std::shared_ptr<HelperPool> helpers; ///< Engine::create()'s
    /// [osc, worker] The state changed: "starting" → "running" or "failed: <why>"; later "quit".
    std::function<void(const std::string& state)> state;
};

/// Whether the settings ask for UDP. [any]
inline bool serves_udp(const ServerSettings& settings) noexcept {
    return settings.udp == "true" || (settings.udp == "auto" && settings.password.empty());
}

/// The server's part of the settings; see engine_settings.
inline constexpr SettingRow<ServerSettings> server_settings[] = {
    {&ServerSettings::port,
     {.key = "osc.port",
      .low = 0,
      .high = 65535,
      .letter = 'u',
      .value = "PORT",
      .help = "UDP port; 0: any free one",
      .more = "Which one that is, the node's property says, and `pw-scsynth` prints it."}},
    {&ServerSettings::tcp,
     {.key = "osc.tcp",
      .letter = 't',
      .scsynth_default = false,
      .value = "PORT",
      .help = "serve TCP, too, on the same port",
      .more = "The option takes the port, which must be that of `-u` if both are given, as UDP is served there, too."}},
    {&ServerSettings::udp,
     {.key = "osc.udp",
      .choices = "auto|true|false",
      .help = "serve UDP",
      .more = "auto: unless there is a password, as UDP has none."}},
    {&ServerSettings::bind, {.key = "osc.bind", .letter = 'B', .value = "ADDRESS", .help = "the address to listen on"}},
    {&ServerSettings::socket,
     {.key = "osc.socket",
      .value = "PATH",
      .help = "a Unix socket beside the port",
      .more =
          "Whoever may use its file commands the server, by OSC as in TCP: mode 0600, so the user who runs the server. "
          "auto: `pw-scsynth-PORT` in the runtime folder (`XDG_RUNTIME_DIR`), if there is one. none: no socket."}},
    {&ServerSettings::allow,
     {.key = "allow",
      .choices = "own|user|any",
      .help = "whose commands are obeyed",
      .more =
          "own: those of programs of the user who runs the server that are in no sandbox (Flatpak, Snap, a "
          "container), and of root. A packet whose sender is gone when it is read is refused, too. user: those of all "
          "the user's programs, and of root; then say `restricted-path`, too. any: everybody's who reaches the "
          "address. An address beyond this machine needs it; `pw-scsynth -B` implies it there."}},
    {&ServerSettings::password,
     {.key = "password",
      .letter = 'p',
      .value = "WORD",
      .unset = "none",
      .help = "what TCP clients must send first",
      .more = "At most 31 bytes. It turns UDP off (`osc.udp`). The node doesn't show it among its properties, nor "
              "`pw-scsynth` in the list of processes."}},
    {&ServerSettings::max_logins,
     {.key = "max-logins",
      .low = 1,
      .high = 1024,
      .letter = 'l',
      .option = Setting::Option::power_of_two,
      .scsynth_default = 64,
      .value = "N",
      .help = "clients at once",
      .more = "sclang's `Server.remote` refuses more than 32. `-l 0` is taken for 1, as scsynth does."}},
    {&ServerSettings::load_synthdefs,
     {.key = "load-synthdefs",
      .letter = 'D',
      .value = "0|1",
      .help = "load SynthDefs at the start",
      .more = "They are those of `synthdef-path`."}},
    {&ServerSettings::synthdef_path,
     {.key = "synthdef-path",
      .value = "PATHS",
      .unset = "SuperCollider's own",
      .help = "folders of the SynthDefs to load at the start",
      .more = "Colons separate them. The default is `SC_SYNTHDEF_PATH`, that of `pw-scsynth` if it makes the node, or "
              "else `synthdefs` in the user's SuperCollider folder."}},
    {&ServerSettings::bindings,
     {.key = "bindings",
      .value = "LIST",
      .unset = "none",
      .help = "SynthDefs that keys play from the start",
      .more = "Their names, each with options of `/bind_keys` after it, semicolons between them: `pad channel 0; bass "
              "channel 1 mode legato`, in quotes in a configuration. Their IDs are -1, -2 and so on. The SynthDefs are "
              "those of `synthdef-path`, then the "
              "package's `keys`, `pad` and `bass`, or what a client sends later."}},
    {&ServerSettings::control_osc,
     {.key = "control-osc",
      .help = "carry out OSC that comes to control inputs",
      .more = "Whoever may link to the node may then send it commands, at their frame: those of `/bind_command` in "
              "docs/commands.md."}},
    {&ServerSettings::control_outputs,
     {.key = "control-outputs",
      .low = 0,
      .high = 16,
      .value = "N",
      .help = "outputs for notes, controllers and what synths send",
      .more = "Ports by which the server plays instruments: `/midi_send` in docs/commands.md. The first one has what "
              "synths send, too, as OSC."}},
    {&ServerSettings::restricted_path,
     {.key = "restricted-path",
      .letter = 'P',
      .option = Setting::Option::path,
      .value = "PATH",
      .unset = "none",
      .help = "folder outside of which commands touch no files"}},
    {&ServerSettings::shared_memory,
     {.key = "shared-memory",
      .help = "scopes and synchronous buses for clients on this machine",
      .more = "It takes 8 MiB in /dev/shm."}},
    {&ServerSettings::print_to,
     {.key = "print-to",
      .value = "PATH",
      .unset = "the daemon's log",
      .help = "socket that gets what the server prints",
      .more = "A Unix socket (`SOCK_SEQPACKET`). `pw-scsynth` makes one."}},
    {&ServerSettings::crash_marker,
     {.key = "crash-marker",
      .value = "PATH",
      .unset = "none",
      .help = "file that is left if the process crashes",
      .more = "It is written if it isn't there. The module gives it."}},
    {&ServerSettings::plugin_job_limit,
     {.key = "plugin-job-limit",
      .low = 0,
      .high = 1000000,
      .value = "SECONDS",
      .help = "how long a plugin's job may take; 0: as long as it wants",
      .more = "A job is what a command of a plugin does beside the sound, or `/b_gen`. One that takes longer is ended: "
              "the client gets `/fail`, and the log names it. One that waits inside the C library is given twice the "
              "time."}},
    {&ServerSettings::keep,
     {.key = "keep",
      .choices = "none|definitions|all",
      .help = "what comes back after a crash of the engine",
      .more =
          "definitions: SynthDefs. all: buffers, control buses, groups and the synths that don't end by themselves, "
          "too. docs/safety.md says how."}},
    {&ServerSettings::keep_path,
     {.key = "keep-path",
      .option = Setting::Option::path,
      .value = "PATH",
      .unset = "in the user's runtime folder",
      .help = "folder in memory in which `keep` outlives the process",
      .more = "Without a fixed port there is none. Buffers are kept as long as a quarter of the file system is free."}},
    {&ServerSettings::restore,
     {.key = "restore",
      .option = Setting::Option::path,
      .value = "PATH",
      .unset = "none",
      .help = "a saved state to begin with",
      .more = "It is what `pw-scsynth save` or `/state_save` has written."}},
    {&ServerSettings::allow_quit,
     {.key = "allow-quit",
      .unset = "true if a client made the node",
      .help = "/quit removes the node",
      .more = "false: it only frees everything."}},
};

} // namespace scs::osc
