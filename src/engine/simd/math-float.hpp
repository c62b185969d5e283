// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Elementary functions of floats, computed in double with fewer terms, and the oscillators' sine, computed in float.
// math.hpp says what holds for all of them.

#include "engine/simd/math-double.hpp"

namespace scs::SCS_SIMD {

/// The sine of phase·2π/2³². The phase is a fraction of a cycle that wraps as unsigned integers do. The absolute error
/// is below 1.1·10⁻⁷.
template <int N>
SCS_INLINE F32<N> sin_turns(U32<N> phase) {
    // A triangle of the same period, from the distance to the peak; in quarters of a turn, −1 to 1.
    const U32<N> from_peak = phase - 0x40000000u;
    const U32<N> negative = bits<uint32_t>(bits<int32_t>(from_peak) >> 31);
    const U32<N> distance = (from_peak ^ negative) - negative;
    const F32<N> u = convert<float>(bits<int32_t>(0x40000000u - distance)) * 0x1p-30f;
    // u + u·p(u²): the larger term is exact. p is a least-squares fit at the Chebyshev nodes; each coefficient was
    // fitted after those before it had been rounded. Error: 4.3e-9.
    const F32<N> square = u * u;
    F32<N> p = square * 0x1.3cd6d4p-13f - 0x1.323dc6p-8f;
    p = p * square + 0x1.466802p-4f;
    p = p * square - 0x1.4abbbcp-1f;
    p = p * square + 0x1.243f6ap-1f;
    return u + u * p;
}
/// The cosine: the sine a quarter of a turn later.
template <int N>
SCS_INLINE F32<N> cos_turns(U32<N> phase) {
    return sin_turns(phase + 0x40000000u);
}

template <int N>
struct SinCosFloat {
    F32<N> sin, cos;
};
/// Sine and cosine, with one range reduction for both.
template <int N>
SCS_INLINE SinCosFloat<N> sincos(F32<N> x) {
    const auto both = detail::sincos<detail::Short>(convert<double>(x));
    return {convert<float>(both.sin), convert<float>(both.cos)};
}
template <int N>
SCS_INLINE F32<N> sin(F32<N> x) {
    return sincos(x).sin;
}
template <int N>
SCS_INLINE F32<N> cos(F32<N> x) {
    return sincos(x).cos;
}

#define SCS_SHORT(name)                                                                                                \
    template <int N>                                                                                                   \
    SCS_INLINE F32<N> name(F32<N> x) {                                                                                 \
        return convert<float>(detail::name<detail::Short>(convert<double>(x)));                                        \
    }
SCS_SHORT(tan)
SCS_SHORT(exp)
SCS_SHORT(exp2)
SCS_SHORT(log)
SCS_SHORT(log2)
SCS_SHORT(log10)
SCS_SHORT(sinh)
SCS_SHORT(cosh)
SCS_SHORT(tanh)
SCS_SHORT(atan)
SCS_SHORT(asin)
SCS_SHORT(acos)
#undef SCS_SHORT

/// x^y for x ≥ 0. NaN for negative x, 1 for y = 0.
template <int N>
SCS_INLINE F32<N> pow(F32<N> x, F32<N> y) {
    return convert<float>(detail::pow<detail::Short>(convert<double>(x), convert<double>(y)));
}
template <int N>
SCS_INLINE F32<N> atan2(F32<N> y, F32<N> x) {
    return convert<float>(detail::atan2<detail::Short>(convert<double>(y), convert<double>(x)));
}

/// The remainder, with the sign of x. Exact for quotients below 2²⁹; beyond, where it would be meaningless, 0.
template <int N>
SCS_INLINE F32<N> fmod(F32<N> x, F32<N> y) {
    const F64<N> num = convert<double>(x);
    const F64<N> den = clamp(convert<double>(y), -1e39, 1e39); // finite, but larger than any finite float
    const F64<N> quotient = trunc(num / den);
    return convert<float>(select(abs(quotient) < F64<N>(0x1p29), num - quotient * den, quotient * 0.0));
}

} // namespace scs::SCS_SIMD
