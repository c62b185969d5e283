// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Conversions of musical units, as SuperCollider's unary operators do them. Powers take the same single-precision steps
// as there, because oscillators sum up a difference in a frequency's last bit. Logarithms are exact except for the
// rounding to float, and NaN where they are undefined.

#include "engine/simd/math-float.hpp"

namespace scs::SCS_SIMD {

namespace detail {
template <int N>
SCS_INLINE F32<N> exp2_of(F32<N> x) {
    return convert<float>(exp2<Short>(convert<double>(x)));
}
} // namespace detail

/// MIDI note number to Hz: 69 is 440 Hz, an octave is 12.
template <int N>
SCS_INLINE F32<N> midicps(F32<N> note) {
    return F32<N>(440.f) * detail::exp2_of((note - F32<N>(69.f)) * F32<N>(1.f / 12));
}
/// Hz to MIDI note number.
template <int N>
SCS_INLINE F32<N> cpsmidi(F32<N> hz) {
    // The factor 2^5.75 / 440 includes the 69: adding that later would cancel most digits of small results.
    return convert<float>(detail::log2<detail::Short>(convert<double>(hz) * 0.12231220585508572) * 12.0);
}
/// An interval in semitones to a ratio of frequencies.
template <int N>
SCS_INLINE F32<N> midiratio(F32<N> semitones) {
    return detail::exp2_of(semitones * F32<N>(1.f / 12));
}
template <int N>
SCS_INLINE F32<N> ratiomidi(F32<N> ratio) {
    return convert<float>(detail::log2<detail::Short>(convert<double>(ratio)) * 12.0);
}
/// Decibels to amplitude ratio.
template <int N>
SCS_INLINE F32<N> dbamp(F32<N> db) {
    constexpr double log2_of_10 = 3.3219280948873623479;
    return convert<float>(detail::exp2<detail::Short>(convert<double>(db * F32<N>(0.05f)) * log2_of_10));
}
template <int N>
SCS_INLINE F32<N> ampdb(F32<N> amp) {
    return convert<float>(detail::log10<detail::Short>(convert<double>(amp)) * 20.0);
}
/// Octaves to Hz: 4.75 is 440 Hz.
template <int N>
SCS_INLINE F32<N> octcps(F32<N> octave) {
    return F32<N>(440.f) * detail::exp2_of(octave - F32<N>(4.75f));
}
template <int N>
SCS_INLINE F32<N> cpsoct(F32<N> hz) {
    return convert<float>(detail::log2<detail::Short>(convert<double>(hz) * 0.06115610292754288)); // 2^4.75 / 440
}

} // namespace scs::SCS_SIMD
