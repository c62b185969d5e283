// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/recursive.hpp"

namespace scs::SCS_SIMD {
namespace {

// ---- moves towards the input by a fraction of the difference each frame, in one to three stages

/// The first sample. Each stage starts at the input, except where the factor is NaN.
template <int Times>
SCS_INLINE F64<1> begin_lag(F64<1> x, F64<1> factor, F64<1>* m) {
    repeat<Times>([&](int k) { x = m[k] = x + factor * (x - x); });
    return x;
}

template <int Times>
struct Lag : Filter {
    static constexpr int parameters = 1, coefficients = 1, memories = Times, zapped = Times;
    static constexpr Moves moves = Moves::before;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        c[0] = decay_factor(p[0], rate);
    }
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        repeat<Times>([&](int k) { x = m[k] = (F64<N>(1.0) - c[0]) * x + c[0] * m[k]; });
        return x;
    }
    template <class Kind>
    SCS_INLINE static F64<1> begin(F64<1> x, const F64<1>* c, F64<1>* m) {
        return begin_lag<Times>(x, c[0], m);
    }
};

/// With separate times for rising and falling.
template <int Times>
struct LagUD : Filter {
    static constexpr int parameters = 2, coefficients = 2, memories = Times, zapped = Times;
    static constexpr Moves moves = Moves::before;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        repeat<2>([&](int k) { c[k] = decay_factor(p[k], rate); });
    }
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        repeat<Times>([&](int k) {
            // As in SuperCollider, whose third stage compares the first stage with the second, not with itself.
            const auto up = k == 2 ? m[0] > m[1] : x > m[k];
            x = m[k] = x + select(up, c[0], c[1]) * (m[k] - x);
        });
        return x;
    }
    template <class Kind>
    SCS_INLINE static F64<1> begin(F64<1> x, const F64<1>* c, F64<1>* m) {
        return begin_lag<Times>(x, c[1], m);
    }
};

constexpr NativeUgen list[] = {
    {"Lag", Recursive<Lag<1>>::choose},      {"Lag2", Recursive<Lag<2>>::choose},
    {"Lag2UD", Recursive<LagUD<2>>::choose}, {"Lag3", Recursive<Lag<3>>::choose},
    {"Lag3UD", Recursive<LagUD<3>>::choose}, {"LagUD", Recursive<LagUD<1>>::choose},
};

constexpr KernelPair pairs[] = {
    Recursive<Lag<1>>::pair,
    Recursive<Lag<2>>::pair,
    Recursive<Lag<3>>::pair,
};

} // namespace

SCS_FAMILY(lags)
SCS_PAIRS(lags)

} // namespace scs::SCS_SIMD
