// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/rt/half-band.hpp"
#include "engine/synthdef/synthdef.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace scs {

/// The largest factor by which a synth's sample rate may be that of the server.
inline constexpr int highest_factor = 16;

/// The blocks and the sample rate of a synth.
struct SynthRate {
    int frames =
        0; ///< of one of its blocks, at its own sample rate; a power of two, unless it is the server's own number
    int factor = 1; ///< its samples for each of the server's; a power of two, 1 … highest_factor

    bool operator==(const SynthRate&) const = default;
};

/// A block of such a synth is a tick. Where one lies in a block of the server. Always inlined, as kernels, which are
/// compiled for several instruction sets, look at it.
struct Ticks {
    SynthRate rate;
    int server_frames = 0; ///< of the server's blocks
    int32_t count = 1;     ///< ticks in a block of the server
    int32_t ahead = 0;     ///< by how many ticks the synth is computed ahead, so that its output isn't late
    int32_t current = 0;   ///< the tick of this block: 0 … count - 1; below 0 while it gets ahead
    uint32_t number = 0;   ///< of all ticks, counted from one block of the server to the next

    /// For a synth that has been computed before, or not.
    [[gnu::always_inline]] void begin(int32_t block_number, bool goes_on) noexcept {
        current = goes_on ? 0 : -ahead;
        number = uint32_t(block_number) * uint32_t(count) + uint32_t(current);
    }
    /// The next one. false: it would be in the next block.
    [[gnu::always_inline]] bool go_on() noexcept {
        ++number;
        return ++current < count;
    }
    /// Whether what is once in a block of the server's has its turn now, as far as buses are concerned.
    [[gnu::always_inline]] bool begins_block() const noexcept { return current == 0; }
    /// The first frame of the server's block that begins in the current tick, or after it …
    [[gnu::always_inline]] int place() const noexcept { return frames_before(current); }
    /// … and how many begin in it. Ticks before the first one count, too.
    [[gnu::always_inline]] int places() const noexcept { return frames_before(current + 1) - frames_before(current); }
    /// Samples of this block of the server's that have been computed, at the synth's rate.
    [[gnu::always_inline]] int samples_before() const noexcept { return current > 0 ? current * rate.frames : 0; }
    /// The frame of the server's block in which a sample of the current tick lies; 0 while it gets ahead.
    [[gnu::always_inline]] int server_frame(int sample) const noexcept {
        return current < 0 ? 0 : (samples_before() + sample) / rate.factor;
    }
    /// Frames by which its output would be late if it weren't computed ahead, and by which it is computed ahead.
    [[gnu::always_inline]] int delay() const noexcept { return half_band_delay(rate.factor); }
    [[gnu::always_inline]] int frames_ahead() const noexcept { return ahead * rate.frames / rate.factor; }

private:
    [[gnu::always_inline]] int frames_before(int32_t tick) const noexcept {
        const int samples = tick * rate.frames;
        return (samples >= 0 ? samples + rate.factor - 1 : samples) / rate.factor;
    }
};

/// [any] The ticks of synths with this rate. `hears_audio`: they may read audio buses, so they can't be computed ahead.
Ticks ticks_of(const SynthRate&, int block, bool hears_audio) noexcept SCS_NONBLOCKING;

/// What a synth gets of what its definition asks for.
struct GrantedRate {
    SynthRate rate;
    float asked_frames = 0, asked_factor = 0;
    bool wrong_frames =
        false; ///< what was asked for can't be had: the server's blocks, or the longest possible, instead
    bool wrong_factor = false; ///< the same: the server's rate instead

    bool is_wrong() const noexcept { return wrong_frames || wrong_factor; }
};

/// [any] Whether a definition asks for anything.
constexpr bool asks(const OwnRate& own) noexcept {
    return own.block_size != 0 || own.resample != 0;
}

/// [any] What a synth with these controls gets from a server with blocks of `block` frames, 1 … 1024: powers of two,
/// and blocks that take no longer than the server's, which must be a power of two itself. 0 asks for nothing. The
/// indices of controls must be in range.
GrantedRate granted_rate(const OwnRate&, std::span<const float> controls, int block) noexcept SCS_NONBLOCKING;

/// [any] What all synths get of a definition that asks for something, if no control has a say in it and nothing is
/// wrong.
std::optional<SynthRate> constant_rate(const OwnRate&, int block) noexcept;

/// [any] The most frames that a block of such a synth may have, whatever its controls are; at least `block`.
int most_frames(const OwnRate&, int block) noexcept;

/// [any] Whether it is what the server has, in all synths.
constexpr bool is_servers_own(const OwnRate& own, int block) noexcept {
    return (own.block_size == 0 || own.block_size == block) && (own.resample == 0 || own.resample == 1);
}

} // namespace scs
