// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {
namespace {

// Units that follow a signal's level: Amplitude, Compander and DetectSilence.

/// The factor for a sample that makes a level fall to a tenth in `time` seconds.
template <int N>
SCS_INLINE F32<N> tenth_factor(F32<N> time, const UnitRate& rate) {
    const F64<N> samples = convert<double>(time) * F64<N>(rate.samples);
    return select(time == F32<N>(0.f), 0.f, convert<float>(exp(F64<N>(-2.302585092994045684) / samples)));
}

/// A level that moves towards the signal's absolute value by a fraction of the difference each sample.
template <class Form>
struct Follower {
    static constexpr int N = Form::width;
    F32<N> level, rise, fall;
    SCS_INLINE F32<N> follow(F32<N> x) {
        const auto size = abs(x);
        level = size + (level - size) * select(size < level, fall, rise);
        return level;
    }
};

/// The state of a Follower, with the times for which its factors were computed.
template <int N>
struct FollowerState {
    static constexpr size_t items64 = 0;
    float level[N], rise_time[N], fall_time[N], rise[N], fall[N];
};

template <class Form>
SCS_INLINE void set_times(FollowerState<Form::width>& s, typename Form::F rise, typename Form::F fall,
                          const UnitRate& rate) {
    if (!any((rise != Form::get(s.rise_time)) | (fall != Form::get(s.fall_time))))
        return;
    Form::keep(s.rise_time, rise);
    Form::keep(s.fall_time, fall);
    Form::keep(s.rise, tenth_factor(rise, rate));
    Form::keep(s.fall, tenth_factor(fall, rate));
}

template <class Form>
SCS_INLINE Follower<Form> follower(const FollowerState<Form::width>& s) {
    return {Form::get(s.level), Form::get(s.rise), Form::get(s.fall)};
}

// ---- Amplitude

enum { in, attack, release };

template <class Form>
SCS_INLINE Follower<Form> start_block(const Op& op, const Block& block, const UnitRate& rate) {
    auto& s = state<FollowerState<Form::width>>(op, block);
    set_times<Form>(s, Form::control(input(op, block, attack)), Form::control(input(op, block, release)), rate);
    return follower<Form>(s);
}

template <class Form>
struct AmplitudeAudio {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto f = start_block<Form>(op, block, *block.audio);
        const float* from = input(op, block, in);
        float* out = output(op, block);
        for (int i = 0, n = block.frames; i < n; ++i)
            Form::put(out, i, f.follow(Form::audio(from, i)));
        Form::keep(state<FollowerState<Form::width>>(op, block).level, f.level);
    }
};
template <class Form>
struct AmplitudeControl {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto f = start_block<Form>(op, block, *block.control);
        f.follow(Form::control(input(op, block, in))).store(output(op, block));
        Form::keep(state<FollowerState<Form::width>>(op, block).level, f.level);
    }
};
/// Control rate with an audio signal: every frame is followed, but with the control rate's factors, as in
/// SuperCollider.
template <class Form>
struct AmplitudeOfAudio {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto f = start_block<Form>(op, block, *block.control);
        const float* from = input(op, block, in);
        for (int i = 0, n = block.frames; i < n; ++i)
            f.follow(Form::audio(from, i));
        f.level.store(output(op, block));
        Form::keep(state<FollowerState<Form::width>>(op, block).level, f.level);
    }
};

void start_amplitude(const Op& op, Block& block, const UnitRate& rate) {
    auto& s = state<FollowerState<1>>(op, block);
    auto f = start_block<Scalar>(op, block, rate);
    f.level = abs(F32<1>(*input(op, block, in)));
    f.follow(f.level).store(output(op, block));
    f.level.store(s.level);
}
void start_amplitude_audio(const Op& op, Block& block) SCS_NONBLOCKING {
    start_amplitude(op, block, *block.audio);
}
void start_amplitude_control(const Op& op, Block& block) SCS_NONBLOCKING {
    start_amplitude(op, block, *block.control);
}

constexpr Kernel amplitude_audio = vector_kernel<AmplitudeAudio, FollowerState, Scalar>(start_amplitude_audio);
constexpr Kernel amplitude_control = vector_kernel<AmplitudeControl, FollowerState, Scalar>(start_amplitude_control);
constexpr Kernel amplitude_of_audio = vector_kernel<AmplitudeOfAudio, FollowerState, Scalar>(start_amplitude_control);

const Kernel* choose_amplitude(const Signature& s) {
    if (s.rate != Rate::audio)
        return s.audio(in) ? &amplitude_of_audio : &amplitude_control;
    return s.audio(in) ? &amplitude_audio : nullptr;
}

// ---- Compander

enum { side = 1, threshold, below, above, clamp_time, relax_time };

template <int N>
struct CompanderState {
    static constexpr size_t items64 = 0;
    FollowerState<N> follower;
    float gain[N];
};

