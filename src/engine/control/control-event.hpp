// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace scs {

/// What a control port brings, or a client tells of: what a hand does on an instrument, whatever the form in which it
/// came.
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
        // Of gamepads and other devices, which clients tell of. `port` is the device; `number`: its code in evdev.
        axis,
        button, ///< `value`: 1 is down, 0 is up
        packet, ///< of OSC
    };
    Kind kind = Kind::note_on;
    uint8_t port = 0;    ///< of the node's control inputs
    uint8_t channel = 0; ///< 0 … 15
    uint16_t number = 0; ///< 0 … 127, but for parameters, axes and buttons
    int32_t frame = 0;   ///< in the cycle
    float value = 0;     ///< 0 … 1; of bends -1 … 1
    std::span<const std::byte> packet{};
    uint8_t controller = 0; ///< registered, of a note: 0 … 255

    static constexpr int last_device = 127, pointer = 0;          ///< devices; the mouse's pointer is one
    static constexpr int last_code = 0x2ff, first_button = 0x110; ///< codes in evdev; the pointer's first button

    bool of_channel() const noexcept { return kind < Kind::clock; }
    bool of_clock() const noexcept { return kind >= Kind::clock && kind <= Kind::song_position; }
    bool of_device() const noexcept { return kind == Kind::axis || kind == Kind::button; }
    /// Whether MIDI 1.0 has such messages.
    bool of_midi1() const noexcept { return kind <= Kind::bend || of_clock(); }
};

} // namespace scs
