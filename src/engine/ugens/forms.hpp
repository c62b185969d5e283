// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How one definition of a UGen's arithmetic becomes a lone voice's kernel and a batch's. Two ways:
//
// - Vector kernels are templates over a Form, which says what the lanes of a vector are: voices (Voices<lanes> for
//   batches, Voices<1> for a lone voice) or the frames of a lone voice (Frames<lanes>, for what doesn't depend on the
//   frame before). A loop over Form::steps() computes one vector a step.
// - Lane kernels are templates over the number of lanes L and compute one voice after the other (each_lane()), for what
//   branches or is rare.
//
// Both read and write wires whose lanes lie side by side: sample `frame` of lane `l` is at frame * L + l. A kernel may
// be given the same memory for an input and an output: at each step it reads its inputs before it writes its outputs.
// Its State<L> has an array of L for each item, 8-byte items first: state64() and state32() count them.

#include "engine/simd/lanes.hpp"
#include "engine/ugens/kernel.hpp"

#include <cstddef>

namespace scs::SCS_SIMD {

// ---- reaching operands

SCS_INLINE float* operand(const Op& op, const Block& block, size_t index) {
    const Operand& o = op.operands[index];
    return reinterpret_cast<float*>(block.bases[size_t(o.base)] + o.offset);
}
SCS_INLINE const float* input(const Op& op, const Block& block, size_t index) {
    return operand(op, block, index);
}
SCS_INLINE float* output(const Op& op, const Block& block, size_t index = 0) {
    return operand(op, block, op.inputs + index);
}
template <class State>
SCS_INLINE State& state(const Op& op, const Block& block) {
    return *reinterpret_cast<State*>(block.bases[size_t(Base::record)] + op.state);
}
SCS_INLINE bool is_audio(const Op& op, size_t index) {
    return op.operands[index].rate == Rate::audio;
}

// ---- forms of vector kernels

/// The lanes are voices, a step is a frame.
template <int N>
struct Voices {
    static constexpr int width = N;
    static constexpr int state_lanes = N;
    using F = F32<N>;
    SCS_INLINE static int steps(const Block& block) { return block.frames; }
    /// A step's samples of an audio wire.
    SCS_INLINE static F audio(const float* wire, int step) { return F::load(wire + step * N); }
    /// A control wire's value.
    SCS_INLINE static F control(const float* wire) { return F::load(wire); }
    SCS_INLINE static void put(float* wire, int step, F value) { value.store(wire + step * N); }
    /// The step's frame.
    SCS_INLINE static F frame(int step) { return F(float(step)); }
    /// Reads and writes an item of a state.
    template <class T>
    SCS_INLINE static Vec<T, N> get(const T* item) {
        return Vec<T, N>::load(item);
    }
    template <class T>
    SCS_INLINE static void keep(T* item, Vec<T, N> value) {
        value.store(item);
    }
    /// What step 0 has and how much each step adds, of what grows evenly by `each` a frame.
    SCS_INLINE static U32<N> first(U32<N> from, U32<N>) { return from; }
    SCS_INLINE static U32<N> growth(U32<N> each) { return each; }
};

/// The lanes are frames of one voice, a step is N frames. The state's items are single numbers.
template <int N>
struct Frames {
    static constexpr int width = N;
    static constexpr int state_lanes = 1;
    using F = F32<N>;
    SCS_INLINE static int steps(const Block& block) { return block.frames / N; }
    SCS_INLINE static F audio(const float* wire, int step) { return F::load(wire + step * N); }
    SCS_INLINE static F control(const float* wire) { return F(*wire); }
    SCS_INLINE static void put(float* wire, int step, F value) { value.store(wire + step * N); }
    SCS_INLINE static F frame(int step) { return F(float(step * N)) + count_up<N>(); }
    template <class T>
    SCS_INLINE static Vec<T, N> get(const T* item) {
        return Vec<T, N>(*item);
    }
    /// All lanes have the same number.
    template <class T>
    SCS_INLINE static void keep(T* item, Vec<T, N> value) {
        *item = value[0];
    }
    SCS_INLINE static U32<N> first(U32<N> from, U32<N> each) {
        uint32_t numbers[N];
        for (int i = 0; i < N; ++i)
            numbers[i] = uint32_t(i);
        return from + each * U32<N>::load(numbers);
    }
    SCS_INLINE static U32<N> growth(U32<N> each) { return each * U32<N>(uint32_t(N)); }
};

using Batch = Voices<lanes>;
using Scalar = Voices<1>;
using Timewise = Frames<lanes>;

// ---- a vector kernel's inputs, by rate: each has at(step)

/// An audio wire.
template <class Form>
struct AudioIn {
    const float* wire;
    SCS_INLINE typename Form::F at(int step) const { return Form::audio(wire, step); }
};

/// A number that holds for the block: a constant, or a control wire that is taken as it is.
template <class Form>
struct HeldIn {
    typename Form::F value;
    SCS_INLINE typename Form::F at(int) const { return value; }
};

/// Whether any lane's control wire has another value than in the block before, which `previous` keeps.
template <class Form>
SCS_INLINE bool any_changed(const float* wire, const float* previous) {
    return any(Form::control(wire) != Form::get(previous));
}

/// A control wire that is reached in a straight line over the block from its value in the block before. SuperCollider
/// adds up the slope; this multiplies, which is closer to the line and depends on no order.
template <class Form>
struct RampIn {
    typename Form::F from, slope;
    /// `previous`: the state's item that keeps the value.
    SCS_INLINE RampIn(const float* wire, float* previous, const Block& block) {
        const auto next = Form::control(wire), before = Form::get(previous);
        const auto changed = next != before;
        from = select(changed, before, next);
        // Minus zero changes nothing when it is added, not even a zero's sign: lanes that stay are as if held.
        slope = select(changed, (next - before) * typename Form::F(1.0f / float(block.frames)), -0.f);
        Form::keep(previous, next);
    }
    SCS_INLINE typename Form::F at(int step) const { return from + slope * Form::frame(step); }
};

// ---- lane kernels

/// A float as an int: fractions are cut off, what is out of range or no number becomes the lowest int, as on x86.
SCS_INLINE int32_t int_of(float x) {
    return x >= -2147483648.f && x < 2147483648.f ? int32_t(x) : INT32_MIN;
}

SCS_INLINE int32_t int_of(double x) {
    return x > -2147483649.0 && x < 2147483648.0 ? int32_t(x) : INT32_MIN;
}

/// Calls f(lane) for each voice, in the order of their turns.
template <int L, class F>
SCS_INLINE void each_lane(const Block& block, F&& f) {
    if constexpr (L == 1) {
        f(0);
    } else {
        for (uint32_t left = block.live; left; left &= left - 1)
            f(__builtin_ctz(left));
    }
}

/// A lane's input at a frame, whatever its rate.
template <int L>
struct LaneIn {
    const float* wire;
    int stride;
    SCS_INLINE LaneIn(const Op& op, const Block& block, size_t index, int lane)
        : wire(input(op, block, index) + lane), stride(is_audio(op, index) ? L : 0) {}
    SCS_INLINE float at(int frame) const { return wire[frame * stride]; }
};

/// Does a done action, without the Done flag.
SCS_INLINE void act(Block& block, int lane, float action) {
    // What is no number or out of range does nothing.
    block.space->done_action(block.space->host, *block.synths[lane], action > -1.f && action < 1e6f ? int(action) : 0);
}
SCS_INLINE void done(Block& block, int lane, float action) {
    *block.done = true;
    act(block, lane, action);
}

// ---- making kernels

template <template <int> class State>
constexpr uint16_t state64() {
    return uint16_t(State<1>::items64);
}
template <template <int> class State>
constexpr uint16_t state32() {
    return uint16_t((sizeof(State<1>) - 8 * State<1>::items64) / 4);
}

/// A state without items.
template <int N>
struct Stateless {
    static constexpr size_t items64 = 0;
};
template <>
constexpr uint16_t state32<Stateless>() {
    return 0;
}

/// From a vector kernel K<Form>, computed over time or frame by frame for a lone voice.
template <template <class> class K, template <int> class State, class Lone>
constexpr Kernel vector_kernel(KernelFunction start) {
    Kernel made;
    made.start = start;
    made.lone = K<Lone>::run;
    made.batch = K<Batch>::run;
    made.state64 = state64<State>();
    made.state32 = state32<State>();
    return made;
}

/// From a lane kernel K<L>.
template <template <int> class K, template <int> class State>
constexpr Kernel lane_kernel(KernelFunction start) {
    Kernel made;
    made.start = start;
    made.lone = K<1>::run;
    made.batch = K<lanes>::run;
    made.state64 = state64<State>();
    made.state32 = state32<State>();
    return made;
}

} // namespace scs::SCS_SIMD
