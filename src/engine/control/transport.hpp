// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace scs {

/// Where the graph's transport is from a frame on, until another one is given.
struct Transport {
    double frame = 0; ///< in the cycle; may lie before it, and between two frames
    bool playing = false;
    double beat = 0;            ///< at that frame, from the start of bar 0 on
    double tempo = 0;           ///< beats a second, also while nothing plays; 0: unknown
    double beats_per_frame = 0; ///< 0 unless it plays
    double beats_per_bar = 0;   ///< 0: there are no bars
    uint32_t leaps = 0;         ///< how often beats have leapt: where it was located, not where the tempo changed

    double beat_at(double at) const noexcept { return beat + (at - frame) * beats_per_frame; }
    /// Whether this one says what `before` did.
    bool continues(const Transport& before) const noexcept {
        constexpr double nothing = 1e-9; ///< beats
        return playing == before.playing && tempo == before.tempo && beats_per_frame == before.beats_per_frame &&
               beats_per_bar == before.beats_per_bar && leaps == before.leaps &&
               std::abs(before.beat_at(frame) - beat) < nothing;
    }
};

/// The transports of cycles, until the block in which they take effect: as events of control ports they are delayed by
/// Reblocker::input_delay(). [rt]
class TransportQueue {
public:
    /// Of those that differ. If more wait, only the last of them takes effect.
    static constexpr size_t most = 64;

    /// Adds one of the present cycle, in the order of their frames.
    void add(const Transport& transport) noexcept {
        if (transport.continues(at(count_ - 1)))
            return;
        if (count_ < most)
            ++count_;
        at(count_ - 1) = transport;
    }
    /// The cycle had that many frames.
    void end_cycle(int frames) noexcept {
        for (size_t i = 0; i < count_; ++i)
            at(i).frame -= frames;
    }
    /// Forgets all: the transport stands.
    void clear() noexcept {
        count_ = 1;
        at(0) = {};
    }
    /// Forgets those that are no longer in effect at `frame` of the cycle, if all are delayed by `delay` frames.
    void forget_before(int frame, int delay) noexcept {
        while (count_ > 1 && at(1).frame + delay <= frame) {
            first_ = (first_ + 1) % most;
            --count_;
        }
    }
    /// The one that is in effect at `frame` of the cycle, if all are delayed by `delay` frames. `until`: the frame at
    /// which the next one takes effect; it stays if there is none before it.
    const Transport& in_effect(int frame, int delay, int& until) const noexcept {
        size_t index = 0;
        while (index + 1 < count_ && at(index + 1).frame + delay <= frame)
            ++index;
        if (index + 1 < count_ && at(index + 1).frame + delay < until)
            until = int(std::ceil(at(index + 1).frame + delay));
        return at(index);
    }

private:
    Transport& at(size_t index) noexcept { return transports_[(first_ + index) % most]; }
    const Transport& at(size_t index) const noexcept { return transports_[(first_ + index) % most]; }

    std::array<Transport, most> transports_{};
    size_t first_ = 0, count_ = 1;
};

} // namespace scs
