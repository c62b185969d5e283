// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/each-sample.hpp"
#include "engine/ugens/families.hpp"

namespace scs::SCS_SIMD {
namespace {

/// A time in samples, plus 0.5 for rounding, in single precision as in SuperCollider.
template <int N>
SCS_INLINE F32<N> rounded_samples(F32<N> seconds, const UnitRate& rate) {
    return seconds * F32<N>(float(rate.samples)) + F32<N>(0.5f);
}
template <int N>
SCS_INLINE I32<N> one_at_least(I32<N> samples) {
    return select(samples > I32<N>(1), samples, 1);
}

// ---- pulses of a given length

struct PulseLevel {
    template <int N>
    SCS_INLINE static F32<N> of(F32<N> trigger) {
        return trigger;
    }
};
struct PulseOne {
    template <int N>
    SCS_INLINE static F32<N> of(F32<N>) {
        return F32<N>(1.f);
    }
};

// A time at audio rate counts in the trigger's frame; in SuperCollider in the block's first.

template <class Level, bool AudioTime>
struct Pulse : SampleUnit<Pulse<Level, AudioTime>> {
    static constexpr int inputs = 2, follows = AudioTime ? 3 : 1, doubles = 0, floats = 3;
    template <int N>
    SCS_INLINE static F32<N> step(Kept<Pulse, N>& kept, const F32<N>* in) {
        const auto left = kept.integer(2), next = left - I32<N>(1);
        const auto running = left > I32<N>(0), starts = rises(kept.f[0], in[0]) & ~running;
        // In SuperCollider, a negative time is a very long one.
        const auto time = rounded_samples(in[1], kept.rate);
        const auto samples = select(time > F32<N>(-1.f), one_at_least(to_int(time)), INT32_MAX);
        kept.f[0] = in[0];
        kept.f[1] = select(starts, Level::of(in[0]), kept.f[1]);
        kept.keep_integer(2, select(running, next, select(starts, samples, 0)));
        return select((running & (next > I32<N>(0))) | starts, kept.f[1], 0.f);
    }
};

/// The same at audio rate, where both inputs are numbers for the block: it can start in the first frame alone.
template <class Level>
struct HeldPulse {
    using Each = EachSample<Pulse<Level, false>>;
    template <class Form>
    struct Run {
        static constexpr int N = Form::width, L = Form::state_lanes;
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            typename Each::template Kept<L> kept(op, block);
            const F32<L> in[] = {F32<L>::load(input(op, block, 0)), F32<L>::load(input(op, block, 1))};
            (void)Pulse<Level, false>::step(kept, in);
            const auto left = kept.integer(2), after = left - I32<L>(block.frames - 1);
            const auto level = for_each_frame(kept.f[1]), end = for_each_frame(convert<float>(left));
            float* out = output(op, block);
            for (int i = 0, n = Form::steps(block); i < n; ++i)
                Form::put(out, i, select(Form::frame(i) < end, level, 0.f));
            kept.keep_integer(2, select(after > I32<L>(0), after, 0));
            kept.store();
        }
        SCS_INLINE static F32<N> for_each_frame(F32<L> number) {
            if constexpr (L == N)
                return number;
            else
                return F32<N>(number[0]);
        }
    };
    static constexpr Kernel kernel = vector_kernel<Run, Each::template State, Timewise>(Each::start);
};

/// Delays a trigger.
template <bool AudioTime>
struct TDelay : SampleUnit<TDelay<AudioTime>> {
    static constexpr int inputs = 2, follows = AudioTime ? 3 : 1, doubles = 0, floats = 2;
    template <int N>
    SCS_INLINE static F32<N> step(Kept<TDelay, N>& kept, const F32<N>* in) {
        const auto left = kept.integer(1);
        const auto idle = left <= I32<N>(0), last = left == I32<N>(1);
        const auto time = rounded_samples(in[1], kept.rate);
        const auto samples = select(time < F32<N>(0x1p63f), one_at_least(to_int(time)), 1);
        const auto starts = rises(kept.f[0], in[0]) & idle;
        kept.f[0] = in[0];
        kept.keep_integer(1, select(idle, select(starts, samples, 0), left - I32<N>(1)));
        return select(last, F32<N>(1.f), 0.f);
    }
};

// ---- flip-flops

struct ToggleFF : SampleUnit<ToggleFF> {
    static constexpr int inputs = 1, follows = 1, doubles = 0, floats = 2;
    template <int N>
    SCS_INLINE static F32<N> step(Kept<ToggleFF, N>& kept, const F32<N>* in) {
        kept.f[1] = select(rises(kept.f[0], in[0]), F32<N>(1.f) - kept.f[1], kept.f[1]);
        kept.f[0] = in[0];
        return kept.f[1];
    }
    SCS_INLINE static F32<1> start(Kept<ToggleFF, 1>& kept, const F32<1>* in, Release release) {
        return release >= Release::v3_14 ? step(kept, in) : F32<1>(0.f);
    }
};

struct SetResetFF : SampleUnit<SetResetFF> {
    static constexpr int inputs = 2, follows = 3, doubles = 0, floats = 3;
    template <int N>
    SCS_INLINE static F32<N> step(Kept<SetResetFF, N>& kept, const F32<N>* in) {
        const auto set = select(rises(kept.f[0], in[0]), F32<N>(1.f), kept.f[2]);
        kept.f[2] = select(rises(kept.f[1], in[1]), F32<N>(0.f), set);
        kept.f[0] = in[0];
        kept.f[1] = in[1];
        return kept.f[2];
    }
};

/// 1 after the input was above in[2], until it is below in[1].
struct Schmidt : SampleUnit<Schmidt> {
    static constexpr int inputs = 3, follows = 1, doubles = 0, floats = 1;
    template <int N>
    SCS_INLINE static F32<N> step(Kept<Schmidt, N>& kept, const F32<N>* in) {
        const F32<N> one(1.f), zero(0.f);
        kept.f[0] = select(kept.f[0] == one, select(in[0] < in[1], zero, one), select(in[0] > in[2], one, zero));
        return kept.f[0];
    }
};

// ---- holding a signal

struct Latch : SampleUnit<Latch> {
    static constexpr int inputs = 2, follows = 3, doubles = 0, floats = 2;
    template <int N>
    SCS_INLINE static F32<N> step(Kept<Latch, N>& kept, const F32<N>* in) {
        kept.f[1] = select(rises(kept.f[0], in[1]), in[0], kept.f[1]);
        kept.f[0] = in[1];
        return kept.f[1];
    }
    SCS_INLINE static bool steps_back(Release) { return true; }
};

struct Gate : SampleUnit<Gate> {
    static constexpr int inputs = 2, follows = 3, doubles = 0, floats = 1;
    template <int N>
    SCS_INLINE static F32<N> step(Kept<Gate, N>& kept, const F32<N>* in) {
        return kept.f[0] = select(in[1] > F32<N>(0.f), in[0], kept.f[0]);
    }
};

template <class WithAudioTime, class Other>
const Kernel* choose_time(const Signature& s) {
    const bool follows = s.rate == Rate::audio && s.inputs.size() > 1 && s.audio(1);
    return follows ? EachSample<WithAudioTime>::choose(s) : EachSample<Other>::choose(s);
}

template <class Level>
const Kernel* choose_pulse(const Signature& s) {
    if (s.rate == Rate::audio && s.inputs.size() == 2 && !s.audio(0) && !s.audio(1))
        return &HeldPulse<Level>::kernel;
    return choose_time<Pulse<Level, true>, Pulse<Level, false>>(s);
}

constexpr NativeUgen list[] = {
    {"Gate", EachSample<Gate>::choose},
    {"Latch", EachSample<Latch>::choose},
    {"Schmidt", EachSample<Schmidt>::choose},
    {"SetResetFF", EachSample<SetResetFF>::choose},
    {"TDelay", choose_time<TDelay<true>, TDelay<false>>},
    {"ToggleFF", EachSample<ToggleFF>::choose},
    {"Trig", choose_pulse<PulseLevel>},
    {"Trig1", choose_pulse<PulseOne>},
};

} // namespace

SCS_FAMILY(triggers)

} // namespace scs::SCS_SIMD
