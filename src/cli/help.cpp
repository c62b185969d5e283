// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/setting-text.hpp"

#include <string_view>
#include <vector>

namespace scs::cli {

namespace {

constexpr const char* head = R"(usage: pw-scsynth -u PORT [OPTION ...]
       pw-scsynth --bind SYNTHDEF [OPTION ...]
       pw-scsynth -N SCORE INPUT OUTPUT RATE HEADER SAMPLE [OPTION ...]
       pw-scsynth status [OPTION ...]
       pw-scsynth top [OPTION ...]
       pw-scsynth trace -o FILE [OPTION ...]
       pw-scsynth pointer [OPTION ...]
       pw-scsynth transport [OPTION ...]
       pw-scsynth link [OPTION ...]
       pw-scsynth gamepad [OPTION ...] [DEVICE ...]
       pw-scsynth save FILE [OPTION ...]
       pw-scsynth restore FILE [OPTION ...]

Makes a SuperCollider server in the running PipeWire daemon and stays until /quit, Ctrl-C or SIGTERM.
With -N it renders a score to a sound file, without PipeWire. With status it says what a running server has, with top
what the server does and costs, with trace it records which of its threads does what when, with pointer it tells a server
where the mouse is, for MouseX and the like, with transport it drives the transport of PipeWire's graph as a server's
clients say, with link it tells of the beats of an Ableton Link session, with gamepad of what gamepads, joysticks and touch screens do,
with save it writes all that a server has to a file, with restore it makes that anew;
"pw-scsynth top --help" has the options of top, and so on.

)";

constexpr const char* other_options = R"(  -Z FRAMES   quantum to ask PipeWire for
  -H SINK:SOURCE, -H DEVICE, -H SOURCE SINK      devices to link to, by part of a name
  --devices    list them
  -H NAME     where no device has that name: what the server's node is called
  -N SCORE INPUT OUTPUT RATE HEADER SAMPLE       "_" as SCORE: standard input; as INPUT: none
  --take-over  replace the node of ours that has the port
  --no-pointer don't follow the mouse where synths have MouseX and the like
  --client     run the server in this process instead of the daemon's
  --bind LIST  SynthDefs that keys play: "keys", "pad", "bass" or yours, each with options (docs/keys.md)
  --wait SECONDS   how long to wait for PipeWire at the start (30)
  --options WHOSE  "scsynth" or "supernova": whose options follow; those of both are known
  -h, --help   this text                         -v, --version
  --set KEY=VALUE  any setting of the node, as in its configuration without "scsynth."; those without a letter:
)";

constexpr const char* tail = R"(
SC_JACK_DEFAULT_OUTPUTS, SC_JACK_DEFAULT_INPUTS and PIPEWIRE_PROPS, _LATENCY, _QUANTUM, _RATE, _NODE, _AUTOCONNECT
count as for scsynth under pw-jack.
Without effect: -C -I -L -O -R -s -y. "man pw-scsynth" says why, and more.
)";

constexpr size_t column = 47; ///< where the second option of a line begins

std::string padded(std::string text, size_t width) {
    if (text.size() < width)
        text.resize(width, ' ');
    return text;
}

/// "-a N        audio buses (1024)"
std::string option_text(const spa::BoundSetting& bound) {
    const Setting& setting = *bound.setting;
    std::string text = padded(std::string{'-', setting.letter, ' '} + setting.value, 12) + setting.help;
    return program_has_default(setting) ? text + " (" + default_text(bound, Whose::program) + ")" : text;
}

/// Two to a line, where there is room.
std::string in_columns(const std::vector<std::string>& texts) {
    std::string lines;
    bool second = false;
    for (size_t i = 0; i < texts.size(); ++i) {
        const bool last = i + 1 == texts.size() || texts[i].size() >= column;
        if (second || last)
            lines += (second ? "" : "  ") + texts[i] + "\n";
        else
            lines += "  " + padded(texts[i], column);
        second = !second && !last;
    }
    return lines;
}

} // namespace

std::string help_text() {
    spa::NodeSettings defaults;
    std::vector<std::string> options;
    std::string others;
    for (const spa::BoundSetting& each : spa::all_settings(defaults)) {
        if (each.setting->letter)
            options.push_back(option_text(each));
        else
            others += "    " + padded(each.setting->key, 18) + each.setting->help + " (" +
                      default_text(each, Whose::program) + ")\n";
    }
    for (const Setting& setting : spa::shown_settings)
        others += "    " + padded(setting.key, 18) + setting.help + " (" + setting.unset + ")\n";
    return head + in_columns(options) + other_options + others + tail;
}

} // namespace scs::cli
