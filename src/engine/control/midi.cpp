// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/midi.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace scs {
namespace {

using Kind = ControlEvent::Kind;

/// The kinds by the upper half of a status byte, from 8 on.
constexpr std::array<Kind, 7> kinds = {Kind::note_off, Kind::note_on,  Kind::note_pressure, Kind::controller,
                                       Kind::program,  Kind::pressure, Kind::bend};

/// Data bytes after a status of that kind.
constexpr size_t data_bytes(Kind kind) noexcept {
    return kind == Kind::program || kind == Kind::pressure ? 1 : 2;
}

float of_seven_bits(uint8_t value) noexcept {
    return float(value) / 127.f;
}

float of_32_bits(uint32_t value) noexcept {
    return float(value / 4294967295.0);
}

/// -1 … 1, and 0 in the middle. There is one value less above that than below.
float bend_of(double value, double middle) noexcept {
    const double from_middle = value - middle;
    return float(from_middle < 0 ? from_middle / middle : from_middle / (middle - 1));
}

/// What bend_of() makes `value` of.
int bend_bits(float value) noexcept {
    return 0x2000 + int(std::lround(value * (value < 0 ? 0x2000 : 0x1fff)));
}

uint8_t seven_bits(float value) noexcept {
    return uint8_t(std::lround(value * 127.f));
}

/// A channel voice message of MIDI 1.0 whose data bytes are below 128.
void read_midi1(uint8_t status, uint8_t first, uint8_t second, ControlEvent& event) noexcept {
    event.kind = kinds[size_t(status >> 4) - 8];
    event.channel = status & 15;
    event.number = first;
    event.value = of_seven_bits(second);
    switch (event.kind) {
    case Kind::note_on:
        if (second == 0)
            event.kind = Kind::note_off;
        break;
    case Kind::program: event.value = 0; break;
    case Kind::pressure:
        event.number = 0;
        event.value = of_seven_bits(first);
        break;
    case Kind::bend:
        event.number = 0;
        event.value = bend_of(first | second << 7, 0x2000);
        break;
    default: break;
    }
}

/// A parameter of a channel, or a controller or the bend of a note.
MidiRead read_controller2(uint32_t opcode, uint32_t head, uint32_t data, ControlEvent& event) noexcept {
    constexpr std::array<Kind, 8> of_opcode = {Kind::note_controller, Kind::packet, Kind::parameter,
                                               Kind::own_parameter,   Kind::packet, Kind::packet,
                                               Kind::note_bend,       Kind::packet};
    event.kind = of_opcode[opcode];
    if (event.kind == Kind::packet)
        return MidiRead::other; // notes' controllers of the maker's own, relative ones, and reserved
    const bool parameter = event.kind == Kind::parameter || event.kind == Kind::own_parameter;
    if (head & (parameter ? 0x8080 : 0x8000))
        return MidiRead::malformed;
    event.channel = head >> 16 & 15;
    event.number = uint16_t(parameter ? (head >> 8 & 0x7f) << 7 | (head & 0x7f) : head >> 8 & 0x7f);
    event.controller = event.kind == Kind::note_controller ? uint8_t(head) : 0;
    event.value = event.kind == Kind::note_bend ? bend_of(data, 0x80000000) : of_32_bits(data);
    return MidiRead::event;
}

/// A channel voice message of MIDI 2.0.
MidiRead read_midi2(uint32_t head, uint32_t data, ControlEvent& event) noexcept {
    const uint32_t opcode = head >> 20 & 15;
    if (opcode < 8)
        return read_controller2(opcode, head, data, event);
    if (opcode > 14)
        return MidiRead::other; // what becomes of a note's controllers
    if (head & 0x8000)
        return MidiRead::malformed;
    event.kind = kinds[opcode - 8];
    event.channel = head >> 16 & 15;
    event.number = head >> 8 & 0x7f;
    switch (event.kind) {
    case Kind::note_on:
    case Kind::note_off: event.value = float(data >> 16) / 65535.f; break;
    case Kind::program:
        event.number = data >> 24 & 0x7f;
        event.value = 0;
        break;
    case Kind::bend:
        event.number = 0;
        event.value = bend_of(data, 0x80000000);
        break;
    case Kind::pressure: event.number = 0; [[fallthrough]];
    case Kind::note_pressure:
    case Kind::controller: event.value = of_32_bits(data); break;
    default: break;
    }
    return MidiRead::event;
}

/// A system message that says where a song is, or that it goes on.
MidiRead read_system(std::span<const uint8_t> bytes, ControlEvent& event) noexcept {
    const size_t data = bytes[0] == 0xf2 ? 2 : 0;
    switch (bytes[0]) {
    case 0xf2: event.kind = Kind::song_position; break;
    case 0xf8: event.kind = Kind::clock; break;
    case 0xfa: event.kind = Kind::start; break;
    case 0xfb: event.kind = Kind::go_on; break;
    case 0xfc: event.kind = Kind::stop; break;
    default: return MidiRead::other;
    }
    if (bytes.size() != data + 1 || (data && (bytes[1] > 127 || bytes[2] > 127)))
        return MidiRead::malformed;
    event.channel = event.number = 0;
    event.value = data ? float(bytes[1] | bytes[2] << 7) : 0;
    return MidiRead::event;
}

} // namespace

