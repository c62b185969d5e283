// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>

namespace scs::transport {

/// Which beat is at which frame of the transport: a line through a frame. A new tempo turns it at the frame where the
/// transport is; a locate to a beat moves it.
class Timeline {
public:
    static constexpr double ticks_per_beat = 100'000'000; ///< what JACK passes on is an integer

    /// A frame as JACK's clients see it.
    struct Place {
        int32_t bar, beat, tick; ///< bar and beat from 1 on
        double bar_start_tick, beats_per_minute;
    };

    /// `tempo`: beats a second. `rate`: frames a second.
    Timeline(double tempo, int beats_per_bar, double rate)
        : beats_per_bar_(beats_per_bar), rate_(rate), tempo_(tempo), wanted_(tempo) {}

    /// [main] From the next cycle that tells beats on.
    void set_tempo(double tempo) { wanted_.store(tempo); }
    /// [main] The frame to locate to for this beat: as many as there are from the start at the present tempo. -1: there
    /// are too many.
    int64_t locate(double beat) {
        const double frame = std::round(beat / wanted_.load() * rate_);
        if (!(frame >= 0 && frame < 0x1p31))
            return -1;
        located_beat_.store(beat);
        located_frame_.store(int64_t(frame));
        return int64_t(frame);
    }
    /// [main] Whether the cycle after a locate() hasn't come yet.
    bool locating() const { return located_frame_.load() >= 0; }
    /// [rt] The place of a cycle's first frame. `located`: it is a new one.
    Place at(uint32_t frame, bool located) noexcept {
        if (located && located_frame_.load() == int64_t(frame)) {
            beat_ = located_beat_.load();
            frame_ = frame;
            located_frame_.store(-1);
        }
        if (const double wanted = wanted_.load(); wanted != tempo_) {
            beat_ = beat_at(frame);
            frame_ = frame;
            tempo_ = wanted;
        }
        const double beat = beat_at(frame), whole = std::floor(beat + 0.5 / ticks_per_beat);
        const double bar = std::floor(whole / beats_per_bar_);
        const double tick = std::round((beat - whole) * ticks_per_beat);
        return {int32_t(bar) + 1, int32_t(whole - bar * beats_per_bar_) + 1, int32_t(tick < 0 ? 0 : tick),
                bar * beats_per_bar_ * ticks_per_beat, tempo_ * 60};
    }
    int beats_per_bar() const noexcept { return beats_per_bar_; }

private:
    double beat_at(uint32_t frame) const noexcept { return beat_ + (double(frame) - frame_) * tempo_ / rate_; }

    const int beats_per_bar_;
    const double rate_;
    double beat_ = 0, frame_ = 0, tempo_;
    std::atomic<double> wanted_, located_beat_{0};
    std::atomic<int64_t> located_frame_{-1}; ///< -1: none
};

} // namespace scs::transport
