// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/any-input.hpp"
#include "engine/ugens/each-step.hpp"
#include "engine/ugens/families.hpp"

// Units that pass on their inputs: Select, and those that change rates.

namespace scs::SCS_SIMD {
namespace {

// ---- Select

/// The index of the input that `which` selects.
SCS_INLINE size_t chosen(const Op& op, float which) {
    const int32_t index = int_of(which), last = int32_t(op.inputs) - 2;
    return size_t(index < 0 ? 0 : index > last ? last : index) + 1;
}

template <int L>
struct Select {
    SCS_INLINE static void compute(const Op& op, const Block& block, int frames) {
        each_lane<L>(block, [&](int lane) {
            const LaneIn<L> which(op, block, 0, lane);
            float* out = output(op, block) + lane;
            if (!is_audio(op, 0)) {
                const float* from = input(op, block, chosen(op, which.at(0))) + lane;
                if (frames == 1)
                    *out = *from;
                else if (L == 1)
                    each_step<Timewise>(
                        block, [&](int i) SCS_INLINE_LAMBDA { Timewise::put(out, i, Timewise::audio(from, i)); });
                else
                    for (int i = 0; i < frames; ++i)
                        out[i * L] = from[i * L];
                return;
            }
            float last = which.at(0); // kept, as it seldom changes
            const float* from = input(op, block, chosen(op, last)) + lane;
            for (int i = 0; i < frames; ++i) {
                if (const float now = which.at(i); now != last) {
                    last = now;
                    from = input(op, block, chosen(op, now)) + lane;
                }
                out[i * L] = from[i * L];
            }
        });
    }
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { compute(op, block, own_frames(op, block)); }
};

void start_select(const Op& op, Block& block) SCS_NONBLOCKING {
    Select<1>::compute(op, block, 1);
}

constexpr Kernel select_input = lane_kernel<Select, Stateless>(start_select);

template <int L>
struct SelectValue {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        each_lane<L>(block, [&](int lane) {
            output(op, block)[lane] = input(op, block, chosen(op, input(op, block, 0)[lane]))[lane];
        });
    }
};

constexpr Kernel select_value = lane_kernel<SelectValue, Stateless>(start_select);

const Kernel* choose_select(const Signature& s) {
    if (s.rate == Rate::demand || s.inputs.size() < 2)
        return nullptr;
    for (size_t i = 1; s.rate == Rate::audio && i < s.inputs.size(); ++i)
        if (!s.audio(i))
            return nullptr;
    return s.rate == Rate::audio ? &select_input : &select_value;
}

// ---- K2A

template <class Form>
struct ControlToAudio {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        float* out = output(op, block);
        const float* level = input(op, block, 0);
        const auto loop = [&](auto from) __attribute__((always_inline)) {
            for (int i = 0, n = Form::steps(block); i < n; ++i)
                Form::put(out, i, from.at(i));
        };
        if (op.operands[0].rate == Rate::scalar)
            return loop(HeldIn<Form>{Form::control(level)});
        auto* previous = state<Previous<1>::State<Form::state_lanes>>(op, block).value[0];
        loop(RampIn<Form>(level, previous, block)); // an input at audio rate counts with its first sample
    }
};

void start_control_to_audio(const Op& op, Block& block) SCS_NONBLOCKING {
    const float level = *input(op, block, 0);
    state<Previous<1>::State<1>>(op, block).value[0][0] = level;
    *output(op, block) = level;
}

constexpr Kernel control_to_audio = vector_kernel<ControlToAudio, Previous<1>::State, Timewise>(start_control_to_audio);

// ---- A2K: the first sample of the block

template <class Form>
struct AudioToControl {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        Form::control(input(op, block, 0)).store(output(op, block));
    }
};

void start_audio_to_control(const Op& op, Block& block) SCS_NONBLOCKING {
    *output(op, block) = *input(op, block, 0);
}

constexpr Kernel audio_to_control = vector_kernel<AudioToControl, Stateless, Scalar>(start_audio_to_control);

// ---- DC: the input's value at the start

