// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/each-sample.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"

namespace scs::SCS_SIMD {
namespace {

// ---- the largest or least sample since a trigger

struct Largest {
    template <int N>
    SCS_INLINE static F32<N> size(F32<N> x) {
        return abs(x);
    }
    template <int N>
    SCS_INLINE static F32<N> of(F32<N> kept, F32<N> x) {
        return max(kept, x);
    }
};
struct Highest {
    template <int N>
    SCS_INLINE static F32<N> size(F32<N> x) {
        return x;
    }
    template <int N>
    SCS_INLINE static F32<N> of(F32<N> kept, F32<N> x) {
        return max(x, kept);
    }
};
struct Lowest {
    template <int N>
    SCS_INLINE static F32<N> size(F32<N> x) {
        return x;
    }
    template <int N>
    SCS_INLINE static F32<N> of(F32<N> kept, F32<N> x) {
        return min(x, kept);
    }
};

template <int N>
struct ExtremeState {
    static constexpr size_t items64 = 0;
    float level[N], trigger[N];
};

template <class Kind>
struct Extreme {
    /// A trigger at audio rate is looked at in each frame. Another one is looked at once, after the block.
    template <bool AudioTrigger>
    struct At {
        template <class Form>
        struct Run {
            static constexpr int N = Form::width;
            static void run(const Op& op, Block& block) SCS_NONBLOCKING {
                auto& s = state<ExtremeState<N>>(op, block);
                const float *from = input(op, block, 0), *trigger = input(op, block, 1);
                float* out = output(op, block);
                const int stride = is_audio(op, 0) ? N : 0;
                auto level = Form::get(s.level), before = Form::get(s.trigger);
                const auto held = Form::control(trigger);
                F32<N> x(0.f);
                for (int i = 0, n = own_frames(op, block); i < n; ++i) {
                    x = Kind::size(F32<N>::load(from + i * stride));
                    level = Kind::of(level, x);
                    if constexpr (AudioTrigger) {
                        const auto now = Form::audio(trigger, i);
                        Form::put(out, i, level);
                        level = select(rises(before, now), x, level);
                        before = now;
                    } else {
                        Form::put(out, i, level);
                    }
                }
                if constexpr (!AudioTrigger) {
                    level = select(rises(before, held), x, level);
                    before = held;
                }
                Form::keep(s.level, level);
                Form::keep(s.trigger, before);
            }
        };
    };

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<ExtremeState<1>>(op, block);
        const F32<1> x(*input(op, block, 0)); // Peak took its sign along until 3.13
        s.level[0] = *output(op, block) = (block.space->release >= Release::v3_14 ? Kind::size(x) : x)[0];
        if (op.operands[1].rate == Rate::scalar)
            s.trigger[0] = *input(op, block, 1); // a constant never triggers
    }
    static constexpr Kernel held = vector_kernel<At<false>::template Run, ExtremeState, Scalar>(start);
    static constexpr Kernel followed = vector_kernel<At<true>::template Run, ExtremeState, Scalar>(start);
    static const Kernel* choose(const Signature& s) { return s.rate == Rate::audio && s.audio(1) ? &followed : &held; }
};

/// Peak at control rate with an audio signal: the maximum over all its samples. When a trigger ends a maximum, the
/// output is the old one.
template <class Form>
struct PeakOfBlock {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<ExtremeState<N>>(op, block);
        const float *from = input(op, block, 0), *trigger = input(op, block, 1);
        const int stride = is_audio(op, 1) ? N : 0, last = (block.frames - 1) * stride;
        auto level = Form::get(s.level), before = Form::get(s.trigger), ended = level;
        auto ends = before != before;
        F32<N> x(0.f);
        for (int i = 0, n = block.frames; i < n; ++i) {
            x = abs(Form::audio(from, i));
            level = max(level, x);
            if (stride) {
                const auto now = Form::audio(trigger, i);
                const auto rise = rises(before, now);
                ended = select(rise, level, ended);
                ends = ends | rise;
                level = select(rise, x, level);
                before = now;
            }
        }
        if (!stride) {
            const auto now = Form::control(trigger);
            ends = rises(before, now);
            ended = level;
            level = select(ends, x, level);
            before = now;
        }
        Form::put(output(op, block), 0, select(ends, ended, level));
        Form::keep(s.level, level);
        Form::keep(s.trigger, F32<N>::load(trigger + last));
    }
};

