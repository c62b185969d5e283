// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/control/transport.hpp"

#include <spa/node/io.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace scs::spa {

/// Reads where the graph's transport is. It lies in memory that other programs may write meanwhile, so it is copied
/// first, and nothing in it is trusted.
///
/// A transport master (JACK's timebase) tells the beat at the end of a cycle, and PipeWire shows it in the next one. So
/// beats are kept as a line over the transport's frames: it is right in the cycle in which the transport is located,
/// and goes on when the master is late or leaves. [rt]
class TransportReader {
public:
    /// Of a cycle: a segment may end in it, and a short one may repeat; what is more is left out until the next one.
    static constexpr size_t most = 8;

    /// What the driver says in this cycle, from its first frame on, which is there always, and where that changes
    /// within it; until the next call. `rate`: the graph's, Hz.
    std::span<const Transport> read(const spa_io_position& shared, double rate) noexcept;

private:
    /// What a master says.
    struct Bar {
        bool valid = false;
        double bpm = 0, beat = 0, beats_per_bar = 0;
        double tick = 0;   ///< beats that it leaves out at most, as it counts in ticks
        double offset = 0; ///< frames since the beat
        bool operator==(const Bar&) const = default;
    };
    struct Place;
    static Place place_in(const spa_io_position&, uint64_t since) noexcept;
    static Bar read_bar(const spa_io_segment_bar&) noexcept;
    bool keep(const Bar&, double at) noexcept;
    Transport read_from(const Place&, uint64_t since, uint64_t until) noexcept;
    double beat_at(double frame) const noexcept { return beat_ + (frame - frame_) * beats_per_frame_; }

    spa_io_position copy_{};
    Bar bar_;                                           ///< the last one …
    double frame_ = 0, beat_ = 0, beats_per_frame_ = 0; ///< … and its line
    double rate_ = 0;
    const spa_io_position* shared_ = nullptr; ///< whose all this is …
    uint32_t clock_ = 0;                      ///< … and the ID of its clock
    // Of the last cycle, or the last part of it.
    bool any_ = false; ///< there was one
    double last_frame_ = 0;
    double next_frame_ = 0; ///< where it led to
    bool went_on_ = false;  ///< it followed the one before it
    uint32_t leaps_ = 0;
    bool fresh_ = true; ///< nothing has played since the last leap
    std::array<Transport, most> transports_;
};

} // namespace scs::spa
