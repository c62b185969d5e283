// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// For arithmetic on the phases of long buffers (see synthdef/fine-phases.hpp). Each input of such a unit is followed,
// after the last one, by what its samples are off by, or by a constant 0. Output 0 has the same bits as without that,
// output 1 what it is off by.

#include "engine/ugens/any-input.hpp"

namespace scs::SCS_SIMD {

/// What a sample is off by; 0 if it is infinite or NaN.
template <int N>
SCS_INLINE F32<N> rest_of(F64<N> exact, F32<N> sample) {
    const auto rest = convert<float>(exact - convert<double>(sample));
    return select(rest - rest == F32<N>(0.f), rest, F32<N>(0.f));
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

} // namespace scs::SCS_SIMD
