// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Makes the kernels of lone voices and of batches from one definition of a UGen's arithmetic. There are two ways:
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

/// Tells the compiler what it may assume about loops.
SCS_INLINE int whole_steps(int frames, int frames_a_step) {
    if (frames <= 0 || frames % block_multiple != 0)
        __builtin_unreachable();
    return frames / frames_a_step;
}

/// The lanes are voices, a step is a frame.
template <int N>
struct Voices {
    static constexpr int width = N;
    static constexpr int state_lanes = N;
    using F = F32<N>;
    SCS_INLINE static int steps(const Block& block) { return whole_steps(block.frames, 1); }
    /// A step's samples of an audio wire.
    SCS_INLINE static F audio(const float* wire, int step) { return F::load(wire + step * N); }
    /// A control wire's value.
    SCS_INLINE static F control(const float* wire) { return F::load(wire); }
    /// The same as one number for each voice.
    SCS_INLINE static F32<N> by_voice(const float* wire) { return F32<N>::load(wire); }
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
    /// For a number that grows by `each` a frame, by voice: its value at step 0, and what each step adds.
    SCS_INLINE static U32<N> first(U32<N> from, U32<N>) { return from; }
    SCS_INLINE static U32<N> growth(U32<N> each) { return each; }
};

/// The lanes are frames of one voice, a step is N frames. The state's items are single numbers.
template <int N>
struct Frames {
    static constexpr int width = N;
    static constexpr int state_lanes = 1;
    using F = F32<N>;
    SCS_INLINE static int steps(const Block& block) { return whole_steps(block.frames, N); }
    SCS_INLINE static F audio(const float* wire, int step) { return F::load(wire + step * N); }
    SCS_INLINE static F control(const float* wire) { return F(*wire); }
    SCS_INLINE static F32<1> by_voice(const float* wire) { return F32<1>(*wire); }
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
    SCS_INLINE static U32<N> first(U32<1> from, U32<1> each) {
        uint32_t numbers[N];
        for (int i = 0; i < N; ++i)
            numbers[i] = uint32_t(i);
        return U32<N>(from[0]) + U32<N>(each[0]) * U32<N>::load(numbers);
    }
    SCS_INLINE static U32<N> growth(U32<1> each) { return U32<N>(each[0] * uint32_t(N)); }
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

/// A number that is constant for the block: a constant, or a control wire without interpolation.
template <class Form>
struct HeldIn {
    typename Form::F value;
    SCS_INLINE typename Form::F at(int) const { return value; }
};

/// Whether any lane's control wire differs from its value in the last block, which `previous` keeps.
template <class Form>
SCS_INLINE bool any_changed(const float* wire, const float* previous) {
    return any(Form::control(wire) != Form::get(previous));
}

/// A straight line over the block in lanes that have `changed`; the others stay constant. SuperCollider adds up the
/// slope. This multiplies it, which is more exact and doesn't depend on the order of computation.
template <class Form>
struct Line {
    using F = typename Form::F;
    F from, slope;
    typename F::Mask wild; ///< lines from or to infinity or NaN: frame 0 must be `from` even so
    bool any_wild;

    /// A line that stays constant.
    SCS_INLINE explicit Line(F value) : from(value), slope(-0.f), wild(0), any_wild(false) {}
    SCS_INLINE Line(typename F::Mask changed, F before, F next, const Block& block)
        : from(select(changed, before, next)) {
        const F rise = (next - before) * F(1.0f / float(block.frames));
        // Adding minus zero changes nothing, not even the sign of a zero: constant lanes get the same bits as held
        // ones.
        slope = select(changed, rise, -0.f);
        wild = ~(slope - slope == F(0.f));
        any_wild = any(wild);
    }
    SCS_INLINE F at(int step) const {
        const F frame = Form::frame(step);
        const F rise = slope * frame;
        return from + (any_wild ? select((frame == F(0.f)) & wild, -0.f, rise) : rise);
    }
};

/// A control wire, approached in a straight line from its value in the last block.
template <class Form>
struct RampIn : Line<Form> {
    /// `previous`: the state's item that keeps the value.
    SCS_INLINE RampIn(const float* wire, float* previous, const Block& block)
        : RampIn(Form::control(wire), Form::get(previous), previous, block) {}

private:
    using F = typename Form::F;
    SCS_INLINE RampIn(F next, F before, float* previous, const Block& block)
        : Line<Form>(next != before, before, next, block) {
        Form::keep(previous, next);
    }
};

// ---- an output's gain

/// Calls f(scale), where scale(value, step) is the value multiplied by the operation's gain, or the value itself where
/// Scaled is false.
template <class Form, bool Scaled, class F>
SCS_INLINE void with_gain(const Op& op, const Block& block, F&& f) {
    using V = typename Form::F;
    if constexpr (!Scaled) {
        f([](V value, int) SCS_INLINE_LAMBDA { return value; });
    } else {
        const Gain& gain = *op.gain;
        const float* wire = reinterpret_cast<const float*>(block.bases[size_t(gain.factor.base)] + gain.factor.offset);
        if (gain.ramped) {
            float* previous = reinterpret_cast<float*>(block.bases[size_t(Base::record)] + gain.state);
            if (any_changed<Form>(wire, previous)) {
                const RampIn<Form> ramp(wire, previous, block);
                return f([&](V value, int step) SCS_INLINE_LAMBDA { return value * ramp.at(step); });
            }
            Form::keep(previous, Form::control(wire));
        }
        const V held = Form::control(wire);
        f([&](V value, int) SCS_INLINE_LAMBDA { return value * held; });
    }
}

// ---- lane kernels

/// A number without its fraction. NaN and numbers out of range become the lowest int, as on x86. For times in samples,
/// phases and indices, which come from wires and may be anything.
SCS_INLINE int32_t int_of(float x) {
    return x >= -2147483648.f && x < 2147483648.f ? int32_t(x) : INT32_MIN;
}
SCS_INLINE int32_t int_of(double x) {
    return x > -2147483649.0 && x < 2147483648.0 ? int32_t(x) : INT32_MIN;
}

SCS_INLINE int32_t at_least_one(int32_t x) {
    return x > 1 ? x : 1;
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

/// Performs a done action. NaN and numbers out of range do nothing.
SCS_INLINE void act(Block& block, int lane, float action) {
    block.space->done_action(block.space->host, *block.synths[lane], action > -1.f && action < 1e6f ? int(action) : 0);
}

/// The done flag of a voice's UGen or of the one that it waits for. For kernels with acts_when_done or waits_for_done.
SCS_INLINE int32_t& done_flag(const Op& op, const Block& block, int lane) {
    return reinterpret_cast<int32_t*>(block.bases[size_t(Base::record)] + op.done)[lane];
}

/// Sets the done flag and performs the action. For kernels with acts_when_done. `action` is the input
/// that the unit's row in core-units.hpp has as its done action.
SCS_INLINE void done(const Op& op, Block& block, int lane, float action) {
    done_flag(op, block, lane) = true;
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

/// Makes a kernel from the vector kernel K<Form>. Lone voices use the form Lone: Timewise or Scalar.
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

/// Adds the kernel's forms with a gain.
template <template <class> class K, class Lone>
constexpr Kernel scalable(Kernel made) {
    made.lone_scaled = K<Lone>::run;
    made.batch_scaled = K<Batch>::run;
    return made;
}

/// Makes a kernel from the lane kernel K<L>.
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
