// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <cstdint>

namespace scs {

/// Follows MIDI clock: 24 clocks a beat, and where start, stop, continue and song position say that they count from.
/// The clocks' jitter is filtered by a delay-locked loop (F. Adriaensen: Using a DLL to filter time, 2005), of nothing
/// but basic arithmetic, so that all machines agree. Times are seconds, and never go back. [rt]
class MidiClock {
public:
    static constexpr int clocks_per_beat = 24;
    /// How far beats run on without a clock; then they stand until it comes.
    static constexpr int most_ahead = 4;
    /// After as many clocks' time without one there is no tempo any more.
    static constexpr int longest_gap = 2 * clocks_per_beat;

    void clock(double time) noexcept SCS_NONBLOCKING;
    /// The next clock is beat 0.
    void start() noexcept SCS_NONBLOCKING;
    /// Beats stand where they are.
    void stop(double time) noexcept SCS_NONBLOCKING;
    /// The next clock is the one after the last, or the one that locate() says.
    void go_on() noexcept SCS_NONBLOCKING;
    /// The next clock is at that many sixteenths, which are quarters of a beat.
    void locate(int sixteenths) noexcept SCS_NONBLOCKING;

    bool playing() const noexcept { return playing_; }
    /// Beats a second, also while nothing plays. 0: unknown.
    double tempo(double time) const noexcept SCS_NONBLOCKING;
    /// Beats from the song's start. It goes back by start() and locate() only.
    double beat(double time) noexcept SCS_NONBLOCKING;
    /// Whether a clock came within the last two beats.
    bool heard(double time) const noexcept { return heard_ > 0 && !gone(time); }

    /// Beats over time, as far as the clocks say until the next one comes. beat() never lies before what it has said.
    struct Line {
        bool runs = false; ///< it plays, and a clock has come since it was located
        double time = 0;   ///< not before it …
        double beat = 0;   ///< … there is this one …
        double tempo = 0;  ///< … and beats a second from then on; 0: unknown
        double most = 0;   ///< the last one
    };
    Line line() const noexcept SCS_NONBLOCKING;

private:
    void track(double time) noexcept;
    void begin(double time) noexcept;
    void follow(double error) noexcept;
    void stray(double time) noexcept;
    bool gone(double time) const noexcept SCS_NONBLOCKING;

    // The loop: clock `heard_` is at time_, the next one at next_.
    int heard_ = 0;     ///< clocks since the loop began, as far as its bandwidth depends on them
    double period_ = 0; ///< seconds between two clocks; 0: unknown
    double time_ = 0, next_ = 0;
    double arrived_ = 0;                ///< when the last clock did
    int strays_ = 0;                    ///< clocks in a row that came at another time than they were expected
    double astray_since_ = 0;           ///< when the last one came before these
    double shortest_ = 0, longest_ = 0; ///< time between two of them

    bool playing_ = false;
    bool waiting_ = true;  ///< for a clock, to go on
    int64_t position_ = 0; ///< of the last clock, in clocks
    int64_t next_position_ = 0;
    double shown_ = 0; ///< the last beat()
};

} // namespace scs
