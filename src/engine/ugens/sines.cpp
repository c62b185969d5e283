// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/sine-tables.hpp"
#include "engine/ugens/table-phase.hpp"

namespace scs::SCS_SIMD {
namespace {

// ---- SinOsc

template <int N>
struct SinOscState {
    static constexpr size_t items64 = 0;
    uint32_t phase[N];
    float offset[N]; ///< radians
};

enum class Offset { held, control, audio };

template <bool AudioFrequency, Offset offset_kind>
struct SinOsc {
    template <class Form, bool Scaled>
    SCS_INLINE static void compute(const Op& op, Block& block) {
        constexpr int N = Form::width, voices = Form::state_lanes;
        auto& s = state<SinOscState<voices>>(op, block);
        const float *frequency = input(op, block, 0), *offset = input(op, block, 1);
        float* out = output(op, block);
        const double hertz = own_rate(op, block).duration * phase_cycle;
        const F32<N> radian = float(phase_radian);
        const int n = own_steps<Form>(op, block);
        with_gain<Form, Scaled>(op, block, [&](auto scale) SCS_INLINE_LAMBDA {
            // phase_at(step) is called once a step, in order.
            const auto put_sines = [&](auto phase_at) SCS_INLINE_LAMBDA {
                // A control unit's has the bits of SuperCollider's table: frequencies are made of it, and oscillators
                // add up what they are off by.
                if (!at_audio_rate(op))
                    return Form::put(out, 0, scale(wavetable_sine(phase_at(0)), 0));
                for (int i = 0; i < n; ++i)
                    Form::put(out, i, scale(sine(phase_at(i)), i));
            };
            if constexpr (AudioFrequency) {
                UnevenPhase<Form> phase(s.phase);
                const auto base_at = [&](int i) SCS_INLINE_LAMBDA {
                    return phase.take(whole_phase(Form::audio(frequency, i) * F32<N>(float(hertz))));
                };
                if constexpr (offset_kind == Offset::audio) {
                    put_sines([&](int i) SCS_INLINE_LAMBDA {
                        return base_at(i) + whole_phase(Form::audio(offset, i) * radian);
                    });
                } else if constexpr (offset_kind == Offset::control) {
                    const RampIn<Form> ramp(offset, s.offset, block);
                    put_sines([&](int i) SCS_INLINE_LAMBDA { return base_at(i) + whole_phase(ramp.at(i) * radian); });
                } else {
                    const auto held = whole_phase(Form::control(offset) * radian);
                    put_sines([&](int i) SCS_INLINE_LAMBDA { return base_at(i) + held; });
                }
            } else {
                auto by = whole_phase(convert<double>(Form::by_voice(frequency)) * F64<voices>(hertz));
                const int frames = own_frames(op, block);
                if constexpr (offset_kind == Offset::control) {
                    const auto next = Form::by_voice(offset);
                    const auto slope = (next - F32<voices>::load(s.offset)) * F32<voices>(1.f / float(frames));
                    by += whole_phase(convert<double>(slope) * F64<voices>(phase_radian));
                    next.store(s.offset);
                }
                EvenPhase<Form> phase(s.phase, by, frames);
                if constexpr (offset_kind == Offset::audio)
                    put_sines([&](int i) SCS_INLINE_LAMBDA {
                        return phase.take() + whole_phase(Form::audio(offset, i) * radian);
                    });
                else
                    put_sines([&](int) SCS_INLINE_LAMBDA { return phase.take(); });
            }
        });
    }
    template <class Form>
    struct Run {
        static void run(const Op& op, Block& block) { compute<Form, false>(op, block); }
    };
    template <class Form>
    struct Scaled {
        static void run(const Op& op, Block& block) { compute<Form, true>(op, block); }
    };

