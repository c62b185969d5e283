// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/control/control-event.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace scs {

/// What became of a message.
enum class MidiRead : uint8_t {
    event,     ///< there is one
    other,     ///< nothing that a synth is played by: other system messages, reserved types
    malformed, ///< too short, too long, a data byte where a status has to be, or a status among the data
};

/// [any] As MIDIFunc of sclang calls it: "noteOn", "noteOff", "polytouch", "control", "program", "touch", "bend",
/// "midiClock", "start", "continue", "stop", "songPosition"; what it has no word for: "rpn", "nrpn", "noteBend",
/// "noteControl"; and of devices "axis" and "button".
std::string_view name_of(ControlEvent::Kind) noexcept SCS_NONBLOCKING;

/// [any] Reads a MIDI 1.0 message of bytes: one message, with its status. Sets all of the event but its port and frame.
/// A note on of velocity 0 is a note off.
MidiRead read_midi(std::span<const uint8_t> bytes, ControlEvent&) noexcept;

/// [any] Reads a Universal MIDI Packet (M2-104-UM) of one to four words in the machine's byte order: MIDI 1.0 and 2.0
/// channel voice messages, and system messages. The group isn't looked at.
MidiRead read_ump(std::span<const uint32_t> words, ControlEvent&) noexcept;

/// A message of MIDI 1.0.
struct MidiMessage {
    std::array<uint8_t, 3> bytes{};
    size_t size = 0;
};

/// [any] Writes an event as a message of MIDI 1.0, which must have such: its value with 7 bits, a bend's with 14. A
/// note on is one whatever its velocity, unless that is 0.
MidiMessage write_midi(const ControlEvent&) noexcept;

/// [any] The same message as a Universal MIDI Packet of one word in the machine's byte order, in group 0.
uint32_t write_ump(const ControlEvent&) noexcept;

} // namespace scs
