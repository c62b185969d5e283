// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Signs, whole numbers and remainders; see math.hpp for what holds for all.

#include "engine/simd/lanes.hpp"

namespace scs::SCS_SIMD {

namespace detail {

template <class T>
struct Format;
template <>
struct Format<float> {
    using Bits = uint32_t;
    static constexpr Bits sign = 0x80000000u;
    static constexpr float whole = 0x1p23f; // from here on every number is an integer
};
template <>
struct Format<double> {
    using Bits = uint64_t;
    static constexpr Bits sign = 0x8000000000000000u;
    static constexpr double whole = 0x1p52;
};

/// a where all bits of the mask are set, b where none are. For masks made by integer operations, which select() would
/// first compare with zero.
template <class T, int N>
SCS_INLINE Vec<T, N> blend(Vec<typename Format<T>::Bits, N> mask, Vec<T, N> a, Vec<T, N> b) {
    using Bits = typename Format<T>::Bits;
    const auto b_bits = bits<Bits>(b);
    return bits<T>(((bits<Bits>(a) ^ b_bits) & mask) ^ b_bits);
}

/// x with its sign flipped where `sign` has the sign bit set. No other bits of `sign` may be set.
template <class T, int N>
SCS_INLINE Vec<T, N> flip(Vec<T, N> x, Vec<typename Format<T>::Bits, N> sign) {
    return bits<T>(bits<typename Format<T>::Bits>(x) ^ sign);
}

template <class T, int N>
SCS_INLINE Vec<typename Format<T>::Bits, N> sign_bits(Vec<T, N> x) {
    using F = Format<T>;
    return bits<typename F::Bits>(x) & F::sign;
}

} // namespace detail

template <class T, int N>
SCS_INLINE Vec<T, N> abs(Vec<T, N> x) {
    using F = detail::Format<T>;
    return bits<T>(bits<typename F::Bits>(x) & ~F::sign);
}

template <class T, int N>
SCS_INLINE Vec<T, N> copysign(Vec<T, N> size, Vec<T, N> sign) {
    return detail::flip(abs(size), detail::sign_bits(sign));
}

template <class T, int N>
SCS_INLINE typename Vec<T, N>::Mask is_nan(Vec<T, N> x) {
    return x != x;
}

/// x limited to low … high, neither of which may be NaN. NaN stays NaN.
template <class T, int N>
SCS_INLINE Vec<T, N> clamp(Vec<T, N> x, T low, T high) {
    return min(Vec<T, N>(high), max(Vec<T, N>(low), x));
}

/// The nearest integer, halves to the even one. Negative numbers that round to zero give −0.
template <class T, int N>
SCS_INLINE Vec<T, N> round_even(Vec<T, N> x) {
    const T whole = detail::Format<T>::whole;
    const Vec<T, N> size = abs(x);
    const Vec<T, N> rounded = (size + whole) - whole;
    return select(size < Vec<T, N>(whole), detail::flip(rounded, detail::sign_bits(x)), x);
}

template <class T, int N>
SCS_INLINE Vec<T, N> floor(Vec<T, N> x) {
    const Vec<T, N> rounded = round_even(x);
    return select(rounded > x, rounded - T(1), rounded);
}

template <class T, int N>
SCS_INLINE Vec<T, N> ceil(Vec<T, N> x) {
    return -floor(-x);
}

template <class T, int N>
SCS_INLINE Vec<T, N> trunc(Vec<T, N> x) {
    return copysign(floor(abs(x)), x);
}

/// The nearest integer, halves away from zero, as C's round().
template <class T, int N>
SCS_INLINE Vec<T, N> round(Vec<T, N> x) {
    const Vec<T, N> cut = trunc(x);
    return select(abs(x - cut) >= Vec<T, N>(T(0.5)), cut + copysign(Vec<T, N>(T(1)), x), cut);
}

/// x − floor(x): in [0, 1], 1 only where a tiny negative x rounds to it.
template <class T, int N>
SCS_INLINE Vec<T, N> frac(Vec<T, N> x) {
    return x - floor(x);
}

/// Truncates to an integer. Numbers that an int32 can't hold become its nearest limit (for floats 2³¹ − 128), NaN
/// becomes 0.
template <int N>
SCS_INLINE I32<N> to_int(F32<N> x) {
    const F32<N> held = clamp(x, -0x1p31f, 0x1.fffffep30f);
    return convert<int32_t>(select(is_nan(x), 0.f, held));
}
template <int N>
SCS_INLINE I32<N> to_int(F64<N> x) {
    const F64<N> held = clamp(x, -0x1p31, 0x1p31 - 1);
    return convert<int32_t>(select(is_nan(x), 0.0, held));
}

} // namespace scs::SCS_SIMD
