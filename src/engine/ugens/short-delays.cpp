// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"

namespace scs::SCS_SIMD {
namespace {

// Delays of one or two samples.

template <int N>
struct SampleState {
    static constexpr size_t items64 = 0;
    float one[N], two[N]; ///< the inputs one and two samples ago
};

template <bool Two>
struct Samples {
    template <class Form>
    struct Run {
        static void run(const Op& op, Block& block) {
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
    static void start(const Op& op, Block& block) {
        const float x = *input(op, block, 0);
        state<SampleState<1>>(op, block).one[0] = x;
        *output(op, block) = Two ? 0.f : x;
    }
    static constexpr Kernel kernel = vector_kernel<Run, SampleState, Scalar>(start);
    static const Kernel* choose(const Signature& s) {
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