/// The gain for a level: a power of its ratio to the threshold.
template <int N>
SCS_INLINE F32<N> wanted_gain(F32<N> level, F32<N> threshold, F32<N> below, F32<N> above) {
    const auto under = level < threshold;
    const auto slope = select(under, below, above);
    const auto ratio = level / (threshold + F32<N>(0.f)); // + 0 makes -0 a 0: pow() of a negative infinity would be NaN
    const auto gain = pow(ratio, slope - F32<N>(1.f));
    const auto size = abs(gain);
    const auto bounded = select(size < F32<N>(1e-15f), 0.f, select(size > F32<N>(1e15f), 1.f, gain));
    return select(slope == F32<N>(1.f), 1.f, select(under, bounded, gain));
}

template <class Form>
SCS_INLINE void compand(const Op& op, const Block& block, int n) {
    constexpr int N = Form::width;
    auto& s = state<CompanderState<N>>(op, block);
    const auto held = [&](size_t index) { return Form::control(input(op, block, index)); };
    const float *from = input(op, block, in), *control = input(op, block, side);
    const auto limit = held(threshold), lower = held(below), upper = held(above);
    set_times<Form>(s.follower, held(clamp_time), held(relax_time), *block.audio);
    auto f = follower<Form>(s.follower);
    float* out = output(op, block);
    for (int i = 0; i < n; ++i)
        f.follow(Form::audio(control, i));
    Form::keep(s.follower.level, f.level);
    auto gain = Form::get(s.gain);
    const auto slope = (wanted_gain(f.level, limit, lower, upper) - gain) * F32<N>(1.f / float(block.frames));
    for (int i = 0; i < n; ++i) {
        Form::put(out, i, Form::audio(from, i) * gain);
        gain += slope;
    }
    Form::keep(s.gain, gain);
}

template <class Form>
struct Compander {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { compand<Form>(op, block, block.frames); }
};

constexpr Kernel compander = vector_kernel<Compander, CompanderState, Scalar>(
    [](const Op& op, Block& block) SCS_NONBLOCKING { compand<Scalar>(op, block, 1); });

// ---- DetectSilence

enum { level = 1, time, silence_action };

template <int N>
struct SilenceState {
    static constexpr size_t items64 = 0;
    int32_t counter[N]; ///< silent samples since the last sound, or -1 before the first
};

template <int L>
SCS_INLINE void detect(const Op& op, Block& block, int n, const UnitRate& rate) {
    auto& s = state<SilenceState<L>>(op, block);
    each_lane<L>(block, [&](int lane) {
        const LaneIn<L> from(op, block, in, lane);
        float* out = output(op, block) + lane;
        const float limit = input(op, block, level)[lane];
        const int32_t end = int_of(rate.samples * double(input(op, block, time)[lane]));
        int32_t counter = s.counter[lane];
        bool silent = false;
        int i = 0;
        // `lanes` frames at once, as long as the time can't be over within them.
        for (; L == 1 && i + lanes <= n && int64_t(counter < 0 ? 0 : counter) + lanes < end; i += lanes) {
            const auto sounds = bitmask(abs(F32<lanes>::load(from.wire + i)) > F32<lanes>(limit));
            if (sounds)
                counter = __builtin_clz(sounds) - (32 - lanes);
            else if (counter >= 0)
                counter += lanes;
            F32<lanes>(0.f).store(out + i);
        }
        for (; i < n; ++i) {
            const float x = from.at(i);
            bool over = false;
            if ((x < 0.f ? -x : x) > limit)
                counter = 0;
            else if (counter >= 0)
                over = (counter += counter < INT32_MAX) >= end;
            out[i * L] = over ? 1.f : 0.f;
            silent = silent || over;
        }
        s.counter[lane] = counter;
        if (silent)
            act(block, lane, input(op, block, silence_action)[lane]);
    });
}

template <int L>
struct SilenceAudio {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { detect<L>(op, block, block.frames, *block.audio); }
};
template <int L>
struct SilenceControl {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { detect<L>(op, block, 1, *block.control); }
};

void start_silence(const Op& op, Block& block) SCS_NONBLOCKING {
    state<SilenceState<1>>(op, block).counter[0] = -1;
    *output(op, block) = 0.f;
}

template <template <int> class K>
constexpr Kernel silence = [] {
    Kernel made = lane_kernel<K, SilenceState>(start_silence);
    made.acts_when_done = true;
    return made;
}();

constexpr NativeUgen list[] = {
    {"Amplitude", choose_amplitude},
    {"Compander",
     [](const Signature& s) { return s.rate == Rate::audio && s.audio(in) && s.audio(side) ? &compander : nullptr; }},
    {"DetectSilence",
     [](const Signature& s) -> const Kernel* {
         if (s.rate != Rate::audio)
             return &silence<SilenceControl>;
         return s.audio(in) ? &silence<SilenceAudio> : nullptr;
     }},
};

} // namespace

SCS_FAMILY(dynamics)

} // namespace scs::SCS_SIMD
