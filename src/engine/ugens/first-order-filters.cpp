// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/recursive.hpp"

namespace scs::SCS_SIMD {
namespace {

// Filters that keep one frame, and sums of these. Where SuperCollider computes x + b1 (y1 - x), we compute (1 - b1) x +
// b1 y1. The value is the same, but only one product and one sum wait for the previous frame.

struct FirstOrder : Filter {
    static constexpr int parameters = 1, coefficients = 1, memories = 1, zapped = 1;
    static constexpr Moves moves = Moves::after;
    static constexpr bool at_once = false;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate&, F64<N>* c) {
        c[0] = convert<double>(p[0]);
    }
};

/// OnePole with its coefficient at audio rate. It takes 1 - b1 where OnePole takes 1 - |b1|, so a negative coefficient
/// passes a constant signal unchanged. Also at control rate, a new coefficient is used at once.
struct OnePoleModulated : FirstOrder {
    static constexpr bool at_once = true;
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        return m[0] = (F64<N>(1.0) - c[0]) * x + c[0] * m[0];
    }
};

struct OnePole : FirstOrder {
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        return m[0] = (F64<N>(1.0) - abs(c[0])) * x + c[0] * m[0];
    }
    template <class Kind>
    SCS_INLINE static F64<1> begin(F64<1> x, const F64<1>* c, F64<1>* m) {
        return OnePoleModulated::step(x, c, m);
    }
};

const Kernel* choose_one_pole(const Signature& s) {
    if (!s.audio(1))
        return Recursive<OnePole>::choose(s);
    if (s.rate != Rate::audio)
        return &Recursive<OnePoleModulated>::control;
    return s.audio(0) ? &Modulated<OnePoleModulated>::kernel : nullptr;
}

struct OneZero : FirstOrder {
    static constexpr int zapped = 0;
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        const F64<N> y = (F64<N>(1.0) - abs(c[0])) * x + c[0] * m[0];
        m[0] = x;
        return y;
    }
    template <class Kind>
    SCS_INLINE static F64<1> begin(F64<1> x, const F64<1>* c, F64<1>* m) {
        m[0] = x;
        return step(x, c, m);
    }
};

struct Integrator : FirstOrder {
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        return m[0] = x + c[0] * m[0];
    }
    template <class Kind>
    SCS_INLINE static F64<1> begin(F64<1> x, const F64<1>*, F64<1>*) {
        return x;
    }
};

/// m = {y1, x1}.
struct LeakDC : FirstOrder {
    static constexpr int memories = 2;
    static constexpr bool at_once = true;
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        m[0] = (x - m[1]) + c[0] * m[0];
        m[1] = x;
        return m[0];
    }
    template <class Kind>
    SCS_INLINE static F64<1> begin(F64<1> x, const F64<1>* c, F64<1>* m) {
        m[1] = x;
        return step(x, c, m);
    }
};

struct Decay : FirstOrder {
    static constexpr bool steps_back = true;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        c[0] = decay_factor(p[0], rate);
    }
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        return m[0] = x + c[0] * m[0];
    }
    template <class Kind>
    SCS_INLINE static F64<1> begin(F64<1> x, const F64<1>*, F64<1>* m) {
        return m[0] = x;
    }
};

/// The difference of two decays; the faster one makes an attack.
struct Decay2 : FirstOrder {
    static constexpr int parameters = 2, coefficients = 2, memories = 2, zapped = 0;
    static constexpr bool steps_back = true;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        c[0] = decay_factor(p[1], rate);
        c[1] = decay_factor(p[0], rate);
    }
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        m[0] = x + c[0] * m[0];
        m[1] = x + c[1] * m[1];
        return m[0] - m[1];
    }
    template <class Kind>
    SCS_INLINE static F64<1> begin(F64<1> x, const F64<1>*, F64<1>* m) {
        m[0] = m[1] = x;
        return F64<1>(0.0);
    }
};

/// c = {a0, a1, b1}.
struct FirstOrderSection : FirstOrder {
    static constexpr int parameters = 3, coefficients = 3;
    static constexpr bool at_once = true;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate&, F64<N>* c) {
        repeat<3>([&](int k) { c[k] = convert<double>(p[k]); });
    }
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        const F64<N> y1 = m[0];
        m[0] = x + c[2] * y1;
        return c[0] * m[0] + c[1] * y1;
    }
};

const Kernel* choose_section(const Signature& s) {
    if (s.rate == Rate::audio && s.audio(0) && all_audio(s, 3))
        return &Modulated<FirstOrderSection>::kernel;
    return Recursive<FirstOrderSection>::choose(s);
}

constexpr NativeUgen list[] = {
    {"Decay", Recursive<Decay>::choose},           {"Decay2", Recursive<Decay2>::choose}, {"FOS", choose_section},
    {"Integrator", Recursive<Integrator>::choose}, {"LeakDC", Recursive<LeakDC>::choose}, {"OnePole", choose_one_pole},
    {"OneZero", Recursive<OneZero>::choose},
};

constexpr KernelPair pairs[] = {
    Recursive<Decay>::pair,  Recursive<Decay2>::pair,  Recursive<Integrator>::pair,
    Recursive<LeakDC>::pair, Recursive<OnePole>::pair,
};

} // namespace

SCS_FAMILY(first_order_filters)
SCS_PAIRS(first_order_filters)

} // namespace scs::SCS_SIMD
