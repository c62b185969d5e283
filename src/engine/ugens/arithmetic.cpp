// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {
namespace {

struct Add {
    template <class V>
    SCS_INLINE static V of(V a, V b) {
        return a + b;
    }
};
struct Multiply {
    template <class V>
    SCS_INLINE static V of(V a, V b) {
        return a * b;
    }
};

template <int N>
struct Previous {
    static constexpr size_t items64 = 0;
    float value[N];
};

/// An operator of two inputs: as SuperCollider's, a control input becomes a ramp, a constant stays.
template <class Operator>
struct Binary {
    template <class Form>
    struct BothAudio {
        static void run(const Op& op, Block& block) {
            const float *a = input(op, block, 0), *b = input(op, block, 1);
            float* out = output(op, block);
            for (int i = 0, n = Form::steps(block); i < n; ++i)
                Form::put(out, i, Operator::of(Form::audio(a, i), Form::audio(b, i)));
        }
    };
    template <class Form, bool AudioFirst, bool Ramped>
    SCS_INLINE static void mixed(const Op& op, Block& block) {
        const float* audio = input(op, block, AudioFirst ? 0 : 1);
        const float* held = input(op, block, AudioFirst ? 1 : 0);
        float* out = output(op, block);
        const auto loop = [&](auto other) {
            for (int i = 0, n = Form::steps(block); i < n; ++i)
                Form::put(out, i,
                          AudioFirst ? Operator::of(Form::audio(audio, i), other.at(i))
                                     : Operator::of(other.at(i), Form::audio(audio, i)));
        };
        if constexpr (Ramped) {
            auto* previous = state<Previous<Form::state_lanes>>(op, block).value;
            if (any_changed<Form>(held, previous))
                return loop(RampIn<Form>(held, previous, block));
            Form::keep(previous, Form::control(held)); // perhaps a zero of the other sign
        }
        loop(HeldIn<Form>{Form::control(held)});
    }
    template <class Form>
    struct AudioControl {
        static void run(const Op& op, Block& block) { mixed<Form, true, true>(op, block); }
    };
    template <class Form>
    struct ControlAudio {
        static void run(const Op& op, Block& block) { mixed<Form, false, true>(op, block); }
    };
    template <class Form>
    struct AudioScalar {
        static void run(const Op& op, Block& block) { mixed<Form, true, false>(op, block); }
    };
    template <class Form>
    struct ScalarAudio {
        static void run(const Op& op, Block& block) { mixed<Form, false, false>(op, block); }
    };
    template <class Form>
    struct Control {
        static void run(const Op& op, Block& block) {
            Operator::of(Form::control(input(op, block, 0)), Form::control(input(op, block, 1)))
                .store(output(op, block));
        }
    };

    static void start(const Op& op, Block& block) {
        *output(op, block) = Operator::of(F32<1>(*input(op, block, 0)), F32<1>(*input(op, block, 1)))[0];
    }
    static void start_audio_control(const Op& op, Block& block) {
        state<Previous<1>>(op, block).value[0] = *input(op, block, 1);
        start(op, block);
    }
    static void start_control_audio(const Op& op, Block& block) {
        state<Previous<1>>(op, block).value[0] = *input(op, block, 0);
        start(op, block);
    }

    static constexpr Kernel aa = vector_kernel<BothAudio, Stateless, Timewise>(start);
    static constexpr Kernel ak = vector_kernel<AudioControl, Previous, Timewise>(start_audio_control);
    static constexpr Kernel ka = vector_kernel<ControlAudio, Previous, Timewise>(start_control_audio);
    static constexpr Kernel ai = vector_kernel<AudioScalar, Stateless, Timewise>(start);
    static constexpr Kernel ia = vector_kernel<ScalarAudio, Stateless, Timewise>(start);
    static constexpr Kernel kk = vector_kernel<Control, Stateless, Scalar>(start);

    static const Kernel* choose(const Signature& s) {
        if (s.rate != Rate::audio)
            return &kk;
        if (s.audio(0) && s.audio(1))
            return &aa;
        if (s.audio(0))
            return s.inputs[1].rate == Rate::control ? &ak : &ai;
        if (s.audio(1))
            return s.inputs[0].rate == Rate::control ? &ka : &ia;
        return nullptr;
    }
};

const Kernel* choose_binary(const Signature& s) {
    switch (s.special_index) {
    case 0: return Binary<Add>::choose(s);
    case 2: return Binary<Multiply>::choose(s);
    default: return nullptr;
    }
}

template <class Form>
struct Sum3 {
    static void run(const Op& op, Block& block) {
        const float *a = input(op, block, 0), *b = input(op, block, 1), *c = input(op, block, 2);
        float* out = output(op, block);
        for (int i = 0, n = Form::steps(block); i < n; ++i)
            Form::put(out, i, Form::audio(a, i) + Form::audio(b, i) + Form::audio(c, i));
    }
};

void start_sum3(const Op& op, Block& block) {
    *output(op, block) = *input(op, block, 0) + *input(op, block, 1) + *input(op, block, 2);
}

constexpr Kernel sum3 = vector_kernel<Sum3, Stateless, Timewise>(start_sum3);

constexpr NativeUgen list[] = {
    {"BinaryOpUGen", choose_binary},
    {"Sum3",
     [](const Signature& s) -> const Kernel* {
         return s.rate == Rate::audio && s.audio(0) && s.audio(1) && s.audio(2) ? &sum3 : nullptr;
     }},
};

} // namespace

const std::span<const NativeUgen> arithmetic = list;

} // namespace scs::SCS_SIMD
