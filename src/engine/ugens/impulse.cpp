// SPDX-License-Identifier: GPL-3.0-or-later

// Impulse: 1 in each frame in which the phase passes the end of a cycle. The phase is summed up as in SuperCollider,
// for the reason given in low-frequency.cpp.

#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"

namespace scs::SCS_SIMD {
namespace {

template <int N>
struct ImpulseState {
    static constexpr size_t items64 = 1;
    double phase[N];
    float increment[N];
    float offset[N]; ///< cycles
};

enum class Input { held, control, audio };

/// Wraps a phase into 0 … 1. Returns a mask of the lanes in which it was outside.
template <int N>
SCS_INLINE I64<N> wrap(F64<N> increment, F64<N>& phase) {
    const F64<N> zero(0.0), one(1.0);
    const auto falls = increment < zero;
    const auto down = falls & (phase <= zero), up = ~falls & (phase >= one);
    const auto wraps = down | up;
    phase = select(down, phase + one, select(up, phase - one, phase));
    const auto far = (down & (phase <= zero)) | (up & (phase >= one));
    if (any(far)) [[unlikely]]
        phase = select(far, phase - select(falls, ceil(phase), floor(phase)), phase);
    return wraps;
}

/// The same for increments that aren't negative.
template <int N>
SCS_INLINE I64<N> wrap_rising(F64<N>& phase) {
    const F64<N> one(1.0);
    const auto wraps = phase >= one;
    if (N > 1 || any(wraps)) {
        phase -= bits<double>(wraps & bits<int64_t>(one));
        const auto far = phase >= one;
        if (any(far)) [[unlikely]]
            phase = select(far, phase - floor(phase), phase);
    }
    return wraps;
}

template <Input frequency_kind, Input offset_kind>
struct Impulse {
    /// Once: a single frame, as in control units.
    template <bool Once>
    struct Frames {
        template <class Form>
        struct Run {
            static constexpr int N = Form::width;
            static void run(const Op& op, Block& block) SCS_NONBLOCKING {
                auto& s = state<ImpulseState<N>>(op, block);
                const float *frequency = input(op, block, 0), *offset = input(op, block, 1);
                float* out = output(op, block);
                const int n = Once ? 1 : Form::steps(block);
                const F32<N> hertz(float(own_rate(op, block).duration));
                const F64<N> each(1.0 / n);
                auto phase = Form::get(s.phase);
                auto by = convert<double>(Form::get(s.increment));
                auto falls = by < F64<N>(0.0); // at the beginning or end of the block
                F64<N> by_slope(0.0);
                if constexpr (frequency_kind == Input::control) {
                    const auto next = Form::control(frequency) * hertz;
                    by_slope = (convert<double>(next) - by) * each;
                    falls = falls | widen_mask(next < F32<N>(0.f));
                    Form::keep(s.increment, next);
                }
                auto at = Form::get(s.offset);
                F64<N> slope(0.0);
                if constexpr (offset_kind == Input::control) {
                    const auto next = Form::control(offset);
                    slope = (convert<double>(next) - convert<double>(at)) * each;
                    Form::keep(s.offset, next);
                }
                const auto shifts = slope != F64<N>(0.0);
                const auto loop = [&](auto wrapped, auto shift) {
                    for (int i = 0; i < n; ++i) {
                        const auto passed = narrow_mask(wrapped());
                        shift(i);
                        if constexpr (frequency_kind == Input::audio)
                            by = convert<double>(Form::audio(frequency, i) * hertz);
                        else if constexpr (frequency_kind == Input::control)
                            by += by_slope;
                        Form::put(out, i, bits<float>(passed & bits<int32_t>(F32<N>(1.f))));
                        phase += by;
                    }
                };
                const auto any_way = [&] { return wrap(by, phase); };
                if constexpr (offset_kind == Input::audio) {
                    loop(any_way, [&](int i) {
                        const auto next = Form::audio(offset, i);
                        phase += convert<double>(next - at);
                        wrap(by, phase);
                        at = next;
                    });
                    Form::keep(s.offset, at);
                } else if (offset_kind == Input::control && any(shifts)) {
                    loop(any_way, [&](int) {
                        auto shifted = phase + slope;
                        wrap(by, shifted);
                        phase = select(shifts, shifted, phase);
                    });
                } else if (frequency_kind == Input::audio || any(falls)) {
                    loop(any_way, [](int) {});
                } else {
                    loop([&] { return wrap_rising(phase); }, [](int) {});
                }
                if constexpr (frequency_kind == Input::audio)
                    Form::keep(s.increment, convert<float>(by));
                Form::keep(s.phase, phase);
            }
        };
    };

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<ImpulseState<1>>(op, block);
        const float offset = *input(op, block, 1);
        const float by = *input(op, block, 0) * float(own_rate(op, block).duration);
        F64<1> begin = double(offset);
        begin = begin - floor(begin);
        // A phase at the start of a cycle gives an impulse in the first frame.
        if (all(begin == F64<1>(0.0)) && by >= 0.f)
            begin = F64<1>(1.0);
        const auto set = [&] {
            begin.store(s.phase);
            s.increment[0] = by;
            s.offset[0] = offset;
        };
        set();
        Frames<true>::template Run<Scalar>::run(op, block);
        set();
    }
    static constexpr Kernel audio = vector_kernel<Frames<false>::template Run, ImpulseState, Scalar>(start);
    static constexpr Kernel control = vector_kernel<Frames<true>::template Run, ImpulseState, Scalar>(start);
    static const Kernel* of(const Signature& s) { return s.rate == Rate::audio ? &audio : &control; }
};

template <Input frequency>
const Kernel* choose_offset(const Signature& s) {
    if constexpr (frequency == Input::audio)
        if (s.audio(1))
            return Impulse<frequency, Input::audio>::of(s);
    if (s.inputs[1].rate == Rate::scalar)
        return Impulse<frequency, Input::held>::of(s);
    return Impulse<frequency, Input::control>::of(s);
}

constexpr NativeUgen list[] = {
    {"Impulse",
     [](const Signature& s) {
         if (s.audio(0))
             return choose_offset<Input::audio>(s);
         if (s.inputs[0].rate == Rate::scalar)
             return choose_offset<Input::held>(s);
         return choose_offset<Input::control>(s);
     },
     Gives::nothing, true},
};

} // namespace

SCS_FAMILY(impulse)

} // namespace scs::SCS_SIMD
