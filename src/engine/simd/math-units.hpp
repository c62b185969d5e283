// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Musical units, as SuperCollider's unary operators convert them, but exactly but for the rounding to float; NaN where
// a logarithm has no value.

#include "engine/simd/math-float.hpp"

namespace scs::SCS_SIMD {

/// A note number to Hz: 69 is 440 Hz, 12 an octave.
template <int N>
SCS_INLINE F32<N> midicps(F32<N> note) {
    return convert<float>(detail::exp2<detail::Short>((convert<double>(note) - 69.0) * (1.0 / 12)) * 440.0);
}
/// Hz to a note number.
template <int N>
SCS_INLINE F32<N> cpsmidi(F32<N> hz) {
    // The factor, 2^5.75 / 440, holds the 69: added later, it would leave little of small numbers.
    return convert<float>(detail::log2<detail::Short>(convert<double>(hz) * 0.12231220585508572) * 12.0);
}
/// An interval in semitones to a ratio of frequencies.
template <int N>
SCS_INLINE F32<N> midiratio(F32<N> semitones) {
    return convert<float>(detail::exp2<detail::Short>(convert<double>(semitones) * (1.0 / 12)));
}
template <int N>
SCS_INLINE F32<N> ratiomidi(F32<N> ratio) {
    return convert<float>(detail::log2<detail::Short>(convert<double>(ratio)) * 12.0);
}
/// Decibels to a ratio of amplitudes.
template <int N>
SCS_INLINE F32<N> dbamp(F32<N> db) {
    return convert<float>(detail::exp2<detail::Short>(convert<double>(db) * 0x1.542a5a12e1c5bp-3)); // log2(10)/20
}
template <int N>
SCS_INLINE F32<N> ampdb(F32<N> amp) {
    return convert<float>(detail::log10<detail::Short>(convert<double>(amp)) * 20.0);
}
/// Octaves to Hz: 4.75 is 440 Hz.
template <int N>
SCS_INLINE F32<N> octcps(F32<N> octave) {
    return convert<float>(detail::exp2<detail::Short>(convert<double>(octave) - 4.75) * 440.0);
}
template <int N>
SCS_INLINE F32<N> cpsoct(F32<N> hz) {
    return convert<float>(detail::log2<detail::Short>(convert<double>(hz) * 0.06115610292754288)); // 2^4.75 / 440
}

} // namespace scs::SCS_SIMD
