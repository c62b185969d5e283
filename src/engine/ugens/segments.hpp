// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Segments of envelopes at audio rate: linear and exponential, in double precision. Each function writes for one voice
// (a lane of its wire, samples L apart) or for all voices of a batch at once, with the same bits.

#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {

/// Whether a gate that a unit starts with has been closed since its synth was made: then it opens, and closes at once.
SCS_INLINE bool was_open(float gate) {
    return bits<int32_t>(F32<1>(gate))[0] == INT32_MIN;
}

SCS_INLINE int32_t least(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/// Writes `count` samples of a straight line.
template <int L>
SCS_INLINE void put_line(float* out, double level, double slope, int count) {
    int i = 0;
    if constexpr (L == 1) {
        const F64<lanes> from(level), each(slope);
        for (auto frame = convert<double>(count_up<lanes>()); i + lanes <= count; i += lanes, frame += double(lanes))
            convert<float>(from + each * frame).store(out + i);
    }
    for (; i < count; ++i)
        out[i * L] = float(level + slope * double(i));
}

template <int L>
SCS_INLINE void put_held(float* out, float level, int count) {
    int i = 0;
    if constexpr (L == 1)
        for (; i + lanes <= count; i += lanes)
            F32<lanes>(level).store(out + i);
    for (; i < count; ++i)
        out[i * L] = level;
}

/// Computes four interleaved sequences, so that a step waits only for the sample four before it. Calls put(i, sample)
/// for each sample up to the last multiple of four within `count`, and step(y) to advance a sequence. Returns the
/// number of samples.
template <class V, class Put, class Step>
SCS_INLINE int in_fours(V& y, V& y1, V& y2, V& y3, int count, Put&& put, Step&& step) {
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        put(i, y);
        put(i + 1, y1);
        put(i + 2, y2);
        put(i + 3, y3);
        step(y);
        step(y1);
        step(y2);
        step(y3);
    }
    return i;
}

/// Calls put(i, y * growth^i) for `count` samples. Returns the next one.
template <int N, class Put>
SCS_INLINE F64<N> each_power(F64<N> y, F64<N> growth, int count, Put&& put) {
    const F64<N> growth2 = growth * growth, growth4 = growth2 * growth2;
    F64<N> y1 = y * growth, y2 = y * growth2, y3 = y1 * growth2;
    for (int i = in_fours(y, y1, y2, y3, count, put, [=](F64<N>& v) { v *= growth4; }); i < count; ++i) {
        put(i, y);
        y = y1;
        y1 = y2;
        y2 = y3;
    }
    return y;
}

/// x^exponent by repeated squaring, as in SuperCollider.
template <int N>
SCS_INLINE F64<N> whole_power(F64<N> x, unsigned exponent) {
    F64<N> all(1.0);
    for (; exponent; exponent >>= 1, x *= x)
        if (exponent & 1)
            all *= x;
    return all;
}

/// each_power() in single precision, rounded as in SuperCollider, for blocks; `count` is a multiple of four.
template <int N, class Put>
SCS_INLINE void each_float_power(F32<N> y, F32<N> growth, int count, Put&& put) {
    const F32<N> growth4 = growth * (growth * (growth * growth));
    F32<N> y1 = y * growth, y2 = y1 * growth, y3 = y2 * growth;
    in_fours(y, y1, y2, y3, count, put, [=](F32<N>& v) { v *= growth4; });
}

/// The same for a straight line.
template <int N, class Put>
SCS_INLINE void each_float_sum(F32<N> y, F32<N> slope, int count, Put&& put) {
    const F32<N> slope2 = slope + slope, slope4 = slope2 + slope2;
    F32<N> y1 = y + slope, y2 = y + slope2, y3 = y2 + slope;
    in_fours(y, y1, y2, y3, count, put, [=](F32<N>& v) { v += slope4; });
}

} // namespace scs::SCS_SIMD
