// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/each-step.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/phase.hpp"

namespace scs::SCS_SIMD {
namespace {

// Whatever frequency and phase are, it stays within -1 to 1: in SuperCollider a phase below 0, or one that rises by
// more than a cycle a frame, runs away, and the samples with it. Phases become floats before they are looked at, so
// that a slope of a frame or two, at a width next to 0 or 1, is off by up to 2^-24 of a cycle times its steepness.

enum { freq, iphase, width };

template <int N>
struct VarSawState {
    static constexpr size_t items64 = 1;
    uint64_t phase[N];
    float duty[N];
    int32_t wrapped[N]; ///< -1: the next frame is the first of a cycle, else 0
};

template <int N>
SCS_INLINE F32<N> clip_duty(F32<N> duty) {
    return min(max(duty, F32<N>(0.001f)), F32<N>(0.999f));
}

/// Rises from -1 to 1 for `duty` of a cycle and falls for the rest: the lower one of two lines that meet there. Phases
/// count from 0 to 2^31, and the slopes with them, which changes no bit.
template <int N>
struct Triangle {
    F32<N> duty, rise, fall;
    SCS_INLINE explicit Triangle(F32<N> d)
        : duty(d), rise(F32<N>(0x1p-30f) / d), fall(F32<N>(0x1p-30f) / (F32<N>(1.f) - d)) {}
    SCS_INLINE F32<N> at(U32<N> phase) const {
        const auto x = convert<float>(bits<int32_t>(phase >> 1));
        return min(x * rise, (F32<N>(0x1p31f) - x) * fall) - F32<N>(1.f);
    }
};

template <int N>
SCS_INLINE U64<N> increment_of(F32<N> frequency, const UnitRate& rate) {
    // The product is a float in SuperCollider, too.
    return phase_of(convert<double>(frequency * F32<N>(float(rate.duration))));
}

/// A new width counts from a cycle's first frame on.
template <class Form>
class Widths {
public:
    static constexpr int N = Form::width;
    SCS_INLINE Widths(VarSawState<N>& kept, F32<N> next)
        : kept_(kept), wrapped(Form::get(kept.wrapped)), now(Form::get(kept.duty)), next_(clip_duty(next)) {}
    SCS_INLINE ~Widths() { Form::keep(kept_.duty, now.duty); }
    Widths(const Widths&) = delete;
    Widths& operator=(const Widths&) = delete;
    /// Before a frame.
    SCS_INLINE const Triangle<N>& take() {
        now.duty = select(wrapped, next_.duty, now.duty);
        now.rise = select(wrapped, next_.rise, now.rise);
        now.fall = select(wrapped, next_.fall, now.fall);
        return now;
    }

private:
    VarSawState<N>& kept_;

public:
    I32<N> wrapped;

private:
    Triangle<N> now;
    const Triangle<N> next_;
};

/// Of audio units with a frequency of audio rate, and of control units.
template <class Form>
struct EachFrame {
    static void run(const Op& op, Block& block) {
        auto& s = state<VarSawState<Form::state_lanes>>(op, block);
        const UnitRate& rate = own_rate(op, block);
        const float* frequency = input(op, block, freq);
        float* out = output(op, block);
        MovingPhase<Form> phase(s.phase);
        Widths<Form> widths(s, Form::control(input(op, block, width)));
        for (int i = 0, n = own_steps<Form>(op, block); i < n; ++i) {
            const auto by = increment_of(Form::audio(frequency, i), rate);
            Form::put(out, i, widths.take().at(phase.now));
            const auto before = phase.now;
            phase.advance(by);
            widths.wrapped = phase.now < before;
        }
        Form::keep(s.wrapped, widths.wrapped);
    }
};

template <bool Scaled>
struct HeldFrequency {
    /// Goes on to the next block.
    template <class Form>
    SCS_INLINE static HeldPhase<Form> advance(VarSawState<Form::state_lanes>& s, const Op& op, Block& block) {
        const auto by = increment_of(Form::by_voice(input(op, block, freq)), *block.audio);
        const HeldPhase<Form> phase(s.phase, by, block);
        narrow_mask(U64<Form::state_lanes>::load(s.phase) < by).store(s.wrapped);
        return phase;
    }

    template <class Form>
    static void change_width(const Op& op, Block& block) {
        auto& s = state<VarSawState<Form::state_lanes>>(op, block);
        float* out = output(op, block);
        Widths<Form> widths(s, Form::control(input(op, block, width)));
        auto phase = advance<Form>(s, op, block);
        with_gain<Form, Scaled>(op, block, [&](auto scale) SCS_INLINE_LAMBDA {
            for (int i = 0, n = Form::steps(block); i < n; ++i) {
                Form::put(out, i, scale(widths.take().at(phase.now), i));
                const auto before = phase.now;
                phase.advance();
                widths.wrapped = phase.now < before;
            }
        });
    }

    template <class Form>
    struct Run {
        static void run(const Op& op, Block& block) {
            auto& s = state<VarSawState<Form::state_lanes>>(op, block);
            constexpr int voices = Form::state_lanes;
            const auto changed = clip_duty(Form::by_voice(input(op, block, width))) != F32<voices>::load(s.duty);
            if (bitmask(changed) & block.live)
                return change_width<Voices<voices>>(op, block);
            float* out = output(op, block);
            auto phase = advance<Form>(s, op, block);
            const Triangle<Form::width> shape(Form::get(s.duty));
            with_gain<Form, Scaled>(op, block, [&](auto scale) SCS_INLINE_LAMBDA {
                each_step<Form>(block, [&](int i) SCS_INLINE_LAMBDA {
                    Form::put(out, i, scale(shape.at(phase.now), i));
                    phase.advance();
                });
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

constexpr Kernel frame_by_frame = vector_kernel<EachFrame, VarSawState, Scalar>(start);
constexpr Kernel at_held_frequency = scalable<HeldFrequency<true>::Run, Timewise>(
    vector_kernel<HeldFrequency<false>::Run, VarSawState, Timewise>(start));

constexpr NativeUgen list[] = {
    {"VarSaw",
     [](const Signature& s) { return s.rate != Rate::audio || s.audio(freq) ? &frame_by_frame : &at_held_frequency; }},
};

} // namespace

SCS_FAMILY(var_saw)

} // namespace scs::SCS_SIMD
