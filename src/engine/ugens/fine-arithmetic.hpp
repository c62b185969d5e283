// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// For arithmetic on the phases of long buffers (see synthdef/fine-phases.hpp). Each input of such a unit is followed,
// after the last one, by what its samples are off by, or by a constant 0. Output 0 has the same bits as without that,
// but for where it wraps; output 1 what it is off by.

#include "engine/ugens/any-input.hpp"

namespace scs::SCS_SIMD {

/// What a sample is off by; 0 if it is infinite or NaN.
template <int N>
SCS_INLINE F32<N> rest_of(F64<N> exact, F32<N> sample) {
    const auto rest = convert<float>(exact - convert<double>(sample));
    return select(rest - rest == F32<N>(0.f), rest, F32<N>(0.f));
}

/// The sample of an exact place in a range that wraps, where the sample's rounding has made it wrap earlier or later:
/// what it is off by is to be a small number, too.
template <int N>
SCS_INLINE F32<N> on_that_side(F64<N> exact, F64<N> range, F32<N> sample) {
    const auto apart = abs(exact - convert<double>(sample)) > abs(range) * F64<N>(0.5);
    return select(narrow_mask(apart), convert<float>(exact), sample);
}

/// An input in double precision.
template <class Form>
struct FineIn {
    static constexpr int N = Form::width;
    AnyIn<Form> single;
    const float* rest;
    bool has_rest;

    SCS_INLINE FineIn(const Op& op, const Block& block, size_t index, float* previous)
        : single(op, block, index, previous),
          rest(input(op, block, op.inputs / 2u + index)),
          has_rest(is_audio(op, op.inputs / 2u + index)) {}
    SCS_INLINE F64<N> at(int step) const {
        if (!single.audio)
            return convert<double>(single.line.from) +
                   convert<double>(single.line.slope) * convert<double>(Form::frame(step));
        const auto sample = convert<double>(Form::audio(single.wire, step));
        return has_rest ? sample + convert<double>(Form::audio(rest, step)) : sample;
    }
};

/// Whether this is such a unit, without its further inputs one of `inputs` inputs.
constexpr bool is_fine(const Signature& s, size_t inputs) {
    return s.rate == Rate::audio && s.outputs == 2 && s.inputs.size() == 2 * inputs;
}

/// The kernel of a BinaryOpUGen.
template <class Operator>
struct FineBinary {
    template <class Form>
    struct Run {
        using F = typename Form::F;
        static void run(const Op& op, Block& block) SCS_NONBLOCKING { compute(op, block, Form::steps(block)); }
        SCS_INLINE static void compute(const Op& op, const Block& block, int steps) {
            auto* previous = state<Previous<1>::State<Form::state_lanes>>(op, block).value[0];
            const FineIn<Form> a(op, block, 0, previous), b(op, block, 1, previous);
            float* out = output(op, block);
            float* rests = output(op, block, 1);
            for (int i = 0; i < steps; ++i) {
                const F x = a.single.at(i), y = b.single.at(i);
                const auto exact = Operator::of(a.at(i), b.at(i));
                F made = Operator::of(x, y);
                if constexpr (Operator::wraps)
                    made = on_that_side(exact, b.at(i), made);
                if constexpr (Operator::has_first_zero) {
                    made = select(a.single.zero, Operator::first_zero(made, y), made);
                    made = select(b.single.zero, Operator::second_zero(made, x), made);
                }
                F rest = rest_of(exact, made);
                if constexpr (Operator::has_first_zero)
                    rest = select(a.single.zero | b.single.zero, F(0.f), rest);
                Form::put(out, i, made);
                Form::put(rests, i, rest);
            }
        }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        keep_inputs<1>(op, block, is_ramped(op, 0) ? 0 : 1);
        Run<Scalar>::compute(op, block, 1);
    }
    static constexpr Kernel kernel = any_rate_kernel<Run, Previous<1>::State>(true, start);
};

/// The kernel of a unit with an audio input, which K<Form>::compute() computes, and `Kept` further ones.
template <template <class> class K, int Kept>
struct FineChooser {
    template <class Form>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING { K<Form>::compute(op, block, Form::steps(block)); }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        keep_inputs<Kept>(op, block, 1);
        K<Scalar>::compute(op, block, 1);
    }
    static constexpr Kernel kernel = any_rate_kernel<Run, Previous<Kept>::template State>(true, start);
    static const Kernel* choose(const Signature& s) {
        return s.audio(0) && is_fine(s, K<Scalar>::inputs) ? &kernel : nullptr;
    }
};

} // namespace scs::SCS_SIMD
