// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/sine-tables.hpp"
#include "engine/ugens/spans.hpp"
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

/// The phase increment of each frame, if it is the same for the whole block: the frequency isn't at audio rate. A
/// ramped offset is part of it. Keeps the offset.
template <Offset offset_kind, int N>
SCS_INLINE U32<N> even_increment(SinOscState<N>& s, const Op& op, const Block& block) {
    const double hertz = own_rate(op, block).duration * phase_cycle;
    auto by = whole_phase(convert<double>(F32<N>::load(input(op, block, 0))) * F64<N>(hertz));
    if constexpr (offset_kind == Offset::control) {
        const auto next = F32<N>::load(input(op, block, 1));
        const auto slope = (next - F32<N>::load(s.offset)) * F32<N>(1.f / float(own_frames(op, block)));
        by += whole_phase(convert<double>(slope) * F64<N>(phase_radian));
        next.store(s.offset);
    }
    return by;
}

template <bool AudioFrequency, Offset offset_kind>
struct SinOsc {
    template <class Form, bool Scaled>
    SCS_INLINE static void compute(const Op& op, Block& block) SCS_NONBLOCKING {
        constexpr int N = Form::width, voices = Form::state_lanes;
        auto& s = state<SinOscState<voices>>(op, block);
        const float *frequency = input(op, block, 0), *offset = input(op, block, 1);
        float* out = output(op, block);
        const double hertz = own_rate(op, block).duration * phase_cycle;
        const F32<N> radian = float(phase_radian);
        const int n = own_steps<Form>(op, block);
        with_gain<Form, Scaled>(op, block, [&](auto scale) SCS_INLINE_LAMBDA {
            // phase_at(step) is called once for each step, in order.
            const auto put_sines = [&](auto phase_at) SCS_INLINE_LAMBDA {
                // At control rate the result has the same bits as with SuperCollider's table. It is often used as a
                // frequency, and an oscillator would sum up the difference.
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
                EvenPhase<Form> phase(s.phase, even_increment<offset_kind>(s, op, block), own_frames(op, block));
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
        static void run(const Op& op, Block& block) SCS_NONBLOCKING { compute<Form, false>(op, block); }
    };
    template <class Form>
    struct Scaled {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING { compute<Form, true>(op, block); }
    };

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
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
    static constexpr Kernel control = vector_kernel<Run, SinOscState, Scalar>(start);
};

template <int N>
struct EvenState : SinOscState<N> {
    uint32_t rise[N]; ///< the increment that the factors were computed for
    Factors<N> near;
};

/// An audio unit whose frequency and offset aren't at audio rate. The middle of each span is computed from the phase,
/// so that errors don't add up, and the sine is exactly 0 where the phase is 0 or half a cycle.
template <Offset offset_kind>
struct EvenSinOsc {
    static constexpr uint32_t quarter = 1u << 27;
    template <int N>
    SCS_INLINE static F32<N> cosine(U32<N> phase) {
        return sine(phase + U32<N>(quarter));
    }

    SCS_INLINE static void design(EvenState<lanes>& s, U32<lanes> by) {
        by.store(s.rise);
        U32<lanes> phase = by;
        for (int k = 1; k <= reach; ++k) {
            cosine(phase).store(s.near.even[k]);
            sine(phase).store(s.near.odd[k]);
            phase += by;
        }
    }
    /// For a lone voice, several factors at once.
    SCS_INLINE static void design(EvenState<1>& s, U32<1> by) {
        by.store(s.rise);
        for (int k = 1; k <= reach; k += lanes) {
            const auto phase = U32<lanes>(by[0]) * (counted<1>() + U32<lanes>(uint32_t(k - 1)));
            float even[lanes], odd[lanes];
            cosine(phase).store(even);
            sine(phase).store(odd);
            constexpr size_t bytes = size_t(lanes < reach ? lanes : reach) * sizeof(float);
            __builtin_memcpy(s.near.even[k], even, bytes);
            __builtin_memcpy(s.near.odd[k], odd, bytes);
        }
    }

    /// From, From + 1 …, starting again at From after `Period` numbers.
    template <uint32_t From, uint32_t Period = lanes>
    SCS_INLINE static U32<lanes> counted() {
        uint32_t numbers[lanes];
        for (uint32_t i = 0; i < lanes; ++i)
            numbers[i] = From + i % Period;
        return U32<lanes>::load(numbers);
    }

    template <class Form, bool Scaled>
    SCS_INLINE static void compute(const Op& op, Block& block) SCS_NONBLOCKING {
        constexpr int voices = Form::state_lanes;
        auto& s = state<EvenState<voices>>(op, block);
        float* out = output(op, block);
        const auto by = even_increment<offset_kind>(s, op, block);
        if (any(by != U32<voices>::load(s.rise)))
            design(s, by);
        const auto phase = U32<voices>::load(s.phase);
        const int frames = whole_steps(block.frames, 1);
        (phase + by * U32<voices>(uint32_t(frames))).store(s.phase);
        with_gain<Form, Scaled>(op, block, [&](auto scale) SCS_INLINE_LAMBDA {
            put_spans(s.near, phase + by * U32<voices>(uint32_t(reach)), by * U32<voices>(uint32_t(span)), frames,
                      [&](int step, typename Form::F value)
                          SCS_INLINE_LAMBDA { Form::put(out, step, scale(value, step)); });
        });
    }
    template <class Put>
    SCS_INLINE static void put_spans(const Factors<lanes>& near, U32<lanes> middle, U32<lanes> by, int frames,
                                     Put&& put) {
        for (int frame = 0; frame < frames; frame += span, middle += by)
            put_span(near, sine(middle), cosine(middle), frame, put);
    }
    template <class Put>
    SCS_INLINE static void put_spans(const Factors<1>& near, U32<1> middle, U32<1> by, int frames, Put&& put) {
        constexpr int spans = block_multiple / span, both = 2 * spans;
        const LoneSpan around(near);
        for (int frame = 0; frame < frames; middle += by * U32<1>(spans)) {
            // The sines of the middles of all spans, then the cosines.
            float made[both < lanes ? lanes : both];
            const auto phase = U32<lanes>(middle[0]) + U32<lanes>(by[0]) * counted<0, spans>();
            for (int i = 0; i < both; i += lanes)
                sine(phase +
                     (counted<0>() + U32<lanes>(uint32_t(i))) / U32<lanes>(uint32_t(spans)) * U32<lanes>(quarter))
                    .store(made + i);
            for (int i = 0; i < spans; ++i, frame += span)
                around.put_span(made[i], made[spans + i], frame, put);
        }
    }
    template <class Form>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING { compute<Form, false>(op, block); }
    };
    template <class Form>
    struct Scaled {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING { compute<Form, true>(op, block); }
    };

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<EvenState<1>>(op, block);
        for (auto& even : s.near.even)
            even[0] = 1.f;
        SinOsc<false, offset_kind>::start(op, block);
    }
    static constexpr Kernel kernel = scalable<Scaled, Timewise>(vector_kernel<Run, EvenState, Timewise>(start));
};

template <Offset offset_kind>
const Kernel* choose_sin_osc(const Signature& s) {
    if (s.audio(0))
        return SinOsc<true, offset_kind>::kernels.of(s);
    if constexpr (offset_kind == Offset::audio)
        return SinOsc<false, offset_kind>::kernels.of(s);
    else
        return s.rate == Rate::audio ? &EvenSinOsc<offset_kind>::kernel : &SinOsc<false, offset_kind>::control;
}

// ---- SinOscFB

template <int N>
struct FeedbackState {
    static constexpr size_t items64 = 0;
    uint32_t phase[N];
    float last[N];
    float feedback[N]; ///< phase per unit of amplitude
};

template <class Form>
struct SinOscFB {
    static constexpr int N = Form::width;
    SCS_INLINE static F32<N> wanted(const Op& op, const Block& block) {
        return convert<float>(convert<double>(Form::control(input(op, block, 1))) * F64<N>(phase_radian));
    }
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
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

void start_sin_osc_fb(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<FeedbackState<1>>(op, block);
    SinOscFB<Scalar>::wanted(op, block).store(s.feedback);
    run_first_frame(SinOscFB<Scalar>::run, op, block);
    s.phase[0] = 0;
}

constexpr AtBothRates<SinOscFB, FeedbackState, Scalar> sin_osc_fb{start_sin_osc_fb};

constexpr NativeUgen list[] = {
    {"SinOsc",
     [](const Signature& s) {
         if (s.audio(1))
             return choose_sin_osc<Offset::audio>(s);
         return s.inputs[1].rate == Rate::control ? choose_sin_osc<Offset::control>(s)
                                                  : choose_sin_osc<Offset::held>(s);
     },
     Gives::nothing, true},
    {"SinOscFB", [](const Signature& s) { return sin_osc_fb.of(s); }},
};

} // namespace

SCS_FAMILY(sines)

} // namespace scs::SCS_SIMD
