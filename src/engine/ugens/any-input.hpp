// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Inputs whose rates a kernel learns when it runs: for units that have many combinations of them.

#include "engine/ugens/forms.hpp"

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

/// Whether the unit computes audio.
SCS_INLINE bool makes_audio(const Op& op) {
    return is_audio(op, op.inputs);
}

/// Frames or values that a unit makes in a block, for lane kernels at either rate.
SCS_INLINE int frames_of(const Op& op, const Block& block) {
    return makes_audio(op) ? block.frames : 1;
}
/// The same as steps of a form. At control rate the form is one of voices.
template <class Form>
SCS_INLINE int steps_of(const Op& op, const Block& block) {
    return makes_audio(op) ? Form::steps(block) : 1;
}

/// Whether an input is at control rate in a unit at audio rate, where SuperCollider's units draw a line from value to
/// value.
SCS_INLINE bool is_ramped(const Op& op, size_t index) {
    return op.operands[index].rate == Rate::control && makes_audio(op);
}

/// A vector kernel's input: audio, a ramp, or held.
template <class Form>
struct AnyIn {
    using F = typename Form::F;
    using Mask = typename F::Mask;

    const float* wire;
    bool audio;
    bool held = true; ///< in all lanes
    F from;
    F slope;
    Mask still;       ///< lanes in which it is held
    Mask zero{0};     ///< lanes in which it is held at zero, of an input at control rate

    /// `previous`: the state's item that keeps a ramped input's value; not touched for the others.
    SCS_INLINE AnyIn(const Op& op, const Block& block, size_t index, float* previous)
        : wire(input(op, block, index)), audio(is_audio(op, index)), from(Form::control(wire)), slope(-0.f), still(-1) {
        if (audio) {
            held = false;
            still = Mask(0);
        } else if (is_ramped(op, index)) {
            still = ~(from != Form::get(previous));
            held = all(still);
            zero = still & (from == F(0.f));
            const RampIn<Form> ramp(wire, previous, block);
            from = ramp.from;
            slope = ramp.slope;
        }
    }
    SCS_INLINE F at(int step) const {
        return audio ? Form::audio(wire, step) : from + slope * Form::frame(step);
    }
    /// Only for what is of that kind; cheaper.
    SCS_INLINE AudioIn<Form> as_audio() const { return {wire}; }
    SCS_INLINE HeldIn<Form> as_held() const { return {from}; }
};

/// A lane kernel's input, with the same numbers.
struct LaneAnyIn {
    const float* wire;
    int stride;
    float from;
    float slope = -0.f;

    template <int L>
    SCS_INLINE static LaneAnyIn make(const Op& op, const Block& block, size_t index, int lane, float* previous) {
        const float* wire = input(op, block, index) + lane;
        LaneAnyIn made{wire, is_audio(op, index) ? L : 0, *wire};
        if (is_ramped(op, index)) {
            const RampIn<Voices<1>> ramp(wire, previous, block);
            made.from = ramp.from[0];
            made.slope = ramp.slope[0];
        }
        return made;
    }
    SCS_INLINE float at(int frame) const { return stride ? wire[frame * stride] : from + slope * float(frame); }
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

/// From a vector kernel that computes steps_of(): time by time at audio rate, else one value.
template <template <class> class K, template <int> class State>
constexpr Kernel any_rate_kernel(bool audio, KernelFunction start) {
    return audio ? vector_kernel<K, State, Timewise>(start) : vector_kernel<K, State, Scalar>(start);
}

} // namespace scs::SCS_SIMD
