// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/sample-buffers.hpp"

namespace scs::SCS_SIMD {
namespace {

// DelTapRd: reads what DelTapWr (plugins/buffer-writers.cpp) has written into a buffer of one channel. Its phase is an
// integer, whose bits are the samples of its output. Where an interpolation goes beyond the buffer's end it goes on at
// frame 0; SuperCollider's reads beyond the buffer in some blocks.

enum { tap_buffer, phase, time, interpolation };

template <int N>
struct TapState {
    static constexpr size_t items64 = 0;
    float delay[N];    ///< frames
    int32_t points[N]; ///< samples that are interpolated between: 1, 2 or 4
};

/// A sample of the buffer, from anywhere: it is a ring.
class Ring {
public:
    SCS_INLINE explicit Ring(const SampleBuffer& buffer) : samples_(buffer.data), frames_(buffer.frames) {}
    SCS_INLINE float at(double place, int points) const {
        if (!(place >= 0. && place < frames_))
            place = back(place);
        const int32_t here = int32_t(place);
        const float part = float(place - double(here));
        if (points == 1)
            return samples_[here];
        if (points == 2)
            return linear(part, samples_[here], samples_[after(here)]);
        const int32_t next = after(here);
        return cubic(part, samples_[here == 0 ? frames_ - 1 : here - 1], samples_[here], samples_[next],
                     samples_[after(next)]);
    }

private:
    SCS_INLINE int32_t after(int32_t frame) const { return frame + 1 < frames_ ? frame + 1 : 0; }
    /// Frame 0 for what is no number.
    [[gnu::noinline]] double back(double place) const {
        place -= double(frames_) * floor(F64<1>(place / double(frames_)))[0];
        return place >= 0. && place < frames_ ? place : 0.;
    }

    const float* samples_;
    int32_t frames_;
};

template <int L>
struct DelTapRd {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        each_lane<L>(block, [&](int lane) { voice(op, block, lane, own_frames(op, block)); });
    }
    SCS_INLINE static void voice(const Op& op, Block& block, int lane, int n) {
        auto& s = state<TapState<L>>(op, block);
        float* out = output(op, block) + lane;
        const SampleBuffer buffer = buffer_of(block, lane, input(op, block, tap_buffer)[lane]);
        const float rate = float(own_rate(op, block).samples);
        const LaneIn<L> times(op, block, time, lane);
        const bool moves = is_audio(op, time);
        const float to = times.at(0) * rate;
        const float slope = (to - s.delay[lane]) * (1.f / float(block.frames));
        float delay = s.delay[lane];
        if (!buffer.data || buffer.channels != 1 || buffer.frames < 1) {
            for (int i = 0; i < n; ++i)
                out[i * L] = 0.f;
            return;
        }
        const Ring ring(buffer);
        const auto first = bits<uint32_t>(F32<1>(input(op, block, phase)[lane]))[0];
        for (int i = 0; i < n; ++i) {
            const double frames = moves ? double(times.at(i) * rate) : double(delay);
            out[i * L] = ring.at(double(int64_t(first) + i) - frames, s.points[lane]);
            delay += slope;
        }
        if (!moves && n > 1)
            s.delay[lane] = to;
    }
};

void start_tap(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<TapState<1>>(op, block);
    const int32_t points = int_of(*input(op, block, interpolation));
    s.points[0] = points == 2 || points == 4 ? points : 1;
    s.delay[0] = *input(op, block, time) * float(own_rate(op, block).samples);
    DelTapRd<1>::voice(op, block, 0, 1);
}

constexpr Kernel tap = [] {
    Kernel made = buffer_kernel<DelTapRd, TapState>(start_tap);
    made.reads_after_writing = false;
    return made;
}();

constexpr NativeUgen list[] = {
    {"DelTapRd",
     [](const Signature& s) -> const Kernel* {
         return s.rate == Rate::audio && s.inputs.size() == 4 && s.audio(phase) ? &tap : nullptr;
     }},
};

} // namespace

SCS_FAMILY(delay_taps)

} // namespace scs::SCS_SIMD
