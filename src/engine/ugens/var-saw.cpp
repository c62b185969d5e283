// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/each-step.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/phase.hpp"

namespace scs::SCS_SIMD {
namespace {

// VarSaw stays within -1 to 1 for any frequency and phase. In SuperCollider, a phase below 0 or an increment above one
// cycle a frame makes the phase run away, and the samples with it. Phases are converted to floats. Therefore at a width
// near 0 or 1, where a slope lasts a frame or two, the error is up to 2^-24 of a cycle times the slope.

enum { freq, iphase, width };

template <int N>
struct VarSawState {
    static constexpr size_t items64 = 1;
    uint64_t phase[N];
    float duty[N];
    int32_t wrapped[N]; ///< -1: the next frame is the first of a cycle; else 0
};

template <int N>
SCS_INLINE F32<N> clip_duty(F32<N> duty) {
    return min(max(duty, F32<N>(0.001f)), F32<N>(0.999f));
}

/// Rises from -1 to 1 in the first `duty` of a cycle and falls in the rest: the minimum of two lines. Phases, and the
/// slopes with them, are scaled to 0 … 2^31, a power of two, which changes no bit of the result.
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
    // SuperCollider's product is a float, too.
    return phase_of(convert<double>(frequency * F32<N>(float(rate.duration))));
}

/// A new width is used from the first frame of a cycle on.
template <class Form>
class Widths {
public:
    static constexpr int N = Form::width;
    SCS_INLINE Widths(VarSawState<N>& kept, F32<N> next)
        : kept_(kept), wrapped(Form::get(kept.wrapped)), now(Form::get(kept.duty)), next_(clip_duty(next)) {}
    SCS_INLINE ~Widths() { Form::keep(kept_.duty, now.duty); }
    Widths(const Widths&) = delete;
    Widths& operator=(const Widths&) = delete;
    /// The shape for the next frame.
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

/// For audio units with a frequency at audio rate, and for control units.
template <class Form>
struct EachFrame {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
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
    /// Advances the state to the next block, and returns the phases of this one.
    template <class Form>
    SCS_INLINE static HeldPhase<Form> advance(VarSawState<Form::state_lanes>& s, const Op& op, Block& block) {
        const auto by = increment_of(Form::by_voice(input(op, block, freq)), *block.audio);
        const HeldPhase<Form> phase(s.phase, by, block);
        narrow_mask(U64<Form::state_lanes>::load(s.phase) < by).store(s.wrapped);
        return phase;
    }

    template <class Form>
    static void change_width(const Op& op, Block& block) SCS_NONBLOCKING {
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
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
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

void start(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<VarSawState<1>>(op, block);
    phase_of(F64<1>(double(*input(op, block, iphase)))).store(s.phase);
    clip_duty(F32<1>(*input(op, block, width))).store(s.duty);
    *output(op, block) = 0.f;
    if (block.space->release >= Release::v3_14)
        Triangle<1>(F32<1>(s.duty[0])).at(upper_half(U64<1>(s.phase[0]))).store(output(op, block));
}

constexpr Kernel frame_by_frame = vector_kernel<EachFrame, VarSawState, Scalar>(start);
constexpr Kernel at_held_frequency = scalable<HeldFrequency<true>::Run, Timewise>(
    vector_kernel<HeldFrequency<false>::Run, VarSawState, Timewise>(start));

constexpr NativeUgen list[] = {
    {"VarSaw",
     [](const Signature& s) { return s.rate != Rate::audio || s.audio(freq) ? &frame_by_frame : &at_held_frequency; },
     Gives::nothing, true},
};

} // namespace

SCS_FAMILY(var_saw)

} // namespace scs::SCS_SIMD
