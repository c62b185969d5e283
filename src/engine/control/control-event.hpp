// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace scs {

/// What a control port brings: what a hand does on an instrument, whatever the form in which it came.
struct ControlEvent {
    enum class Kind : uint8_t {
        note_on,       ///< `value`: velocity
        note_off,      ///< `value`: release velocity
        note_pressure, ///< of the note `number`
        controller,    ///< `number`: which one
        program,       ///< `number`: which one
        pressure,      ///< of the channel
        bend,
        // Of MIDI 2.0 alone.
        parameter,       ///< registered (RPN): `number` is 0 … 16383
        own_parameter,   ///< the maker's (NRPN): the same
        note_bend,       ///< of the note `number`
        note_controller, ///< of the note `number`: `controller` is which one
        // What follows is for all channels.
        clock, ///< 24 of them are a beat
        start,
        go_on, ///< continue
        stop,
        song_position, ///< `value`: sixteenths from the start on, 0 … 16383
        packet,        ///< of OSC
    };
    Kind kind = Kind::note_on;
    uint8_t port = 0;    ///< of the node's control inputs
    uint8_t channel = 0; ///< 0 … 15
    uint16_t number = 0; ///< 0 … 127, but for parameters
    int32_t frame = 0;   ///< in the cycle
    float value = 0;     ///< 0 … 1; of bends -1 … 1
    std::span<const std::byte> packet{};
    uint8_t controller = 0; ///< registered, of a note: 0 … 255

    bool of_channel() const noexcept { return kind < Kind::clock; }
    /// Whether MIDI 1.0 has such messages.
    bool of_midi1() const noexcept { return kind <= Kind::bend || kind >= Kind::clock; }
};

} // namespace scs