std::string_view name_of(ControlEvent::Kind kind) noexcept {
    switch (kind) {
    case ControlEvent::Kind::note_on: return "noteOn";
    case ControlEvent::Kind::note_off: return "noteOff";
    case ControlEvent::Kind::note_pressure: return "polytouch";
    case ControlEvent::Kind::controller: return "control";
    case ControlEvent::Kind::program: return "program";
    case ControlEvent::Kind::pressure: return "touch";
    case ControlEvent::Kind::bend: return "bend";
    case ControlEvent::Kind::parameter: return "rpn";
    case ControlEvent::Kind::own_parameter: return "nrpn";
    case ControlEvent::Kind::note_bend: return "noteBend";
    case ControlEvent::Kind::note_controller: return "noteControl";
    case ControlEvent::Kind::clock: return "midiClock";
    case ControlEvent::Kind::start: return "start";
    case ControlEvent::Kind::go_on: return "continue";
    case ControlEvent::Kind::stop: return "stop";
    case ControlEvent::Kind::song_position: return "songPosition";
    case ControlEvent::Kind::axis: return "axis";
    case ControlEvent::Kind::button: return "button";
    case ControlEvent::Kind::packet: return "packet";
    }
    return {};
}

MidiRead read_midi(std::span<const uint8_t> bytes, ControlEvent& event) noexcept {
    if (bytes.empty() || bytes[0] < 0x80)
        return MidiRead::malformed;
    const uint8_t status = bytes[0];
    if (status >= 0xf0)
        return read_system(bytes, event);
    const size_t data = data_bytes(kinds[size_t(status >> 4) - 8]);
    if (bytes.size() != data + 1 || bytes[1] > 127 || bytes[data] > 127)
        return MidiRead::malformed;
    read_midi1(status, bytes[1], data == 2 ? bytes[2] : 0, event);
    return MidiRead::event;
}

MidiRead read_ump(std::span<const uint32_t> words, ControlEvent& event) noexcept {
    constexpr std::array<uint8_t, 16> sizes = {1, 1, 1, 2, 2, 4, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4};
    if (words.empty() || words.size() != sizes[words[0] >> 28])
        return MidiRead::malformed;
    const uint32_t head = words[0], type = head >> 28;
    if (type == 4)
        return read_midi2(head, words[1], event);
    const std::array<uint8_t, 3> bytes = {uint8_t(head >> 16), uint8_t(head >> 8), uint8_t(head)};
    if (type == 1)
        return bytes[0] < 0xf0 ? MidiRead::malformed
                               : read_system(std::span(bytes).first(bytes[0] == 0xf2 ? 3 : 1), event);
    if (type != 2)
        return MidiRead::other;
    if (bytes[0] < 0x80 || bytes[0] >= 0xf0)
        return MidiRead::malformed;
    return read_midi(std::span(bytes).first(1 + data_bytes(kinds[size_t(bytes[0] >> 4) - 8])), event);
}

MidiMessage write_midi(const ControlEvent& event) noexcept {
    constexpr std::array<uint8_t, 5> system = {0xf8, 0xfa, 0xfb, 0xfc, 0xf2};
    const uint8_t value = event.of_channel() && event.kind != Kind::bend ? seven_bits(event.value) : 0;
    const auto both = [](int bits) { return std::array{uint8_t(bits & 0x7f), uint8_t(bits >> 7)}; };
    if (event.kind == Kind::song_position) {
        const auto data = both(int(event.value));
        return {{0xf2, data[0], data[1]}, 3};
    }
    if (!event.of_channel())
        return {{system[size_t(event.kind) - size_t(Kind::clock)]}, 1};
    const auto number = uint8_t(event.number);
    const auto at = std::find(kinds.begin(), kinds.end(), event.kind);
    const auto status = uint8_t((8 + (at - kinds.begin())) << 4 | event.channel);
    switch (event.kind) {
    case Kind::note_on: return {{status, number, event.value > 0 ? std::max<uint8_t>(value, 1) : value}, 3};
    case Kind::program: return {{status, number}, 2};
    case Kind::pressure: return {{status, value}, 2};
    case Kind::bend: {
        const auto data = both(bend_bits(event.value));
        return {{status, data[0], data[1]}, 3};
    }
    default: return {{status, number, value}, 3};
    }
}

uint32_t write_ump(const ControlEvent& event) noexcept {
    const MidiMessage message = write_midi(event);
    const uint32_t type = event.of_channel() ? 2 : 1;
    return type << 28 | uint32_t(message.bytes[0]) << 16 | uint32_t(message.bytes[1]) << 8 | message.bytes[2];
}

} // namespace scs
