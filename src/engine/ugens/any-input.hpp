// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Inputs whose rates a kernel finds out when it runs, for units with many combinations of rates.

#include "engine/simd/math.hpp"
#include "engine/ugens/own-rate.hpp"

namespace scs::SCS_SIMD {

/// The values that `Count` control inputs had in the last block.
template <int Count>
struct Previous {
    template <int N>
    struct State {
        static constexpr size_t items64 = 0;
        float value[Count][N];
    };
};

/// Whether this is a control-rate input of an audio-rate unit, for which SuperCollider's units interpolate linearly.
SCS_INLINE bool is_ramped(const Op& op, size_t index) {
    return op.operands[index].rate == Rate::control && at_audio_rate(op);
}

/// x plus minus zero, with denormals treated as zero: lanes that don't change get the same bits as held ones.
template <int N>
SCS_INLINE F32<N> flushed(F32<N> x) {
    return select(abs(x) < F32<N>(0x1p-126f), copysign(F32<N>(0.f), x), x);
}

/// A vector kernel's input: audio, a ramp, or held.
template <class Form>
struct AnyIn {
    using F = typename Form::F;
    using Mask = typename F::Mask;

    const float* wire;
    bool audio;
    bool held = true; ///< in all lanes
    Mask still{-1};   ///< lanes in which it is held
    Mask zero{0};     ///< lanes in which a control-rate input is held at zero
    Line<Form> line;

    /// `previous`: the state's item that keeps a ramped input's value. Not touched for other inputs.
    SCS_INLINE AnyIn(const Op& op, const Block& block, size_t index, float* previous)
        : wire(input(op, block, index)), audio(is_audio(op, index)), line(Form::control(wire)) {
        if (audio) {
            held = false;
            still = Mask(0);
        } else if (is_ramped(op, index)) {
            const F next = line.from, before = Form::get(previous);
            still = ~(next != before);
            held = all(still);
            zero = still & (next == F(0.f));
            if (!held)
                line = Line<Form>(~still, before, next, block);
            Form::keep(previous, next);
        }
        line.from = flushed(line.from);
    }
    SCS_INLINE F at(int step) const { return audio ? Form::audio(wire, step) : line.at(step); }
    /// Cheaper, but only for inputs of that kind.
    SCS_INLINE AudioIn<Form> as_audio() const { return {wire}; }
    SCS_INLINE HeldIn<Form> as_held() const { return {line.from}; }
};

/// A lane kernel's input, with the same numbers.
template <int L>
struct LaneAnyIn {
    const float* wire;
    int stride;
    Line<Voices<1>> line;

    SCS_INLINE LaneAnyIn(const Op& op, const Block& block, size_t index, int lane, float* previous)
        : wire(input(op, block, index) + lane), stride(is_audio(op, index) ? L : 0), line(F32<1>(*wire)) {
        if (is_ramped(op, index))
            line = RampIn<Voices<1>>(wire, previous, block);
        line.from = flushed(line.from);
    }
    SCS_INLINE float at(int frame) const { return stride ? wire[frame * stride] : line.at(frame)[0]; }
};

/// A start function does this first: it stores the inputs' values, as if they had been the same in the last block.
/// `first`: the first of the consecutive inputs whose values are kept.
template <int Count>
SCS_INLINE void keep_inputs(const Op& op, const Block& block, size_t first) {
    auto& s = state<typename Previous<Count>::template State<1>>(op, block);
    for (size_t i = 0; i < size_t(Count); ++i)
        if (is_ramped(op, first + i))
            s.value[i][0] = *input(op, block, first + i);
}

/// A control unit's kernel for Operator::of(input): one value a block, without looking at rates.
template <class Operator>
struct OfOneValue {
    template <class Form>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            Form::put(output(op, block), 0, Operator::of(Form::control(input(op, block, 0))));
        }
    };
};

/// A control unit's kernel for an Operator::of(inputs …) that is expensive and seldom changes: as long as the inputs
/// stay the same, it keeps the result.
template <class Operator, int Inputs>
struct Remembered {
    template <int N>
    struct State {
        static constexpr size_t items64 = 0;
        float in[Inputs][N], made[N];
    };
    template <class Form>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            constexpr int N = Form::width;
            auto& s = state<State<N>>(op, block);
            F32<N> in[Inputs];
            I32<N> other(0);
            for (int i = 0; i < Inputs; ++i) {
                in[i] = Form::control(input(op, block, size_t(i)));
                other = other | (bits<int32_t>(in[i]) != bits<int32_t>(Form::get(s.in[i])));
            }
            if (any(other))
                compute<N>(in, s);
            Form::put(output(op, block), 0, Form::get(s.made));
        }
    };
    template <int N>
    [[gnu::noinline, gnu::flatten]] static void compute(const F32<N>* in, State<N>& s) {
        for (int i = 0; i < Inputs; ++i)
            in[i].store(s.in[i]);
        if constexpr (Inputs == 1)
            Operator::of(in[0]).store(s.made);
        else
            Operator::of(flushed(in[0]), flushed(in[1])).store(s.made);
    }
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<State<1>>(op, block);
        F32<1> in[Inputs];
        for (int i = 0; i < Inputs; ++i)
            in[i] = F32<1>(*input(op, block, size_t(i)));
        compute<1>(in, s);
        *output(op, block) = s.made[0];
    }
    static constexpr Kernel kernel = vector_kernel<Run, State, Scalar>(start);
};

/// Makes the kernel from a vector kernel that computes own_steps(): Timewise at audio rate, else one value.
template <template <class> class K, template <int> class State>
constexpr Kernel any_rate_kernel(bool audio, KernelFunction start) {
    return audio ? vector_kernel<K, State, Timewise>(start) : vector_kernel<K, State, Scalar>(start);
}

} // namespace scs::SCS_SIMD