template <class Form>
struct Constant {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        const auto value = Form::get(state<Previous<1>::State<Form::state_lanes>>(op, block).value[0]);
        float* out = output(op, block);
        for (int i = 0, n = own_steps<Form>(op, block); i < n; ++i)
            Form::put(out, i, value);
    }
};

void start_constant(const Op& op, Block& block) SCS_NONBLOCKING {
    const float value = *input(op, block, 0);
    float& kept = state<Previous<1>::State<1>>(op, block).value[0][0];
    kept = value == 0.f ? 0.f : value; // makes -0 a 0
    *output(op, block) = kept;
}

constexpr Kernel constant_audio = any_rate_kernel<Constant, Previous<1>::State>(true, start_constant);
constexpr Kernel constant_control = any_rate_kernel<Constant, Previous<1>::State>(false, start_constant);

// ---- T2A: an impulse, as high as the trigger, in a frame of its block

enum { trigger, trigger_frame };

template <int L>
struct TriggerToAudio {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<Previous<1>::State<L>>(op, block);
        const float* level = input(op, block, trigger);
        float now[L]; // read now, as the output may share memory with the input
        F32<L>::load(level).store(now);
        int32_t frame[L];
        to_int(F32<L>::load(input(op, block, trigger_frame))).store(frame);
        float* out = output(op, block);
        if constexpr (L == 1)
            each_step<Timewise>(block, [&](int i) SCS_INLINE_LAMBDA { Timewise::put(out, i, F32<lanes>(0.f)); });
        else
            for (int i = 0; i < block.frames; ++i)
                F32<L>(0.f).store(out + i * L);
        each_lane<L>(block, [&](int lane) {
            if (s.value[0][lane] <= 0.f && now[lane] > 0.f) {
                const int32_t last = block.frames - 1, at = frame[lane] < 0      ? 0
                                                            : frame[lane] > last ? last
                                                                                 : frame[lane];
                out[at * L + lane] = now[lane];
            }
            s.value[0][lane] = now[lane];
        });
    }
};

void start_trigger_to_audio(const Op& op, Block& block) SCS_NONBLOCKING {
    const float level = *input(op, block, trigger);
    *output(op, block) = level > 0.f ? level : 0.f;
    if (block.space->release < Release::v3_14)
        state<Previous<1>::State<1>>(op, block).value[0][0] = level;
}

constexpr Kernel trigger_to_audio = lane_kernel<TriggerToAudio, Previous<1>::State>(start_trigger_to_audio);

// ---- T2K: the largest sample of the block above 0

template <class Form>
struct TriggerToControl {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        const float* from = input(op, block, trigger);
        if constexpr (Form::width == 1) {
            float each[lanes], most = 0.f;
            largest<Timewise>(from, block).store(each);
            for (const float one : each)
                most = one > most ? one : most;
            *output(op, block) = most;
        } else {
            largest<Form>(from, block).store(output(op, block));
        }
    }
    template <class Steps>
    SCS_INLINE static typename Steps::F largest(const float* from, const Block& block) {
        typename Steps::F most(0.f);
        for (int i = 0, n = Steps::steps(block); i < n; ++i) {
            const auto x = Steps::audio(from, i);
            most = select(x > most, x, most);
        }
        return most;
    }
};

constexpr Kernel trigger_to_control = vector_kernel<TriggerToControl, Stateless, Scalar>(start_audio_to_control);

constexpr NativeUgen list[] = {
    {"A2K", [](const Signature& s) { return s.rate == Rate::control ? &audio_to_control : nullptr; }},
    {"DC", [](const Signature& s) { return s.rate == Rate::audio ? &constant_audio : &constant_control; }},
    {"K2A", [](const Signature& s) { return s.rate == Rate::audio ? &control_to_audio : nullptr; }},
    {"Select", choose_select},
    {"T2A",
     [](const Signature& s) { return s.rate == Rate::audio && s.inputs.size() == 2 ? &trigger_to_audio : nullptr; }},
    {"T2K", [](const Signature& s) { return s.rate == Rate::control && s.audio(0) ? &trigger_to_control : nullptr; }},
};

} // namespace

SCS_FAMILY(selection)

} // namespace scs::SCS_SIMD
