// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/setting.hpp"

#include <climits>
#include <string>

namespace scs {

struct HelpPolicy;

/// The generation of plugin files that is never over; see Settings::plugins.
inline constexpr int newest_plugins = INT_MAX - 1;

/// What an engine is made with. Fixed for its life, except for the sample rate. The table below says which values are
/// allowed.
struct Settings {
    int inputs = 2;  ///< they sit on the buses after the outputs
    int outputs = 2; ///< they sit on the buses 0 … outputs - 1
    int audio_buses = 1024;
    int control_buses = 16384;
    int buffers = 1024;
    int max_nodes = 1024;
    int max_synthdefs = 1024;
    int rt_memory_kib = 8192;
    int block_size = 64; ///< frames
    int wire_buffers = 64;
    int random_seeds = 64;
    int threads = 0; ///< 0: Engine::create() decides
    std::string parallel = "auto";
    int plugins = newest_plugins;     ///< not a setting: the generation of plugin files that the engine sees
    bool reluctant = false;           ///< not a setting: helper threads are asked only when one thread is hardly enough
    const HelpPolicy* help = nullptr; ///< not a setting, and must live longer; null: HelpPolicy::usual
    int verbosity = 0;
    double cpu_limit = 0.7;  ///< of a cycle's time, what all engines of a data loop may take; 0: no limit
    double output_limit = 0; ///< absolute, of a sample; 0: none
    std::string overload = "shed";
    bool native_ugens = true;
    bool batching = true;
    std::string simd = "auto";
    std::string supercollider = "auto"; ///< or name_of() a Release
    std::string ugen_path;              ///< empty: SuperCollider's own folders
    int max_quantum = 8192;             ///< the longest cycle process() will be asked for, frames; see quantum_limit
    double sample_rate = 48000;         ///< Hz, nominal, lowest_rate … highest_rate
    bool real_time = true;              ///< false: offline, slow jobs run in place and nothing is notified
};

/// Hz, of the engine and of the graph.
constexpr int lowest_rate = 1000, highest_rate = 768000;

/// Units see buffers' numbers as floats, also those of synths' own buffers, which follow the table's: together they
/// have to stay below 2^24.
constexpr int most_buffers = 1 << 23;

/// The engine's part of the settings. The node's properties, pw-scsynth's command line, its help, the engine's own
/// checks, and the tables in docs/settings.md and the man page come from these rows.
inline constexpr SettingRow<Settings> engine_settings[] = {
    {&Settings::inputs,
     {.key = "inputs",
      .low = 0,
      .high = 1024,
      .letter = 'i',
      .scsynth_default = 8,
      .value = "N",
      .help = "audio inputs",
      .more = "Each is a mono port."}},
    {&Settings::outputs,
     {.key = "outputs",
      .low = 0,
      .high = 1024,
      .letter = 'o',
      .scsynth_default = 8,
      .value = "N",
      .help = "audio outputs",
      .more = "Each is a mono port."}},
    {&Settings::audio_buses,
     {.key = "audio-buses",
      .low = 1,
      .high = 1 << 20,
      .letter = 'a',
      .value = "N",
      .help = "audio buses",
      .more = "The inputs and outputs are among them."}},
    {&Settings::control_buses,
     {.key = "control-buses", .low = 1, .high = 1 << 20, .letter = 'c', .value = "N", .help = "control buses"}},
    {&Settings::buffers,
     {.key = "buffers",
      .low = 1,
      .high = most_buffers,
      .letter = 'b',
      .option = Setting::Option::power_of_two,
      .value = "N",
      .help = "sample buffers"}},
    {&Settings::max_nodes,
     {.key = "max-nodes",
      .low = 2,
      .high = 1 << 20,
      .letter = 'n',
      .option = Setting::Option::power_of_two,
      .value = "N",
      .help = "nodes",
      .more = "SuperDirt wants 8192."}},
    {&Settings::max_synthdefs,
     {.key = "max-synthdefs",
      .low = 1,
      .high = 1 << 20,
      .letter = 'd',
      .option = Setting::Option::power_of_two,
      .value = "N",
      .help = "SynthDefs"}},
    {&Settings::wire_buffers,
     {.key = "wire-buffers",
      .low = 1,
      .high = 65536,
      .letter = 'w',
      .value = "N",
      .help = "wire buffers",
      .more = "They are the audio signals that one SynthDef may need at once. SuperDirt wants 2048."}},
    {&Settings::random_seeds,
     {.key = "random-seeds", .low = 1, .high = 4096, .letter = 'r', .value = "N", .help = "random generators"}},
    {&Settings::rt_memory_kib,
     {.key = "rt-memory",
      .low = 64,
      .high = 1 << 30,
      .letter = 'm',
      .value = "KIB",
      .help = "KiB of real-time memory",
      .more = "72 MiB of it are taken at the start, the rest before it is used; with -N, when it is used. The server "
              "doesn't start if there is less memory."}},
    {&Settings::block_size,
     {.key = "block-size",
      .low = 1,
      .high = 1024,
      .letter = 'z',
      .option = Setting::Option::power_of_two,
      .value = "FRAMES",
      .help = "frames of a block",
      .more = "The graph's quantum may be any number. Native units want a multiple of 64."}},
    {&Settings::verbosity,
     {.key = "verbosity",
      .low = -2,
      .high = 4,
      .letter = 'V',
      .value = "N",
      .help = "verbosity",
      .more = "A negative one is quieter: `pw-scsynth` prints neither warnings nor the line \"ready\"."}},
    {&Settings::ugen_path,
     {.key = "ugen-path",
      .letter = 'U',
      .option = Setting::Option::paths,
      .value = "PATHS",
      .unset = "SuperCollider's own",
      .help = "folders of UGen plugins",
      .more =
          "Colons separate them. The builds for scsynth (`*.so`) are taken, not those for supernova "
          "(`*_supernova.so`). An empty folder, as in `:/home/me/ugens`, stands for SuperCollider's own, to which "
          "`SC_PLUGIN_PATH` adds. `pw-scsynth` passes on its `SC_PLUGIN_PATH` if the option is not given. A loaded "
          "file serves all servers of the daemon; when it has changed, those that start from then on have the new one. "
          "Folders besides SuperCollider's own must be listed in PipeWire's configuration (`conf/README.md`)."}},
    {&Settings::cpu_limit,
     {.key = "cpu-limit",
      .low = 0,
      .high = 1,
      .help = "how much of each cycle's time may be used",
      .more = "All servers of the daemon share it. What is not computed by then is left out: there is a gap in the "
              "sound, and other programs go on. 0: no limit, so that an overload stops the desktop's sound."}},
    {&Settings::overload,
     {.key = "overload",
      .choices = "shed|mute|none",
      .help = "what is done about an overload that stays",
      .more = "shed: synths that would end by themselves are ended, the newest first; if that is not enough, others "
              "are paused (`/n_off`), and run again (`/n_on`) when there is time. mute: the server is silent for a "
              "second, then tries again. none: there are gaps as long as it lasts."}},
    {&Settings::output_limit,
     {.key = "output-limit",
      .low = 0,
      .high = 1000,
      .unset = "off",
      .help = "the loudest sample that leaves the outputs",
      .more = "Louder ones are cut to it; 1 is full scale. NaN and infinity never leave them."}},
    {&Settings::native_ugens,
     {.key = "native-ugens",
      .help = "vectorised UGens of our own, where there are any",
      .more = "false: SuperCollider's own units, and so scsynth's bits."}},
    {&Settings::batching,
     {.key = "batching",
      .help = "voices of one SynthDef are computed side by side",
      .more = "false: each alone. The samples are the same bits."}},
    {&Settings::threads,
     {.key = "threads",
      .low = 0,
      .high = 64,
      .letter = 'T',
      .value = "N",
      .help = "threads that compute synths",
      .more =
          "The data loop is one of them. The others compute native voices before their turns, and several blocks at "
          "once, when there is much to do. 0: as many as there are cores, four at most; the others sleep as long as "
          "one "
          "is enough, and where they don't get the data loop's priority, which the log tells. They get it if the "
          "daemon "
          "loads our module, as the drop-in `80-scsynth-threads.conf` has it do. The samples are the same bits."}},
    {&Settings::parallel,
     {.key = "parallel",
      .choices = "auto|groups|off",
      .help = "what these threads compute at the same time",
      .more =
          "auto: whatever can be. groups: what is in parallel groups (`/p_new`), as supernova does. off: nothing. The "
          "samples are the same bits."}},
    {&Settings::simd,
     {.key = "simd",
      .choices = "auto|sse2|avx2|avx512",
      .help = "the widest instruction set to use",
      .more =
          "sse2, avx2 and avx512 compute 4, 8 and 16 voices at once. auto: the widest that the CPU has, but avx2 in "
          "place of avx512, as most pieces cost less with it; the node's property then says which. The samples are the "
          "same bits."}},
    {&Settings::supercollider,
     {.key = "supercollider",
      .choices = "auto|3.13|3.14",
      .help = "whose units the native ones sound as",
      .more = "3.14 changed what many units start with. auto: as the plugins that are loaded; the node's property then "
              "says which."}},
};

/// Not a setting: the host gives it in its property clock.quantum-limit.
inline constexpr SettingRow<Settings> quantum_limit = {
    &Settings::max_quantum, {.key = "max-quantum", .low = 1, .high = 65536, .help = "frames of the longest cycle"}};

} // namespace scs
