// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled once for each instruction set.
#include "engine/simd/test-math-kernels.hpp"

#include "engine/simd/math.hpp"

namespace scs::SCS_SIMD {

namespace {

template <class From, class To, int N, class F>
SCS_INLINE void loop(const void* x, const void* y, void* result, int count, F function) {
    using V = Vec<From, N>;
    for (int i = 0; i < count; i += N)
        function(V::load(static_cast<const From*>(x) + i), V::load(static_cast<const From*>(y) + i))
            .store(static_cast<To*>(result) + i);
}

// A type for each function, so that each has its loops.
template <class From, class To, class F>
struct Loops {
    static void wide(const void* x, const void* y, void* result, int count) {
        loop<From, To, lanes>(x, y, result, count, F());
    }
    static void lone(const void* x, const void* y, void* result, int count) {
        loop<From, To, 1>(x, y, result, count, F());
    }
};

#define SCS_UNARY(name)                                                                                                \
    struct Call_##name {                                                                                               \
        template <class V>                                                                                             \
        SCS_INLINE auto operator()(V x, V) const {                                                                     \
            return SCS_SIMD::name(x);                                                                                  \
        }                                                                                                              \
    };
#define SCS_BINARY(name)                                                                                               \
    struct Call_##name {                                                                                               \
        template <class V>                                                                                             \
        SCS_INLINE auto operator()(V x, V y) const {                                                                   \
            return SCS_SIMD::name(x, y);                                                                               \
        }                                                                                                              \
    };
// clang-format off
#define SCS_BOTH(X) \
    X(sin) X(cos) X(tan) X(exp) X(exp2) X(log) X(log2) X(log10) X(sinh) X(cosh) X(tanh) X(atan) X(asin) X(acos) \
    X(floor) X(ceil) X(trunc) X(round) X(round_even) X(abs) X(sqrt)
// clang-format on
#define SCS_FLOATS(X) X(midicps) X(cpsmidi) X(midiratio) X(ratiomidi) X(dbamp) X(ampdb) X(octcps) X(cpsoct)
SCS_BOTH(SCS_UNARY)
SCS_FLOATS(SCS_UNARY)
SCS_UNARY(sin_turns)
SCS_UNARY(cos_turns)
SCS_UNARY(to_int)
SCS_BINARY(pow)
SCS_BINARY(atan2)
SCS_BINARY(fmod)
SCS_BINARY(copysign)
SCS_BINARY(min)
SCS_BINARY(max)

// Both kinds of masks, and integers of both sizes.
struct Call_between {
    template <int N>
    SCS_INLINE I32<N> operator()(F32<N> x, F32<N> y) const {
        return narrow_mask(widen_mask(x < F32<N>(3)) & (convert<double>(y) > F64<N>(-3)));
    }
};
struct Call_long_and_back {
    template <int N>
    SCS_INLINE I32<N> operator()(F32<N> x, F32<N>) const {
        return convert<int32_t>(convert<int64_t>(to_int(x)) - 1);
    }
};
struct Call_up_and_down {
    template <int N>
    SCS_INLINE I32<N> operator()(F32<N> x, F32<N>) const {
        return bits<int32_t>(upper_half(convert<uint64_t>(bits<uint32_t>(x)) << 31));
    }
};
struct Call_to_int_of_double {
    template <int N>
    SCS_INLINE I32<N> operator()(F32<N> x, F32<N> y) const {
        return to_int(convert<double>(x) + convert<double>(to_int(y)));
    }
};

#define SCS_ENTRY(From, To, name) {#name, Loops<From, To, Call_##name>::wide, Loops<From, To, Call_##name>::lone},
#define SCS_DOUBLE(name) SCS_ENTRY(double, double, name)
#define SCS_FLOAT(name) SCS_ENTRY(float, float, name)
const MathKernel doubles[] = {SCS_BOTH(SCS_DOUBLE) SCS_DOUBLE(pow) SCS_DOUBLE(atan2) SCS_DOUBLE(copysign)
                                  SCS_DOUBLE(min) SCS_DOUBLE(max){}};
const MathKernel floats[] = {SCS_BOTH(SCS_FLOAT) SCS_FLOATS(SCS_FLOAT) SCS_FLOAT(pow) SCS_FLOAT(atan2) SCS_FLOAT(fmod)
                                 SCS_FLOAT(copysign) SCS_FLOAT(min) SCS_FLOAT(max){}};
const MathKernel phases[] = {SCS_ENTRY(uint32_t, float, sin_turns) SCS_ENTRY(uint32_t, float, cos_turns){}};
#define SCS_INTEGER(name) SCS_ENTRY(float, int32_t, name)
const MathKernel integers[] = {SCS_INTEGER(to_int) SCS_INTEGER(between) SCS_INTEGER(long_and_back)
                                   SCS_INTEGER(up_and_down) SCS_INTEGER(to_int_of_double){}};

} // namespace

extern const MathTables math_tables;
const MathTables math_tables{doubles, floats, phases, integers};

} // namespace scs::SCS_SIMD
