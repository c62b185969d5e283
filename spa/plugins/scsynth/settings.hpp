// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "osc/server-settings.hpp"
#include "volume.hpp"

#include <spa/utils/dict.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace scs::spa {

/// What a node is made with.
struct NodeSettings {
    osc::ServerSettings server;
    int sample_rate = 0;    ///< Hz that the engine keeps whatever the graph's rate; 0: it follows the graph
    bool keep_rate = false; ///< the engine keeps the rate at which the first synth or buffer is made
    int control_inputs = 1; ///< ports for notes and controllers
    std::string layout;     ///< of the outputs; see read_layout()
    std::string port_names; ///< of the outputs; see read_port_names()
    int graph_rate = 48000; ///< Hz, of a host that doesn't tell it in each cycle
    int idle_after = 10;    ///< seconds without synths; 0: never
    double volume = 1;      ///< of the outputs at the start, a factor
    bool mute = false;
    std::string name;                ///< of the node, for PipeWire and for JACK; empty: see SpaNode
    int uncounted_cycles = 0;        ///< not a setting: see async-latency.hpp
    std::vector<uint32_t> positions; ///< not a setting: the channels of the layout for the outputs that there are
    std::vector<std::string> names;  ///< not a setting: of each output
    /// Node properties that the host gave and that may replace ours: name, description, always-process, …
    std::vector<std::pair<std::string, std::string>> given;
    /// One line each for settings that are known but have no effect, or aren't known at all.
    std::vector<std::string> warnings;
};

/// The node's part of the settings; see engine_settings.
inline constexpr SettingRow<NodeSettings> node_settings[] = {
    {&NodeSettings::sample_rate,
     {.key = "sample-rate",
      .low = lowest_rate,
      .high = highest_rate,
      .letter = 'S',
      .value = "HZ",
      .unset = "the graph's",
      .help = "sample rate in Hz",
      .more = "PipeWire is asked for it (`node.rate`) and takes it while nothing else plays, if it is among its "
              "`default.clock.allowed-rates`. In a graph of another rate the server is resampled, at the right pitch "
              "and speed. `pw-scsynth` and the property `scsynth.resampling` then say so, and by how many frames that "
              "delays what goes through from the inputs to the outputs. At most 12288000 divided by the number of "
              "inputs and outputs, of which there may be 128 each."}},
    {&NodeSettings::keep_rate,
     {.key = "keep-rate",
      .help = "keep the sample rate when the graph's changes",
      .more = "From the first synth or buffer on the server stays at the rate that it has then. If the graph's rate "
              "changes, it is resampled, as with `sample-rate`: what plays keeps its pitch and speed, and clients see "
              "no change. Without it the server follows the graph, and what plays changes its pitch. The limits of "
              "`sample-rate` hold."}},
    {&NodeSettings::control_inputs,
     {.key = "control-inputs",
      .low = 0,
      .high = 16,
      .value = "N",
      .help = "inputs for notes and controllers",
      .more = "Ports that keyboards are connected to: `/bind_keys` in docs/commands.md says what they play."}},
    {&NodeSettings::layout,
     {.key = "layout",
      .value = "LIST",
      .unset = "FL, FR and AUX2 on",
      .help = "channels of the outputs in their order",
      .more =
          "The name of a layout: `mono`, `stereo`, `2.1`, `3.0`, `3.1`, `quad`, `5.0`, `5.1` (`FL FR FC LFE RL RR`), "
          "`6.1`, `7.0`, `7.1` (`FL FR FC LFE RL RR SL SR`), `5.1.2`, `5.1.4`, `7.1.2`, `7.1.4`, `ambisonics` (`AUX0` "
          "on); or a list of channels as in `audio.position`, each once: `FL FR RL RR`. Mixers show the outputs "
          "by these, and WirePlumber's policy links each to the device's channel of that name, whatever the "
          "device's order; outputs beyond the list it leaves alone. A device that has none of them is linked in "
          "its own order."}},
    {&NodeSettings::port_names,
     {.key = "port-names",
      .value = "NAMES",
      .unset = "out_1 and so on",
      .help = "names of the outputs in their order",
      .more =
          "With semicolons between: `d1 L; d1 R; d2 L; d2 R`; or a list: `[ \"d1 L\" \"d1 R\" ]`. Patchbays such as "
          "qpwgraph, `pw-link` and clients of JACK know the ports by them, so scripts that link `out_1` have to name "
          "the new ones. An output without a name keeps its number. No colons, no name twice."}},
    {&NodeSettings::graph_rate,
     {.key = "rate",
      .low = lowest_rate,
      .high = highest_rate,
      .unset = "the daemon's",
      .help = "sample rate in Hz before the graph tells its own"}},
    {&NodeSettings::idle_after,
     {.key = "idle-after",
      .low = 0,
      .high = 86400,
      .help = "seconds without synths until the devices may sleep; 0: never",
      .more =
          "Then WirePlumber's policy takes its links away (`scsynth.idle`), so that the sound card is suspended. The "
          "next command that makes a synth brings them back. While there is a binding (`/bind_keys` and others) the "
          "links stay."}},
    {&NodeSettings::volume,
     {.key = "volume",
      .low = 0,
      .high = Volume::highest,
      .help = "volume of the outputs at the start",
      .more =
          "A factor: 0.5 is -6 dB. Later the desktop's mixer sets it, or `wpctl set-volume`, whose 0.5 is -18 dB. With "
          "another value than 1, or with `mute`, WirePlumber 0.5 doesn't restore the volume that it remembers; 0.4 "
          "does so nevertheless."}},
    {&NodeSettings::mute, {.key = "mute", .help = "silent until somebody unmutes it"}},
    {&NodeSettings::name,
     {.key = "name",
      .value = "NAME",
      .unset = "scsynth, SuperCollider for JACK",
      .help = "name of the node",
      .more =
          "The default is `scsynth`, with another port than 57110 `scsynth-` and the port; for clients of JACK, and "
          "as the ports' alias, `SuperCollider`, as scsynth's. `pw-scsynth` adds -01, -02 and so on if another node "
          "has that name."}},
};

