// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Inputs whose rates a kernel learns when it runs: for units that have many combinations of them.

#include "engine/simd/math.hpp"
#include "engine/ugens/own-rate.hpp"

namespace scs::SCS_SIMD {

/// The values that `Count` control inputs had in the block before.
template <int Count>
struct Previous {
    template <int N>
    struct State {
        static constexpr size_t items64 = 0;
        float value[Count][N];
    };
};

/// Whether an input is at control rate in a unit at audio rate, where SuperCollider's units draw a line from value to
/// value.
SCS_INLINE bool is_ramped(const Op& op, size_t index) {
    return op.operands[index].rate == Rate::control && at_audio_rate(op);
}

/// What a sum of x and minus zero is where the processor takes denormals for zero: so lanes that stay are as if held.
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
    Mask zero{0};     ///< lanes in which it is held at zero, of an input at control rate
    Line<Form> line;

    /// `previous`: the state's item that keeps a ramped input's value; not touched for the others.
    SCS_INLINE AnyIn(const Op& op, const Block& block, size_t index, float* previous)
        : wire(input(op, block, index)), audio(is_audio(op, index)),
          line(Mask(0), Form::control(wire), Form::control(wire), block) {
        if (audio) {
            held = false;
            still = Mask(0);
        } else if (is_ramped(op, index)) {
            still = ~(line.from != Form::get(previous));
            held = all(still);
            zero = still & (line.from == F(0.f));
            line = RampIn<Form>(wire, previous, block);
        }
        line.from = flushed(line.from);
    }
    SCS_INLINE F at(int step) const { return audio ? Form::audio(wire, step) : line.at(step); }
    /// Only for what is of that kind; cheaper.
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
        : wire(input(op, block, index) + lane), stride(is_audio(op, index) ? L : 0),
          line(I32<1>(0), F32<1>(*wire), F32<1>(*wire), block) {
        if (is_ramped(op, index))
            line = RampIn<Voices<1>>(wire, previous, block);
        line.from = flushed(line.from);
    }
    SCS_INLINE float at(int frame) const { return stride ? wire[frame * stride] : line.at(frame)[0]; }
};

/// What a start function does first: nothing has changed since the block before. `first`: of the inputs whose values
/// are kept, one after the other.
template <int Count>
SCS_INLINE void keep_inputs(const Op& op, const Block& block, size_t first) {
    auto& s = state<typename Previous<Count>::template State<1>>(op, block);
    for (size_t i = 0; i < size_t(Count); ++i)
        if (is_ramped(op, first + i))
            s.value[i][0] = *input(op, block, first + i);
}

/// From a vector kernel that computes own_steps(): time by time at audio rate, else one value.
template <template <class> class K, template <int> class State>
constexpr Kernel any_rate_kernel(bool audio, KernelFunction start) {
    return audio ? vector_kernel<K, State, Timewise>(start) : vector_kernel<K, State, Scalar>(start);
}

} // namespace scs::SCS_SIMD
