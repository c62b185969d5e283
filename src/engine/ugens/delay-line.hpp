// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What units with delay lines in real-time memory have in common.

#include "engine/simd/math.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {

constexpr uint32_t longest_line = 1u << 30; ///< samples

/// A ring of samples; its length is a power of two.
struct DelayLine {
    float* samples;
    /// next: the number of frames written until the line is full, then its length + the next index to write
    int64_t mask, next;

    /// Whether part of the line hasn't been written yet. That part counts as silent.
    SCS_INLINE bool unfilled() const { return next <= mask; }
    /// `next` as it is kept between blocks.
    SCS_INLINE uint32_t kept_next() const { return uint32_t(unfilled() ? next : (next & mask) + mask + 1); }
};

/// The length of a line with room for this many frames.
SCS_INLINE int64_t line_of(int64_t frames) {
    int64_t length = 1;
    while (length < frames && length < longest_line)
        length *= 2;
    return length;
}

/// The length of a line for delays of up to `seconds`, with room for the block that is written.
SCS_INLINE int64_t line_length(float seconds, double rate, int frames) {
    const double wanted = double(seconds) * rate + 1.;
    const double most = wanted > 1. ? (wanted < longest_line ? wanted : double(longest_line)) : 1.;
    return line_of(to_int(ceil(F64<1>(most)))[0] + int64_t(frames));
}

/// A delay's whole frames. For NaN, which a delay never recovers from, a position before everything written: silence.
SCS_INLINE int64_t whole_of(float delay) {
    return delay == delay ? int32_t(delay) : int64_t(1) << 40;
}

/// The feedback for one pass through the line: a thousandth is left after the decay time.
template <int N>
SCS_INLINE F32<N> feedback_of(F32<N> seconds, F32<N> decay) {
    constexpr double log001 = -6.907755278982137;
    const auto size = exp(F64<N>(log001) * convert<double>(seconds) / convert<double>(abs(decay)));
    const auto none = (seconds == F32<N>(0.f)) | (decay == F32<N>(0.f));
    return select(none, 0.f, copysign(convert<float>(size), decay));
}

} // namespace scs::SCS_SIMD
