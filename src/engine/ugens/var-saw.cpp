// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/phase.hpp"

namespace scs::SCS_SIMD {
namespace {

enum { freq, iphase, width };

template <int N>
struct VarSawState {
    static constexpr size_t items64 = 1;
    uint64_t phase[N];
    float duty[N];
};

template <int N>
SCS_INLINE F32<N> clip_duty(F32<N> duty) {
    return min(max(duty, F32<N>(0.001f)), F32<N>(0.999f));
}

/// Rises from -1 to 1 for `duty` of a cycle and falls for the rest.
template <int N>
struct Triangle {
    F32<N> duty, rise, fall;
    SCS_INLINE explicit Triangle(F32<N> d) : duty(d), rise(F32<N>(2.f) / d), fall(F32<N>(2.f) / (F32<N>(1.f) - d)) {}
    SCS_INLINE F32<N> at(F32<N> x) const {
        return select(x < duty, x * rise, (F32<N>(1.f) - x) * fall) - F32<N>(1.f);
    }
};

template <int N>
SCS_INLINE U64<N> increment_of(F32<N> frequency, const Block& block) {
    // The product is a float in SuperCollider, too.
    return phase_of(convert<double>(frequency * F32<N>(float(block.audio->duration))));
}

/// A new width counts from a cycle's end on.
template <class Form>
class Widths {
public:
    static constexpr int N = Form::width;
    SCS_INLINE Widths(float* kept, F32<N> next)
        : kept_(kept), now(Form::get(kept)), next_(clip_duty(next)) {}
    SCS_INLINE ~Widths() { Form::keep(kept_, now.duty); }
    Widths(const Widths&) = delete;
    Widths& operator=(const Widths&) = delete;
    SCS_INLINE void advance(U32<N> before, U32<N> phase) {
        const auto wrapped = phase < before;
        now.duty = select(wrapped, next_.duty, now.duty);
        now.rise = select(wrapped, next_.rise, now.rise);
        now.fall = select(wrapped, next_.fall, now.fall);
    }

private:
    float* kept_;

public:
    Triangle<N> now;

private:
    const Triangle<N> next_;
};

template <class Form>
struct AudioFrequency {
    static void run(const Op& op, Block& block) {
        auto& s = state<VarSawState<Form::state_lanes>>(op, block);
        const float* frequency = input(op, block, freq);
        float* out = output(op, block);
        MovingPhase<Form> phase(s.phase);
        Widths<Form> widths(s.duty, Form::control(input(op, block, width)));
        for (int i = 0, n = Form::steps(block); i < n; ++i) {
            const auto by = increment_of(Form::audio(frequency, i), block);
            Form::put(out, i, widths.now.at(unipolar(phase.now)));
            const auto before = phase.now;
            phase.advance(by);
            widths.advance(before, phase.now);
        }
    }
};

template <bool Scaled>
struct HeldFrequency {
    template <class Form>
    static void change_width(const Op& op, Block& block) {
        auto& s = state<VarSawState<Form::state_lanes>>(op, block);
        float* out = output(op, block);
        HeldPhase<Form> phase(s.phase, increment_of(Form::by_voice(input(op, block, freq)), block), block);
        Widths<Form> widths(s.duty, Form::control(input(op, block, width)));
        with_gain<Form, Scaled>(op, block, [&](auto scale) SCS_INLINE_LAMBDA {
            for (int i = 0, n = Form::steps(block); i < n; ++i) {
                Form::put(out, i, scale(widths.now.at(unipolar(phase.now)), i));
                const auto before = phase.now;
                phase.advance();
                widths.advance(before, phase.now);
            }
        });
    }

    template <class Form>
    struct Run {
        static void run(const Op& op, Block& block) {
            auto& s = state<VarSawState<Form::state_lanes>>(op, block);
            constexpr int voices = Form::state_lanes;
            if (any(clip_duty(Form::by_voice(input(op, block, width))) != F32<voices>::load(s.duty)))
                return change_width<Voices<voices>>(op, block);
            float* out = output(op, block);
            HeldPhase<Form> phase(s.phase, increment_of(Form::by_voice(input(op, block, freq)), block), block);
            const Triangle<Form::width> shape(Form::get(s.duty));
            with_gain<Form, Scaled>(op, block, [&](auto scale) SCS_INLINE_LAMBDA {
                for (int i = 0, n = Form::steps(block); i < n; ++i, phase.advance())
                    Form::put(out, i, scale(shape.at(unipolar(phase.now)), i));
            });
        }
    };
};

void start(const Op& op, Block& block) {
    auto& s = state<VarSawState<1>>(op, block);
    phase_of(F64<1>(double(*input(op, block, iphase)))).store(s.phase);
    clip_duty(F32<1>(*input(op, block, width))).store(s.duty);
    *output(op, block) = 0.f;
}

constexpr Kernel at_audio_frequency = vector_kernel<AudioFrequency, VarSawState, Scalar>(start);
constexpr Kernel at_held_frequency = scalable<HeldFrequency<true>::Run, Timewise>(
    vector_kernel<HeldFrequency<false>::Run, VarSawState, Timewise>(start));

constexpr NativeUgen list[] = {
    {"VarSaw",
     [](const Signature& s) -> const Kernel* {
         if (s.rate != Rate::audio)
             return nullptr;
         return s.audio(freq) ? &at_audio_frequency : &at_held_frequency;
     }},
};

} // namespace

const std::span<const NativeUgen> var_saw = list;

} // namespace scs::SCS_SIMD