constexpr Kernel peak_of_block = vector_kernel<PeakOfBlock, ExtremeState, Scalar>(Extreme<Largest>::start);

const Kernel* choose_peak(const Signature& s) {
    return s.rate != Rate::audio && s.audio(0) ? &peak_of_block : Extreme<Largest>::choose(s);
}

// ---- PeakFollower

template <int N>
struct FollowerState {
    static constexpr size_t items64 = 0;
    float level[N], decay[N];
};

template <int L>
struct PeakFollower {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<FollowerState<L>>(op, block);
        const int n = own_frames(op, block);
        each_lane<L>(block, [&](int lane) {
            const LaneIn<L> in(op, block, 0, lane);
            float* out = output(op, block) + lane;
            float level = s.level[lane], decay = input(op, block, 1)[lane];
            const float before = s.decay[lane];
            // As in SuperCollider, the ramp starts at the new value and goes beyond it.
            const bool stays = decay == before || op.operands[1].rate == Rate::scalar;
            const float slope = stays ? 0.f : (decay - before) / float(n);
            const bool up = stays || (decay >= 0.f && before >= 0.f), down = decay <= 0.f && before <= 0.f;
            for (int i = 0; i < n; ++i) {
                const float sample = in.at(i), x = sample < 0.f ? -sample : sample;
                if (x >= level) {
                    level = x;
                } else {
                    if (up)
                        level = x + decay * (level - x);
                    else if (down)
                        level = x + decay * (level + x);
                    else
                        level = (1.f - (decay < 0.f ? -decay : decay)) * x + decay * level;
                    decay += slope;
                }
                out[i * L] = level;
            }
            s.level[lane] = level;
            s.decay[lane] = decay;
        });
    }
};

void start_peak_follower(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<FollowerState<1>>(op, block);
    s.decay[0] = *input(op, block, 1);
    const F32<1> x(*input(op, block, 0));
    s.level[0] = *output(op, block) = (block.space->release >= Release::v3_14 ? abs(x) : x)[0];
}

constexpr Kernel peak_follower = lane_kernel<PeakFollower, FollowerState>(start_peak_follower);

// ---- which of two signals changes more, or less

template <bool Most>
struct Change : SampleUnit<Change<Most>> {
    static constexpr int inputs = 2, follows = 3, doubles = 0, floats = 3;
    enum { before, other_before, other };
    template <int N>
    SCS_INLINE static F32<N> step(Kept<Change, N>& kept, const F32<N>* in) {
        const F32<N> zero(0.f), one(1.f);
        const auto difference = abs(in[0] - kept.f[before]) - abs(in[1] - kept.f[other_before]);
        const auto above = select(difference > zero, Most ? zero : one, kept.f[other]);
        kept.f[other] = select(difference < zero, Most ? one : zero, above);
        kept.f[before] = in[0];
        kept.f[other_before] = in[1];
        return select(kept.f[other] != zero, in[1], in[0]);
    }
    SCS_INLINE static void begin(Kept<Change, 1>& kept, const F32<1>*, Release) {
        kept.f[other] = F32<1>(Most ? 1.f : 0.f);
    }
};

/// The value before the last change that was at least in[1].
struct LastValue : SampleUnit<LastValue> {
    static constexpr int inputs = 2, follows = 1, doubles = 0, floats = 2;
    template <int N>
    SCS_INLINE static F32<N> step(Kept<LastValue, N>& kept, const F32<N>* in) {
        const auto changes = abs(in[0] - kept.f[1]) >= in[1];
        kept.f[0] = select(changes, kept.f[1], kept.f[0]);
        kept.f[1] = select(changes, in[0], kept.f[1]);
        return kept.f[0];
    }
    SCS_INLINE static void begin(Kept<LastValue, 1>& kept, const F32<1>* in, Release) { kept.f[0] = kept.f[1] = in[0]; }
};

constexpr NativeUgen list[] = {
    {"LastValue", EachSample<LastValue>::choose},
    {"LeastChange", EachSample<Change<false>>::choose},
    {"MostChange", EachSample<Change<true>>::choose},
    {"Peak", choose_peak},
    {"PeakFollower", [](const Signature&) { return &peak_follower; }},
    {"RunningMax", Extreme<Highest>::choose},
    {"RunningMin", Extreme<Lowest>::choose},
};

} // namespace

SCS_FAMILY(extremes)

} // namespace scs::SCS_SIMD
