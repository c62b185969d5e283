// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"

namespace scs::SCS_SIMD {
namespace {

// sc3-plugins' Decimator: holds samples, at a lower rate and cut to a number of bits.

enum { in, rate, depth };

template <int N>
struct DecimatorState {
    static constexpr size_t items64 = 0;
    float count[N]; ///< the next sample is taken when it reaches 1
    float held[N];
};

template <class Form>
struct Decimator {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        constexpr int N = Form::width;
        auto& s = state<DecimatorState<N>>(op, block);
        const float* from = input(op, block, in);
        float* out = output(op, block);
        const F32<N> wanted = Form::control(input(op, block, rate)), most(float(int_of(block.audio->samples)));
        const F32<N> each = select(wanted >= most, 1.f, wanted / most);
        F64<N> step, steps; // of the numbers that the bits can tell apart, and how many are in 1
        steps_of<N>(Form::control(input(op, block, depth)), step, steps);
        F32<N> count = Form::get(s.count), held = Form::get(s.held);
        for (int i = 0; i < block.frames; ++i) {
            const F32<N> x = Form::audio(from, i);
            count += each;
            const auto due = count >= F32<N>(1.f);
            count = select(due, count - F32<N>(1.f), count);
            if (any(due))
                held = select(due, cut<N>(x, step, steps), held);
            Form::put(out, i, held);
        }
        Form::keep(s.count, count);
        Form::keep(s.held, held);
    }
    template <int N>
    SCS_INLINE static F32<N> cut(F32<N> x, F64<N> step, F64<N> steps) {
        const F64<N> wide = convert<double>(x);
        const F64<N> half = select(widen_mask(x < F32<N>(0.f)), -1.0, F64<N>(1.0)) * step * F64<N>(0.5);
        const F64<N> scaled = (wide + half) * steps, whole = trunc(scaled);
        // What is infinite has no fraction.
        const F64<N> fraction = select(whole == scaled, F64<N>(0.0), scaled - whole);
        return x - convert<float>(fraction * step);
    }
    /// Out of line: it is once a block, and a power would be most of the code.
    template <int N>
    [[gnu::noinline, gnu::flatten]] static void steps_of(F32<N> bits, F64<N>& step, F64<N>& steps) {
        const auto all = (bits >= F32<N>(31.f)) | (bits < F32<N>(1.f));
        const F32<N> size = convert<float>(exp2(-convert<double>(bits - F32<N>(0.999f))));
        step = convert<double>(select(all, 0.f, size));
        steps = convert<double>(select(all, 1.f, F32<N>(1.f) / size));
    }
};

void start(const Op& op, Block& block) SCS_NONBLOCKING {
    run_first_frame(Decimator<Scalar>::run, op, block);
}

constexpr Kernel kernel = vector_kernel<Decimator, DecimatorState, Scalar>(start);

constexpr NativeUgen list[] = {
    {"Decimator",
     [](const Signature& s) {
         return s.rate == Rate::audio && s.inputs.size() == 3 && s.audio(in) ? &kernel : nullptr;
     }},
};

} // namespace

SCS_FAMILY(decimator)

} // namespace scs::SCS_SIMD
