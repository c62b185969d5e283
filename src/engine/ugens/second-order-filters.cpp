// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/recursive.hpp"

namespace scs::SCS_SIMD {
namespace {

// Second-order filters with two poles, with SuperCollider's coefficients.

/// For filters with both zeros at half the sample rate (Sign = 1) or both at 0 Hz (-1). m[2] is y1 + Sign y2.
template <int Sign, class Kind>
struct DoubleZero : Poles<Kind> {
    static constexpr int coefficients = 3, derived = 1, b = 1;
    template <int N>
    SCS_INLINE static F64<N> pair(F64<N> a, F64<N> b) {
        return Sign > 0 ? a + b : a - b;
    }
    template <int N>
    SCS_INLINE static void derive(F64<N>* m) {
        m[2] = pair(m[0], m[1]);
    }
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        const F64<N> y1 = m[0], older = m[2];
        m[2] = pair(poles(Kind::before(x, c), c[b], c[b + 1], m), y1);
        return Kind::scaled(pair(m[2], older), c);
    }
    template <int N>
    SCS_INLINE static F64<N> after(F64<N>, F64<N> y0, F64<N> y1, F64<N> y2, const F64<N>* c) {
        return Kind::scaled(pair(pair(y0, y1), pair(y1, y2)), c);
    }
    template <int N>
    SCS_INLINE static F64<N> scaled(F64<N> y, const F64<N>*) {
        return y;
    }
};

/// Butterworth low pass (Sign = 1) and high pass (-1).
template <int Sign>
struct Pass : DoubleZero<Sign, Pass<Sign>> {
    static constexpr int parameters = 1;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        const F64<N> one(1.0);
        const F64<N> half = tan(stable_angle(p[0], rate) * F64<N>(0.5));
        const F64<N> k = Sign > 0 ? one / half : half;
        const F64<N> k2 = k * k, sqrt2k = k * F64<N>(double(1.41421356237309504880f));
        c[0] = one / (one + sqrt2k + k2);
        c[1] = F64<N>(-2.0 * Sign) * (one - k2) * c[0];
        c[2] = -(one - sqrt2k + k2) * c[0];
    }
    template <int N>
    SCS_INLINE static F64<N> scaled(F64<N> y, const F64<N>* c) {
        return c[0] * y;
    }
};

/// RLPF (Sign = 1) and RHPF (-1).
template <int Sign>
struct Resonant : DoubleZero<Sign, Resonant<Sign>> {
    static constexpr int parameters = 2;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        const F64<N> one(1.0);
        const F64<N> rq = max(F64<N>(0.001), convert<double>(p[1]));
        const F64<N> w = abs(angle(p[0], rate)); // below 0 Hz SuperCollider's filter is unstable
        const F64<N> d = tan(w * rq * F64<N>(0.5));
        const F64<N> k = (one - d) / (one + d);
        c[1] = (one + k) * cos(w);
        c[2] = -k;
        c[0] = (Sign > 0 ? one + k - c[1] : one + k + c[1]) * F64<N>(0.25);
    }
    template <int N>
    SCS_INLINE static F64<N> before(F64<N> x, const F64<N>* c) {
        return c[0] * x;
    }
};

/// What the designs of the band filters have in common.
template <int N>
struct Band {
    F64<N> half_width, twice_cosine;
    SCS_INLINE Band(const F32<N>* p, const UnitRate& rate) {
        const F64<N> w = angle(p[0], rate);
        const F64<N> half = convert<double>(p[1]) * w * F64<N>(0.5);
        // For angles too large for tan(), which would return 0 and leave no filter, the tangent of 1 is taken.
        half_width = tan(select(abs(half) >= F64<N>(0x1p50), half * F64<N>(0.0) + F64<N>(1.0), half));
        twice_cosine = F64<N>(2.0) * cos(w);
    }
};

/// c = {a0, b1, b2}.
template <int N>
SCS_INLINE void design_band(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
    const Band<N> band(p, rate);
    const F64<N> one(1.0), k = one / band.half_width;
    c[0] = one / (one + k);
    c[1] = k * band.twice_cosine * c[0];
    c[2] = (one - k) * c[0];
}

/// A zero at 0 Hz and one at half the sample rate.
template <class Kind, class Base = Filter>
struct BandZeros : Poles<Kind, Base> {
    static constexpr int parameters = 2, coefficients = 3, b = 1;
    template <int N>
    SCS_INLINE static F64<N> after(F64<N>, F64<N> y0, F64<N>, F64<N> y2, const F64<N>* c) {
        return c[0] * (y0 - y2);
    }
};

struct BandPass : BandZeros<BandPass> {
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        design_band(p, rate, c);
    }
};

/// c = {a0, a1, b2}.
struct BandReject : Filter {
    static constexpr int parameters = 2, coefficients = 3, memories = 2, zapped = 2;
    static constexpr Moves moves = Moves::by_thirds;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        const Band<N> band(p, rate);
        const F64<N> one(1.0);
        c[0] = one / (one + band.half_width);
        c[1] = -band.twice_cosine * c[0];
        c[2] = (one - band.half_width) * c[0];
    }
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        const F64<N> middle = c[1] * m[0], y2 = m[1];
        const F64<N> y0 = x - c[2] * y2 - middle;
        m[1] = m[0];
        m[0] = y0;
        return c[0] * (y0 + y2) + middle;
    }
};