    static void start(const Op& op, Block& block) {
        auto& s = state<SinOscState<1>>(op, block);
        const float radians = *input(op, block, 1);
        s.offset[0] = radians;
        const bool begins_there = !AudioFrequency && offset_kind != Offset::audio;
        const uint32_t begin = begins_there ? whole_phase(F64<1>(double(radians) * phase_radian))[0] : 0;
        s.phase[0] = begin;
        run_first_frame(Run<Scalar>::run, op, block);
        s.phase[0] = begin;
    }
    static constexpr auto kernels = AtBothRates<Run, SinOscState, Timewise>(start).template scalable<Scaled>();
};

template <bool AudioFrequency>
const Kernel* choose_sin_osc(const Signature& s) {
    if (s.audio(1))
        return SinOsc<AudioFrequency, Offset::audio>::kernels.of(s);
    if (s.inputs[1].rate == Rate::control)
        return SinOsc<AudioFrequency, Offset::control>::kernels.of(s);
    return SinOsc<AudioFrequency, Offset::held>::kernels.of(s);
}

// ---- SinOscFB

template <int N>
struct FeedbackState {
    static constexpr size_t items64 = 0;
    uint32_t phase[N];
    float last[N];
    float feedback[N]; ///< phase per amplitude
};

template <class Form>
struct SinOscFB {
    static constexpr int N = Form::width;
    SCS_INLINE static F32<N> wanted(const Op& op, const Block& block) {
        return convert<float>(convert<double>(Form::control(input(op, block, 1))) * F64<N>(phase_radian));
    }
    static void run(const Op& op, Block& block) {
        auto& s = state<FeedbackState<N>>(op, block);
        float* out = output(op, block);
        const int n = own_steps<Form>(op, block);
        const F64<N> hertz = own_rate(op, block).duration * phase_cycle;
        const auto by = whole_phase(convert<double>(Form::control(input(op, block, 0))) * hertz);
        const auto next = wanted(op, block), from = Form::get(s.feedback);
        const auto slope = (next - from) * F32<N>(1.f / float(n));
        EvenPhase<Form> phase(s.phase, by, n);
        auto last = Form::get(s.last);
        for (int i = 0; i < n; ++i) {
            last = sine(phase.take() + whole_phase((from + slope * Form::frame(i)) * last));
            Form::put(out, i, last);
        }
        Form::keep(s.last, last);
        Form::keep(s.feedback, next);
    }
};

void start_sin_osc_fb(const Op& op, Block& block) {
    auto& s = state<FeedbackState<1>>(op, block);
    SinOscFB<Scalar>::wanted(op, block).store(s.feedback);
    run_first_frame(SinOscFB<Scalar>::run, op, block);
    s.phase[0] = 0;
}

constexpr AtBothRates<SinOscFB, FeedbackState, Scalar> sin_osc_fb{start_sin_osc_fb};

// ---- FSinOsc

template <int N>
struct RecursionState {
    static constexpr size_t items64 = 3;
    double b1[N], y1[N], y2[N];
    float freq[N];
};

/// y[n] = 2 cos(w) y[n-1] - y[n-2]. It holds for steps of any number of frames with that number times w: with three,
/// three sums that don't wait for each other.
constexpr int sums = 3;

template <class Form>
struct FSinOsc {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) {
        auto& s = state<RecursionState<N>>(op, block);
        float* out = output(op, block);
        const auto freq = Form::control(input(op, block, 0));
        auto b1 = Form::get(s.b1);
        const auto changed = freq != Form::get(s.freq);
        if (any(changed)) {
            const auto w = convert<double>(freq) * F64<N>(own_rate(op, block).radians);
            b1 = select(widen_mask(changed), F64<N>(2.0) * cos(w), b1);
            Form::keep(s.freq, freq);
            Form::keep(s.b1, b1);
        }
        auto y1 = Form::get(s.y1), y2 = Form::get(s.y2);
        const auto next = [&](int i) SCS_INLINE_LAMBDA {
            const auto y0 = b1 * y1 - y2;
            y2 = y1;
            y1 = y0;
            Form::put(out, i, convert<float>(y0));
            return y0;
        };
        const int n = own_steps<Form>(op, block);
        int i = 0;
        if (n > 1) {
            const auto b3 = b1 * (b1 * b1 - F64<N>(3.0));
            F64<N> even[sums], odd[sums];
            for (auto& y : even)
                y = next(i++);
            for (auto& y : odd)
                y = next(i++);
            const auto further = [&](F64<N>(&to)[sums], const F64<N>(&from)[sums]) SCS_INLINE_LAMBDA {
                for (int k = 0; k < sums; ++k) {
                    to[k] = b3 * from[k] - to[k];
                    Form::put(out, i++, convert<float>(to[k]));
                }
            };
            while (i <= n - 2 * sums) {
                further(even, odd);
                further(odd, even);
            }
            y1 = odd[sums - 1];
            y2 = odd[sums - 2];
        }
        while (i < n)
            next(i++);
        Form::keep(s.y1, y1);
        Form::keep(s.y2, y2);
    }
};

void start_f_sin_osc(const Op& op, Block& block) {
    auto& s = state<RecursionState<1>>(op, block);
    const float freq = *input(op, block, 0), phase = *input(op, block, 1);
    const float w = float(double(freq) * own_rate(op, block).radians);
    // Of floats, as there: the frequency that comes of it stays until it is changed.
    const F64<1> b1 = F64<1>(2.0) * convert<double>(cos(F32<1>(w)));
    const F64<1> y1 = convert<double>(sin(F32<1>(phase - w))), y2 = convert<double>(sin(F32<1>(phase - 2.f * w)));
    s.freq[0] = freq;
    b1.store(s.b1);
    y1.store(s.y1);
    y2.store(s.y2);
    *output(op, block) = float((b1 * y1 - y2)[0]);
}

constexpr AtBothRates<FSinOsc, RecursionState, Scalar> f_sin_osc{start_f_sin_osc};

constexpr NativeUgen list[] = {
    {"FSinOsc", [](const Signature& s) { return f_sin_osc.of(s); }},
    {"SinOsc", [](const Signature& s) { return s.audio(0) ? choose_sin_osc<true>(s) : choose_sin_osc<false>(s); }},
    {"SinOscFB", [](const Signature& s) { return sin_osc_fb.of(s); }},
};

} // namespace

const std::span<const NativeUgen> sines = list;

} // namespace scs::SCS_SIMD
