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
    uint8_t number = 0;  ///< 0 … 127
    int32_t frame = 0;   ///< in the cycle
    float value = 0;     ///< 0 … 1; of a bend -1 … 1
    std::span<const std::byte> packet{};

    bool of_channel() const noexcept { return kind < Kind::clock; }
};

} // namespace scs
