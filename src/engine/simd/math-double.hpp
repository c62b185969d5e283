// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Elementary functions computed in double; math.hpp says what holds for all of them. P is Full for results in double.
// It is Short for results that are rounded to float: it has fewer terms, and ignores what a float can't be.

#include "engine/simd/math-coefficients.hpp"
#include "engine/simd/math-round.hpp"

namespace scs::SCS_SIMD {

namespace detail {

template <class P>
constexpr bool full = std::is_same_v<P, Full>;

constexpr double infinity = __builtin_inf();
constexpr double largest = 0x1.fffffffffffffp1023;
constexpr double nan = __builtin_nan("");

// The upper parts have so few bits that their products with the integers used here are exact.
constexpr double log2_e = 0x1.71547652b82fep+0;
constexpr double log10_e = 0x1.bcb7b1526e50ep-2;
constexpr double ln_2 = 0x1.62e42fefa39efp-1;
constexpr double ln_2_high = 0x1.62e42fefa3p-1;
constexpr double ln_2_low = 0x1.3de6af278ece6p-42;
constexpr double log10_2_high = 0x1.34413509f7p-2;
constexpr double log10_2_low = 0x1.3fde623e2566bp-43;
constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
constexpr double pi = 0x1.921fb54442d18p+1;
constexpr double pi_low = 0x1.1a62633145c07p-53;

/// Adding this to a number below 2⁵¹ rounds it to an integer, which is then in the sum's low bits in two's complement.
constexpr double to_whole = 0x1.8p52;

template <int I = 0, int N, int Count>
SCS_INLINE F64<N> polynomial(F64<N> x, const double (&coefficients)[Count]) {
    if constexpr (I == Count - 1)
        return F64<N>(coefficients[I]);
    else
        return polynomial<I + 1>(x, coefficients) * x + coefficients[I];
}

/// x = count·π/2 + rest.
template <int N>
struct Quarters {
    F64<N> rest;
    U64<N> count; ///< only its low 12 bits count
};

/// The rest is exact, except for a rounding, up to |x| = 10⁶. Up to 2⁵⁰ the error is that of rounding x. Beyond, the
/// result is that of zero.
template <class P, int N>
SCS_INLINE Quarters<N> quarters(F64<N> x) {
    x = select(abs(x) < F64<N>(0x1p50), x, x * 0.0);
    const F64<N> sum = x * two_over_pi + to_whole;
    const F64<N> whole = sum - to_whole;
    F64<N> rest = x - whole * 0x1.921fb544p+0;
    if constexpr (full<P>)
        rest = (rest - whole * 0x1.0b4611a6p-34) - whole * 0x1.3198a2e037073p-69;
    else
        rest = rest - whole * 0x1.0b4611a626331p-34;
    return {rest, bits<uint64_t>(sum)};
}

template <int N>
struct SinCos {
    F64<N> sin, cos;
};

template <class P, int N>
SCS_INLINE SinCos<N> sincos(F64<N> x) {
    const Quarters<N> q = quarters<P>(x);
    const F64<N> r = q.rest;
    const F64<N> square = r * r;
    const F64<N> s = r + r * square * polynomial(square, P::sin);
    const F64<N> c = (1.0 - square * 0.5) + square * square * polynomial(square, P::cos);
    const U64<N> odd = U64<N>(0) - (q.count & 1);
    return {flip(blend(odd, c, s), (q.count & 2) << 62), flip(blend(odd, s, c), ((q.count + 1) & 2) << 62)};
}

template <class P, int N>
SCS_INLINE F64<N> tan(F64<N> x) {
    const SinCos<N> both = sincos<P>(x);
    return both.sin / both.cos;
}

template <int N>
SCS_INLINE F64<N> power_of_two(U64<N> exponent) {
    return bits<double>((exponent + 1023) << 52);
}

/// e^x = (1 + rest)·2^whole.
template <int N>
struct Exponential {
    F64<N> rest;
    F64<N> whole;
    U64<N> bits; ///< `whole` as an integer, in the low 12 bits
};

/// e^r for |r| ≤ ln 2/2. `sum`: `whole` + to_whole.
template <class P, int N>
SCS_INLINE Exponential<N> exponential(F64<N> r, F64<N> sum) {
    return {r + r * r * polynomial(r, P::exp), sum - to_whole, bits<uint64_t>(sum)};
}

/// e^x for |x| < 10⁶.
template <class P, int N>
SCS_INLINE Exponential<N> natural_exponential(F64<N> x) {
    const F64<N> sum = x * log2_e + to_whole;
    const F64<N> whole = sum - to_whole;
    return exponential<P>((x - whole * ln_2_high) - whole * ln_2_low, sum);
}
/// e^(x + more) for |more| < 10⁻³.
template <class P, int N>
SCS_INLINE Exponential<N> natural_exponential(F64<N> x, F64<N> more) {
    const F64<N> sum = x * log2_e + to_whole;
    const F64<N> whole = sum - to_whole;
    return exponential<P>(((x - whole * ln_2_high) - whole * ln_2_low) + more, sum);
}

/// (1 + rest)·2^(whole + up), for |whole| < 2000 in double, < 1000 for float.
template <class P, int N>
SCS_INLINE F64<N> scaled(Exponential<N> e, uint64_t up = 0) {
    const F64<N> base = e.rest + 1.0;
    if constexpr (full<P>) {
        // In two steps, because the power of two can be out of a double's range when the result isn't.
        const U64<N> half = bits<uint64_t>(e.whole * 0.5 + to_whole);
        return base * power_of_two(half) * power_of_two(e.bits - half + up);
    } else {
        return base * power_of_two(e.bits + up);
    }
}

/// e^x − 1 for |whole| < 1000.
template <int N>
SCS_INLINE F64<N> minus_one(Exponential<N> e) {
    const F64<N> power = power_of_two(e.bits);
    return e.rest * power + (power - 1.0);
}

/// Beyond ± this exponent the result is zero or infinite.
template <class P>
constexpr double exponent_limit = full<P> ? 1100.0 : 300.0;

template <class P, int N>
SCS_INLINE F64<N> exp(F64<N> x) {
    const double limit = exponent_limit<P> * 0.69;
    return scaled<P>(natural_exponential<P>(clamp(x, -limit, limit)));
}

template <class P, int N>
SCS_INLINE F64<N> exp2(F64<N> x) {
    x = clamp(x, -exponent_limit<P>, exponent_limit<P>);
    const F64<N> sum = x + to_whole;
    return scaled<P>(exponential<P>((x - (sum - to_whole)) * ln_2, sum));
}

template <class P, int N>
SCS_INLINE F64<N> sinh(F64<N> x) {
    const F64<N> size = min(F64<N>(exponent_limit<P> * 0.69), abs(x));
    const Exponential<N> e = natural_exponential<P>(size);
    const F64<N> less = minus_one(e);
    const F64<N> small = (less + less / (less + 1.0)) * 0.5;
    return copysign(select(size < F64<N>(40.0), small, scaled<P>(e, uint64_t(-1))), x);
}

template <class P, int N>
SCS_INLINE F64<N> cosh(F64<N> x) {
    const F64<N> half = scaled<P>(natural_exponential<P>(min(F64<N>(exponent_limit<P> * 0.69), abs(x))), uint64_t(-1));
    return half + 0.25 / half;
}

template <class P, int N>
SCS_INLINE F64<N> tanh(F64<N> x) {
    const F64<N> twice = min(F64<N>(44.0), abs(x) * 2.0);
    const F64<N> less = minus_one(natural_exponential<P>(twice));
    return copysign(less / (less + 2.0), x);
}

/// x = (1 + rest)·2^whole with √½ ≤ 1 + rest < √2, for positive, finite x.
template <int N>
struct Mantissa {
    F64<N> rest;
    F64<N> whole;
};

template <class P, int N>
SCS_INLINE Mantissa<N> mantissa(F64<N> x) {
    constexpr uint64_t root_half = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000;
    F64<N> bias(0x1p52 + 1023);
    if constexpr (full<P>) {
        const auto tiny = x < F64<N>(0x1p-1022);
        x = select(tiny, x * 0x1p54, x);
        bias = select(tiny, bias + 54.0, bias);
    }
    const U64<N> shifted = bits<uint64_t>(x) + (one - root_half);
    const F64<N> exponent = bits<double>((shifted >> 52) | uint64_t(0x4330000000000000)); // + 2⁵²
    return {bits<double>((shifted & uint64_t(0xfffffffffffff)) + root_half) - 1.0, exponent - bias};
}

template <class P, int N>
SCS_INLINE F64<N> log_of_mantissa(F64<N> rest) {
    const F64<N> s = rest / (rest + 2.0);
    const F64<N> square = s * s;
    return s * 2.0 + s * square * polynomial(square, P::log);
}

/// Replaces a logarithm, of any base, where x isn't positive and finite.
template <int N>
SCS_INLINE F64<N> with_log_limits(F64<N> x, F64<N> result) {
    const F64<N> limit = select(x == F64<N>(0.0), -infinity, select(x > F64<N>(0.0), x, nan));
    return select((x > F64<N>(0.0)) & (x < F64<N>(infinity)), result, limit);
}

template <class P, int N>
SCS_INLINE F64<N> log(F64<N> x) {
    const Mantissa<N> m = mantissa<P>(x);
    return with_log_limits(x, m.whole * ln_2_high + (log_of_mantissa<P>(m.rest) + m.whole * ln_2_low));
}

template <class P, int N>
SCS_INLINE F64<N> finite_log2(F64<N> x) {
    const Mantissa<N> m = mantissa<P>(x);
    return m.whole + log_of_mantissa<P>(m.rest) * log2_e;
}

template <class P, int N>
SCS_INLINE F64<N> log2(F64<N> x) {
    return with_log_limits(x, finite_log2<P>(x));
}

template <class P, int N>
SCS_INLINE F64<N> log10(F64<N> x) {
    const Mantissa<N> m = mantissa<P>(x);
    const F64<N> rest = log_of_mantissa<P>(m.rest) * log10_e;
    return with_log_limits(x, m.whole * log10_2_high + (rest + m.whole * log10_2_low));
}

/// The upper half of a double's bits: the product of two such numbers is exact.
template <int N>
SCS_INLINE F64<N> upper_bits(F64<N> x) {
    return bits<double>(bits<uint64_t>(x) & uint64_t(0xfffffffff8000000));
}

/// x^y for positive, finite x and |y| ≤ 10²⁰, to a double's precision. The logarithm, and its product with y, have over
/// 60 bits, in two numbers.
template <int N>
SCS_INLINE F64<N> long_power(F64<N> x, F64<N> y) {
    const Mantissa<N> m = mantissa<Full>(x);
    const F64<N> sum = m.rest + 2.0;
    const F64<N> sum_low = m.rest - (sum - 2.0);
    const F64<N> s = m.rest / sum;
    const F64<N> s_high = upper_bits(s);
    const F64<N> sum_high = upper_bits(sum);
    const F64<N> s_low = ((m.rest - s_high * sum_high) - s_high * ((sum - sum_high) + sum_low)) / sum;
    const F64<N> square = s * s;
    const F64<N> exact = m.whole * ln_2_high; // zero, or larger than the next term
    const F64<N> twice = s_high * 2.0;
    const F64<N> first = exact + twice;
    const F64<N> cube = s * square * polynomial(square, Full::log);
    const F64<N> less = (twice - (first - exact)) + (s_low * 2.0 + (m.whole * ln_2_low + cube));
    const F64<N> log = first + less;
    const F64<N> log_low = less - (log - first);

    const F64<N> log_high = upper_bits(log);
    const F64<N> y_high = upper_bits(y);
    const F64<N> product = y_high * log_high;
    const F64<N> more = y_high * ((log - log_high) + log_low) + (y - y_high) * log;
    const double limit = exponent_limit<Full> * 0.69;
    return scaled<Full>(natural_exponential<Full>(clamp(product, -limit, limit), clamp(more, -0.001, 0.001)));
}

template <class P, int N>
SCS_INLINE F64<N> pow(F64<N> x, F64<N> y) {
    const F64<N> zero(0.0);
    const F64<N> held = clamp(y, -1e20, 1e20);
    F64<N> result;
    if constexpr (full<P>)
        result = long_power(x, held);
    else
        result = exp2<P>(held * finite_log2<P>(x));
    const auto at_zero = x == zero;
    const F64<N> limit = select(at_zero ^ (y < zero), F64<N>(0.0), F64<N>(infinity));
    result = select(at_zero | (x == F64<N>(infinity)), limit, result);
    result = select((x >= zero) & (y == y), result, nan);
    return select(y == zero, 1.0, result);
}

/// The arctangent of num/den. Both must be ≥ 0 and finite, or NaN. 0/0 gives 0.
template <class P, int N>
SCS_INLINE F64<N> atan_of_ratio(F64<N> num, F64<N> den) {
    const double tan_eighth = 0x1.a827999fcef32p-2, tan_three_eighths = 0x1.3504f333f9de6p+1;
    const auto steep = num > den * tan_three_eighths;
    const auto middle = num > den * tan_eighth;
    const F64<N> over = select(steep, -den, select(middle, num * 0.5 - den * 0.5, num));
    const F64<N> under = select(steep, num, select(middle, num * 0.5 + den * 0.5, den));
    const F64<N> t = over / select(under == F64<N>(0.0), 1.0, under);
    const F64<N> square = t * t;
    const F64<N> high = select(steep, pi / 2, select(middle, F64<N>(pi / 4), F64<N>(0.0)));
    const F64<N> low = select(steep, pi_low / 2, select(middle, F64<N>(pi_low / 4), F64<N>(0.0)));
    return high + (t + (t * square * polynomial(square, P::atan) + low));
}

template <class P, int N>
SCS_INLINE F64<N> atan(F64<N> x) {
    return copysign(atan_of_ratio<P>(min(F64<N>(largest), abs(x)), F64<N>(1.0)), x);
}

template <class P, int N>
SCS_INLINE F64<N> atan2(F64<N> y, F64<N> x) {
    const F64<N> first = atan_of_ratio<P>(min(F64<N>(largest), abs(y)), min(F64<N>(largest), abs(x)));
    const U64<N> left = U64<N>(0) - (sign_bits(x) >> 63);
    return copysign(blend(left, pi - (first - pi_low), first), y);
}

/// asin |x| = turned ? π/2 − 2·rest : rest.
template <int N>
struct ArcSine {
    F64<N> rest;
    typename F64<N>::Mask turned;
};

template <class P, int N>
SCS_INLINE ArcSine<N> arc_sine(F64<N> size) {
    const auto turned = size > F64<N>(0.5);
    const F64<N> square = select(turned, (1.0 - size) * 0.5, size * size);
    const F64<N> t = select(turned, sqrt(square), size);
    return {t + t * square * polynomial(square, P::asin), turned};
}

template <class P, int N>
SCS_INLINE F64<N> asin(F64<N> x) {
    const ArcSine<N> a = arc_sine<P>(abs(x));
    return copysign(select(a.turned, pi / 2 - (a.rest * 2.0 - pi_low / 2), a.rest), x);
}

template <class P, int N>
SCS_INLINE F64<N> acos(F64<N> x) {
    const ArcSine<N> a = arc_sine<P>(abs(x));
    const F64<N> twice = a.rest * 2.0;
    const auto negative = x < F64<N>(0.0);
    const F64<N> far = select(negative, pi - (twice - pi_low), twice);
    const F64<N> near = pi / 2 - (select(negative, -a.rest, a.rest) - pi_low / 2);
    return select(a.turned, far, near);
}

} // namespace detail

/// Sine and cosine, with one range reduction for both.
template <int N>
SCS_INLINE detail::SinCos<N> sincos(F64<N> x) {
    return detail::sincos<detail::Full>(x);
}
template <int N>
SCS_INLINE F64<N> sin(F64<N> x) {
    return sincos(x).sin;
}
template <int N>
SCS_INLINE F64<N> cos(F64<N> x) {
    return sincos(x).cos;
}

#define SCS_FULL(name)                                                                                                 \
    template <int N>                                                                                                   \
    SCS_INLINE F64<N> name(F64<N> x) {                                                                                 \
        return detail::name<detail::Full>(x);                                                                          \
    }
SCS_FULL(tan)
SCS_FULL(exp)
SCS_FULL(exp2)
SCS_FULL(log)
SCS_FULL(log2)
SCS_FULL(log10)
SCS_FULL(sinh)
SCS_FULL(cosh)
SCS_FULL(tanh)
SCS_FULL(atan)
SCS_FULL(asin)
SCS_FULL(acos)
#undef SCS_FULL

/// x^y for x ≥ 0. NaN for negative x, 1 for y = 0.
template <int N>
SCS_INLINE F64<N> pow(F64<N> x, F64<N> y) {
    return detail::pow<detail::Full>(x, y);
}
template <int N>
SCS_INLINE F64<N> atan2(F64<N> y, F64<N> x) {
    return detail::atan2<detail::Full>(y, x);
}

} // namespace scs::SCS_SIMD
