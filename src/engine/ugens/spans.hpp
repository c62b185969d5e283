// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sines of constant frequency, computed in spans of frames around a middle. A sine k frames before or after the middle
// is the middle's sine times cos(kw) minus or plus its cosine times sin(kw): two products a frame. All in single
// precision. Frames are off by 2e-7 of the amplitude at most, -145 dB on average.

#include "engine/ugens/forms.hpp"

#include <utility>

namespace scs::SCS_SIMD {

constexpr int span = 16, reach = span / 2;
static_assert(block_multiple % span == 0 && span % lanes == 0 && lanes >= 4);

/// The factors for distances of 0 to `reach` frames: cos(kw), and sin(kw) or what takes its place. Part of a state.
template <int N>
struct Factors {
    float even[reach + 1][N], odd[reach + 1][N];
};

/// Computes a span of a batch: calls put(step, value) for each frame, given the sine and cosine in the middle.
template <class Put>
SCS_INLINE void put_span(const Factors<lanes>& factors, F32<lanes> sine, F32<lanes> cosine, int first, Put&& put) {
#pragma GCC unroll 9
    for (int k = 0; k <= reach; ++k) {
        const auto even = F32<lanes>::load(factors.even[k]) * sine, odd = F32<lanes>::load(factors.odd[k]) * cosine;
        if (k > 0)
            put(first + reach - k, even - odd);
        if (k < reach)
            put(first + reach + k, even + odd);
    }
}

/// The same for a lone voice; a vector has consecutive frames.
class LoneSpan {
public:
    SCS_INLINE explicit LoneSpan(const Factors<1>& factors) {
        const auto indices = std::make_integer_sequence<int, lanes>();
        spread<0, false>(factors.even[0], even_, indices);
        spread<reach + 1, true>(factors.even[0], odd_, indices);
    }
    /// Calls put(step, value); a step is `lanes` frames.
    template <class Put>
    SCS_INLINE void put_span(float sine, float cosine, int first, Put&& put) const {
        for (int i = 0; i < steps; ++i)
            put(first / lanes + i, even_[i] * F32<lanes>(sine) + odd_[i] * F32<lanes>(cosine));
    }

private:
    static constexpr int steps = span / lanes;

    /// Puts factor |k| at each frame k of the span; odd factors get the sign of k. `from`: the even factors, followed
    /// by the odd ones.
    template <int First, bool Odd, int... I>
    SCS_INLINE static void spread(const float* from, F32<lanes> (&to)[steps], std::integer_sequence<int, I...>) {
        if constexpr (lanes > reach) {
            constexpr int before = Odd ? reach - 1 : 0; // so that nothing after the last factor is read
            const auto v = F32<lanes>::load(from + First - before).part[0];
            to[0].part[0] =
                __builtin_shufflevector(v, -v, (before + (I < reach ? reach - I + Odd * lanes : I - reach))...);
        } else {
            for (int i = 0; i < steps / 2; ++i) {
                const auto v = F32<lanes>::load(from + First + reach + 1 - (i + 1) * lanes).part[0];
                to[i].part[0] = __builtin_shufflevector(v, -v, (lanes - 1 - I + Odd * lanes)...);
                to[steps / 2 + i] = F32<lanes>::load(from + First + i * lanes);
            }
        }
    }

    F32<lanes> even_[steps], odd_[steps];
};

} // namespace scs::SCS_SIMD
