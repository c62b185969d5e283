// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"

namespace scs::SCS_SIMD {
namespace {

// Delays of one or two samples.

template <int N>
struct SampleState {
    static constexpr size_t items64 = 0;
    float one[N], two[N]; ///< the inputs one and two samples ago; since 3.14 inputs 1 and 2 say what they were before
};

template <bool Two>
struct Samples {
    template <class Form>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<SampleState<Form::state_lanes>>(op, block);
            const float* from = input(op, block, 0);
            float* out = output(op, block);
            auto one = Form::get(s.one), two = Form::get(s.two);
            for (int i = 0, n = own_steps<Form>(op, block); i < n; ++i) {
                const auto x = Form::audio(from, i);
                Form::put(out, i, Two ? two : one);
                two = one;
                one = x;
            }
            Form::keep(s.one, one);
            Form::keep(s.two, two);
        }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<SampleState<1>>(op, block);
        if (block.space->release < Release::v3_14) {
            s.one[0] = *input(op, block, 0);
            *output(op, block) = Two ? 0.f : s.one[0];
            return;
        }
        s.one[0] = *input(op, block, 1);
        if (Two)
            s.two[0] = *input(op, block, 2);
        *output(op, block) = Two ? s.two[0] : s.one[0];
    }
    static constexpr Kernel kernel = vector_kernel<Run, SampleState, Scalar>(start);
    static const Kernel* choose(const Signature& s) {
        if (s.release >= Release::v3_14 && s.inputs.size() < (Two ? 3 : 2))
            return nullptr;
        return s.rate == Rate::audio ? (s.audio(0) ? &kernel : nullptr) : s.rate == Rate::control ? &kernel : nullptr;
    }
};

constexpr NativeUgen list[] = {
    {"Delay1", Samples<false>::choose},
    {"Delay2", Samples<true>::choose},
};

} // namespace

SCS_FAMILY(short_delays)

} // namespace scs::SCS_SIMD