/// The highest rate in Hz of an engine with that many ports that are resampled. The graph waits meanwhile, some 50 ns
/// for each sample. [any]
constexpr int highest_resampled(int ports) noexcept {
    return ports > 0 ? 256 * 48000 / ports : highest_rate;
}

/// A value of scsynth.sink and scsynth.source: the policy makes no links there.
inline constexpr const char* no_device = "none";

/// Properties that the node only shows: the module and the WirePlumber policy read them.
inline constexpr Setting shown_settings[] = {
    {.key = "autoconnect",
     .choices = "true|false",
     .unset = "true",
     .help = "WirePlumber links the node to the default devices",
     .more = "See `wireplumber/README.md`."},
    {.key = "sink",
     .value = "NAME",
     .unset = "the default one",
     .help = "device to link the outputs to",
     .more =
         "By part of its name, nick, description or card's name, or by its whole `node.name`; `pw-scsynth --devices` "
         "lists what is there. As long as there is none, they are linked to the default one, and a line says "
         "so. `none`: no links of the policy's."},
    {.key = "source",
     .value = "NAME",
     .unset = "the default one",
     .help = "device to link the inputs to",
     .more = "As above."},
    {.key = "sink-position",
     .value = "LIST",
     .unset = "from the first on",
     .help = "channels of that device for the outputs in their order",
     .more = "Their names as in `audio.position`, or their numbers: `AUX2,AUX3` or `3,4`."},
    {.key = "source-position",
     .value = "LIST",
     .unset = "from the first on",
     .help = "channels of that device for the inputs in their order",
     .more = "As above."},
    {.key = "strict-device",
     .choices = "true|false",
     .unset = "false",
     .help = "no link to the default device in place of the one that is named"},
    {.key = "isolation",
     .choices = "loop|process",
     .unset = "loop",
     .help = "where a node of the daemon's configuration runs",
     .more =
         "`loop`: on the daemon's data loop. `process`: in a process of its own, as with `pw-scsynth --client`, which "
         "the module starts again when it crashes; `pw-scsynth --set` takes it as that option, the module in a client "
         "refuses it. What each protects from: `docs/safety.md`."},
    {.key = "loop",
     .value = "NAME",
     .unset = "any one",
     .help = "data loop to run on, by its loop.name; from PipeWire 1.2 on",
     .more = "Its `context.data-loops` makes them (`docs/safety.md`). Without such a loop there is no server."},
};

/// A setting and its field in a NodeSettings.
struct BoundSetting {
    const Setting* setting;
    std::variant<int*, double*, bool*, std::string*> field;
};

/// The settings of server, engine and node with their fields in `settings`, in the order for documents. [any but rt]
std::vector<BoundSetting> all_settings(NodeSettings& settings);

/// [main] Reads a factory's info dict: the `scsynth.*` keys, `clock.quantum-limit`, `clock.rate` and what may replace
/// our properties. The error names the key, its value and what it may be. Null is an empty dict.
Result<NodeSettings> read_settings(const spa_dict* info);

/// [main] Whether a factory's info dict names the data loop that `scsynth.loop` asks for, if that is there: PipeWire
/// takes another one where it has none of that name. The error's text is empty if all is well.
Error find_missing_loop(const spa_dict* info);

} // namespace scs::spa
