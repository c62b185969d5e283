// SPDX-License-Identifier: GPL-3.0-or-later
// /midi_send: a note or the like for a control output.
#include "engine/base/nonblocking.hpp"
#include "engine/control/control-outputs.hpp"
#include "engine/control/midi.hpp"
#include "engine/engine.hpp"
#include "osc/command-table.hpp"
#include "osc/server-settings.hpp"

#include <cmath>
#include <limits>
#include <string_view>

namespace scs::osc {

namespace {

using Kind = ControlEvent::Kind;

constexpr float last_song_position = 16383;

/// An integer from 0 to `most`, to which a value of a synth is rounded; -1: it is none.
int read_number(ArgReader& args, int most) noexcept {
    const double number = std::round(args.get_double(-1));
    return number >= 0 && number <= most ? int(number) : -1;
}

/// false: there is no such kind.
bool read_kind(std::string_view word, Kind& kind) noexcept {
    for (int each = 0; each < int(Kind::packet); ++each)
        if (word == name_of(kind = Kind(each)))
            return ControlEvent{.kind = kind}.of_midi1();
    return false;
}

/// What is wrong; null if nothing is.
const char* read_channel_message(ArgReader& args, ControlEvent& event) noexcept {
    const int channel = read_number(args, 15), number = read_number(args, 127);
    const float value = args.get_float(std::numeric_limits<float>::quiet_NaN());
    const bool bend = event.kind == Kind::bend;
    if (channel < 0)
        return "the channel is to be 0 to 15";
    if (number < 0 && !bend && event.kind != Kind::pressure)
        return "the number is to be 0 to 127";
    if (event.kind != Kind::program && !(value >= (bend ? -1.f : 0.f) && value <= 1.f))
        return bend ? "the value is to be -1 to 1" : "the value is to be 0 to 1";
    event.channel = uint8_t(channel);
    event.number = uint8_t(bend || event.kind == Kind::pressure ? 0 : number);
    event.value = event.kind == Kind::program ? 0 : value;
    return nullptr;
}

/// The same.
const char* read_song_position(ArgReader& args, ControlEvent& event) noexcept {
    args.skip();
    args.skip();
    event.value = std::round(args.get_float(-1));
    return event.value >= 0 && event.value <= last_song_position ? nullptr : "the value is to be 0 to 16383";
}

/// port, kind, channel, number, value
Status midi_send(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    ArgReader args = command.args();
    const int outputs = command.services().settings.control_outputs;
    if (outputs == 0)
        return command.fail("there is no control output: scsynth.control-outputs says how many");
    ControlEvent event;
    const int port = read_number(args, outputs - 1);
    if (port < 0)
        return command.fail("the port is to be 0 or more, and less than scsynth.control-outputs");
    event.port = uint8_t(port);
    event.frame = engine.world().offset();
    if (!read_kind(args.get_string(), event.kind))
        return command.fail("a kind is noteOn, noteOff, polytouch, control, program, touch, bend, midiClock, start, "
                            "continue, stop or songPosition");
    const char* mistake = nullptr;
    if (event.of_channel())
        mistake = read_channel_message(args, event);
    else if (event.kind == Kind::song_position)
        mistake = read_song_position(args, event);
    if (mistake)
        return command.fail(mistake);
    return engine.control_outputs().send(event) ? Status{} : command.fail("too much at once for the control outputs");
}

constexpr CommandSpec commands[] = {
    {.name = "/midi_send", .types = "is", .handler = midi_send, .bindable = true},
};

} // namespace

std::span<const CommandSpec> midi_commands() {
    return commands;
}

} // namespace scs::osc
