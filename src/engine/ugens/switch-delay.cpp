// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/delay-line.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/memory.hpp"

namespace scs::SCS_SIMD {
namespace {

// sc3-plugins' SwitchDelay: an echo whose time jumps. What the jump changes by is added to the echo, and fades out.

enum { in, dry_level, wet_level, time, feedback, longest };
constexpr int32_t fade_frames = 2000;

template <int N>
struct SwitchDelayState {
    static constexpr size_t items64 = 1;
    float* line[N];
    uint32_t frames[N], written[N]; ///< in the line; where the next sample goes
    uint32_t full[N];               ///< whether all of the line has been written; what hasn't is silent
    uint32_t delay[N];              ///< frames
    float echo[N];                  ///< the last one
    float offset[N], first_offset[N];
    int32_t fading[N]; ///< frames until the offset is 0
};

/// Frames, as many as C makes of them: what an integer can't hold wraps around.
SCS_INLINE uint32_t frames_of(double frames) {
    return frames > -0x1p63 && frames < 0x1p63 ? uint32_t(uint64_t(int64_t(frames))) : 0;
}

/// A voice's block.
template <int L>
SCS_INLINE void delay(SwitchDelayState<L>& s, int lane, const float* from, float* out, const Op& op,
                      const Block& block) {
    const auto held = [&](int index) { return input(op, block, size_t(index))[lane]; };
    const float dry = held(dry_level), wet = held(wet_level), back = held(feedback);
    float* const line = s.line[lane];
    const uint32_t frames = s.frames[lane], behind = frames_of(double(held(time)) * block.audio->samples);
    uint32_t write = s.written[lane], read = (write - behind + frames) % frames;
    bool full = s.full[lane] != 0;
    const auto silent = [&](uint32_t place) { return !full && place >= write; };
    float echo = s.echo[lane], offset = s.offset[lane], first_offset = s.first_offset[lane];
    int32_t fading = s.fading[lane];
    if (behind != s.delay[lane]) {
        s.delay[lane] = behind;
        // As SuperCollider's: not where it will read from, but as far again before that.
        const uint32_t next = (read - behind + frames) % frames;
        first_offset = offset = (silent(read) ? 0.f : line[read]) + offset - (silent(next) ? 0.f : line[next]);
        fading = fade_frames;
    }
    for (int i = 0; i < block.frames;) {
        const auto least = [](uint32_t a, uint32_t b) { return a < b ? a : b; };
        int count = int(least(uint32_t(block.frames - i), frames - (read > write ? read : write)));
        if (fading > 0)
            count = 1;
        const bool unwritten = silent(read);
        for (int k = 0; k < count; ++k, ++i) {
            const float x = from[i * L], heard = (unwritten ? 0.f : line[read + uint32_t(k)]) + offset;
            line[write + uint32_t(k)] = x + echo * back;
            out[i * L] = x * dry + heard * wet;
            echo = heard;
        }
        if (fading > 0)
            offset = --fading > 0 ? first_offset * float(double(fading) / double(fade_frames)) : 0.f;
        read = read + uint32_t(count) == frames ? 0 : read + uint32_t(count);
        write += uint32_t(count);
        if (write == frames) {
            write = 0;
            full = true;
        }
    }
    s.full[lane] = full;
    s.written[lane] = write;
    s.echo[lane] = echo;
    s.offset[lane] = offset;
    s.first_offset[lane] = first_offset;
    s.fading[lane] = fading;
}

template <int L>
struct SwitchDelay {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<SwitchDelayState<L>>(op, block);
        each_lane<L>(block, [&](int lane) {
            const float* from = input(op, block, in) + lane;
            float* out = output(op, block) + lane;
            if (s.line[lane])
                return delay<L>(s, lane, from, out, op, block);
            for (int i = 0; i < block.frames; ++i)
                out[i * L] = 0.f;
        });
    }
};

void start(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<SwitchDelayState<1>>(op, block);
    const uint32_t frames = frames_of(block.audio->samples * double(*input(op, block, longest)));
    if (frames > 0 && frames < longest_line)
        s.line[0] = claim<float>(block, frames);
    if (!s.line[0])
        complain_of_memory(op, block);
    s.frames[0] = frames;
    s.delay[0] = frames_of(double(*input(op, block, time)) * block.audio->samples);
    *output(op, block) = 0.f;
}

constexpr Kernel kernel = [] {
    Kernel made = lane_kernel<SwitchDelay, SwitchDelayState>(start);
    made.stop = give_back<&SwitchDelayState<1>::line>;
    return made;
}();

constexpr NativeUgen list[] = {
    {"SwitchDelay",
     [](const Signature& s) {
         return s.rate == Rate::audio && s.audio(in) && s.inputs.size() == 6 ? &kernel : nullptr;
     }},
};

} // namespace

SCS_FAMILY(switch_delay)

} // namespace scs::SCS_SIMD
