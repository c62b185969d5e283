// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/control/binding.hpp"
#include "engine/control/midi-clock.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace scs {

/// Whose beats.
enum class BeatSource : uint8_t { transport, midi, link };

/// Where beats come from.
struct BeatOrigin {
    BeatSource of = BeatSource::transport;
    Source source;         ///< of MIDI clock
    int beats_per_bar = 4; ///< for MIDI clock and Link, which know no bars
};

/// Beats at a frame.
struct Beats {
    bool playing = false;
    double beat = 0, tempo = 0;
    double beats_per_bar = 0; ///< 0: beat and bar are 0
};

/// A place in bars, which count from 0.
struct InBar {
    float beat = 0, bar = 0;
};

/// A beat that is next to nothing before a bar is that bar's first: sums of frames aren't exact. [any]
InBar in_bar(double beat, double beats_per_bar) noexcept SCS_NONBLOCKING;

/// Beats from a frame of a block on, as a line.
struct BeatLine {
    bool runs = false; ///< beats go on; else they stand
    double frame = 0;  ///< of the block, or before or after it, …
    double beat = 0;   ///< … and the beat there
    double beats_per_frame = 0;
    double most = std::numeric_limits<double>::infinity(); ///< where beats stand until another line begins
    double tempo = 0;                                      ///< beats a second
    double beats_per_bar = 0;
    uint32_t leaps = 0; ///< how often beats have leapt: by a locate, not by another tempo
    double landed = 0;  ///< where they came to by the last leap
    int until = 0;      ///< the frame at which another line may begin

    double beat_at(double at) const noexcept;
};

/// What beats of a source there are in each block. [rt]
class BeatFollower {
public:
    explicit BeatFollower(const BeatOrigin& from) noexcept : from_(from) {}

    /// Of control ports. `seconds`: of its frame, since the engine's first one.
    void handle(const ControlEvent&, double seconds) noexcept SCS_NONBLOCKING;
    /// At a block's first frame.
    Beats at_start(const BlockStart&) noexcept SCS_NONBLOCKING;
    /// From frame `from` of a block on; control events before it have been handled.
    BeatLine line(const BlockStart&, int from) const noexcept;

private:
    bool takes(const ControlEvent&, double seconds) noexcept;

    const BeatOrigin from_;
    MidiClock clock_;
    int port_ = -1; ///< whose clock is followed; -1: none yet
    uint32_t leaps_ = 0;
    double landed_ = 0;
};

/// Finds the frames at which beats reach multiples of a division, each multiple once. A leap begins anew, and counts
/// the place that it leads to. Multiples that a change of tempo passes over come at once. [rt]
class BeatDivision {
public:
    static constexpr int most = 16; ///< multiples in a block
    static constexpr double smallest = 1.0 / 64, largest = 64;

    /// Beats; multiples of `division` are moved by `offset`.
    BeatDivision(double division, double offset) noexcept : division_(division), offset_(offset) {}

    /// The frame of block number `block` and before `until` at which the next multiple is reached. -1: there is none;
    /// the next call's `until` is not before that of this one, or the block another one. Where there are more than
    /// `most`, the others are added to `refused`.
    int next(BeatFollower&, const BlockStart&, int32_t block, int until, size_t& refused) noexcept SCS_NONBLOCKING;
    /// The multiple that next() has found, and what else there is at it.
    const Beats& found() const noexcept { return found_; }

private:
    void land(const BeatLine&, int from) noexcept;
    int reach(const BeatLine&, int from, int until) const noexcept;
    size_t leave_out(const BeatLine&, int until) noexcept;
    double multiple() const noexcept { return next_ * division_ + offset_; }

    const double division_, offset_;
    bool any_ = false; ///< next_ is known
    double next_ = 0;  ///< which multiple is next: a whole number
    uint32_t leaps_ = 0;
    int32_t block_ = 0;
    int reached_ = 0; ///< frame of the block
    int taken_ = 0;   ///< multiples in it
    Beats found_;
};

} // namespace scs