struct Mid : BandZeros<Mid, StartsWithoutCoefficients> {
    static constexpr int parameters = 3;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        design_band(p, rate, c);
        c[0] *= convert<double>(dbamp(p[2]) - F32<N>(1.f));
    }
    template <int N>
    SCS_INLINE static F64<N> after(F64<N> x, F64<N> y0, F64<N>, F64<N> y2, const F64<N>* c) {
        return x + c[0] * (y0 - y2);
    }
};

/// Coefficients of two poles with radius r, at a frequency corrected so that the peak is at w.
template <int N>
SCS_INLINE void design_peak(F64<N> r, F64<N> w, F64<N>& b1, F64<N>& b2) {
    const F64<N> r2 = r * r, twice = F64<N>(2.0) * r;
    b1 = twice * (twice * cos(w) / (F64<N>(1.0) + r2));
    b2 = -r2;
}

struct Resonz : BandZeros<Resonz, StartsWithoutCoefficients> {
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        const F64<N> one(1.0), w = angle(p[0], rate);
        const F64<N> r = one - w * convert<double>(p[1]) * F64<N>(0.5);
        design_peak(r, w, c[1], c[2]);
        c[0] = (one - r * r) * F64<N>(0.5);
    }
};

struct Ringz : Poles<Ringz, StartsWithoutCoefficients> {
    static constexpr int parameters = 2, coefficients = 2, b = 0;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        design_peak(decay_factor(p[1], rate), angle(p[0], rate), c[0], c[1]);
    }
    template <int N>
    SCS_INLINE static F64<N> after(F64<N>, F64<N> y0, F64<N>, F64<N> y2, const F64<N>*) {
        return F64<N>(0.5) * (y0 - y2);
    }
};

/// The difference of two Ringz; the faster one makes an attack.
struct Formlet : Filter {
    static constexpr int parameters = 3, coefficients = 4, memories = 4, zapped = 0;
    static constexpr Moves moves = Moves::by_thirds;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        const F64<N> w = angle(p[0], rate);
        design_peak(decay_factor(p[2], rate), w, c[0], c[1]);
        design_peak(decay_factor(p[1], rate), w, c[2], c[3]);
    }
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        const F64<N> decay = m[1], attack = m[3];
        return F64<N>(0.25) * ((poles(x, c[0], c[1], m) - decay) - (poles(x, c[2], c[3], m + 2) - attack));
    }
};

// ---- poles or zeros at a frequency, with a radius

template <int N, class Kind>
SCS_INLINE void design_radius(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
    c[0] = F64<N>(Kind::sign) * convert<double>(F32<N>(2.f) * p[1]) * cos(angle(p[0], rate));
    c[1] = F64<N>(-Kind::sign) * convert<double>(p[1] * p[1]);
}

struct Radius : StartsWithoutCoefficients {
    static constexpr int parameters = 2, coefficients = 2;
    static constexpr Moves moves = Moves::by_thirds;
};

struct TwoPole : Radius {
    static constexpr int memories = 2, zapped = 2;
    static constexpr double sign = 1.0;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        design_radius<N, TwoPole>(p, rate, c);
    }
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        return poles(x, c[0], c[1], m);
    }
};

struct TwoZero : Radius {
    static constexpr int memories = 2, zapped = 0;
    static constexpr double sign = -1.0;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        design_radius<N, TwoZero>(p, rate, c);
    }
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        const F64<N> y = x + c[0] * m[0] + c[1] * m[1];
        m[1] = m[0];
        m[0] = x;
        return y;
    }
};

/// m = {y1, y2, x1, x2, y3}. In the second and third of each three frames, SuperCollider's APF uses the output of other
/// frames than in the first one; so does this.
struct AllPass : Radius {
    static constexpr int memories = 4, zapped = 2, derived = 1;
    static constexpr bool phased = true;
    static constexpr double sign = 1.0;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        design_radius<N, AllPass>(p, rate, c);
    }
    template <int N>
    SCS_INLINE static void derive(F64<N>* m) {
        m[4] = m[1];
    }
    template <int Place = 0, int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        const F64<N> y2 = Place == 0 ? m[1] : Place == 1 ? m[4] : m[0];
        const F64<N> y = x + c[1] * (y2 - m[3]) + c[0] * (m[0] - m[2]);
        m[4] = m[1];
        m[1] = m[0];
        m[0] = y;
        m[3] = m[2];
        m[2] = x;
        return y;
    }
};

constexpr NativeUgen list[] = {
    {"APF", Recursive<AllPass>::choose},      {"BPF", Recursive<BandPass>::choose},
    {"BRF", Recursive<BandReject>::choose},   {"Formlet", Recursive<Formlet>::choose},
    {"HPF", Recursive<Pass<-1>>::choose},     {"LPF", Recursive<Pass<1>>::choose},
    {"MidEQ", Recursive<Mid>::choose},        {"RHPF", Recursive<Resonant<-1>>::choose},
    {"RLPF", Recursive<Resonant<1>>::choose}, {"Resonz", Recursive<Resonz>::choose},
    {"Ringz", Recursive<Ringz>::choose},      {"TwoPole", Recursive<TwoPole>::choose},
    {"TwoZero", Recursive<TwoZero>::choose},
};

constexpr KernelPair pairs[] = {
    Recursive<BandPass>::pair,    Recursive<BandReject>::pair, Recursive<Pass<-1>>::pair,
    Recursive<Pass<1>>::pair,     Recursive<Mid>::pair,        Recursive<Resonant<-1>>::pair,
    Recursive<Resonant<1>>::pair, Recursive<Resonz>::pair,     Recursive<Ringz>::pair,
};

} // namespace

SCS_FAMILY(second_order_filters)
SCS_PAIRS(second_order_filters)

} // namespace scs::SCS_SIMD
