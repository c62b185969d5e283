// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Vectors of numbers in registers. Kernels are compiled once for each instruction set, into a namespace that is named
// after it: SCS_SIMD, which the build defines. They may use only what is in that namespace, or always inlined. Of any
// other function the linker would keep one copy for all sets, perhaps one for a set that this CPU lacks.

#ifndef SCS_SIMD
#error "SCS_SIMD names the instruction set; see meson.build"
#endif

#include <cstdint>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace scs::SCS_SIMD {

#define SCS_INLINE [[gnu::always_inline]] inline
#define SCS_INLINE_LAMBDA __attribute__((always_inline))

#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX2__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif

/// Floats in a register: the voices in a batch, or the frames that a lone voice computes at once.
constexpr int lanes = register_bytes / 4;

namespace detail {
template <class T, int W>
struct Register {
    typedef T type __attribute__((vector_size(W * sizeof(T))));
    typedef T Anywhere __attribute__((vector_size(W * sizeof(T)), aligned(alignof(T)), may_alias));
};
template <class T>
struct Register<T, 1> {
    using type = T;
    typedef T Anywhere __attribute__((may_alias));
};

template <int Bytes>
struct Integer;
template <>
struct Integer<4> {
    using type = int32_t;
};
template <>
struct Integer<8> {
    using type = int64_t;
};
} // namespace detail

// Expands to the statement for i = 0 and, if a Vec has two registers, for i = 1. Loops or lambdas would do, but as
// every kernel consists of these operations, it would take twice as long to compile.
#define SCS_PARTS(...)                                                                                                 \
    {                                                                                                                  \
        {                                                                                                              \
            constexpr int i = 0;                                                                                       \
            __VA_ARGS__;                                                                                               \
        }                                                                                                              \
        if constexpr (parts == 2) {                                                                                    \
            constexpr int i = 1;                                                                                       \
            __VA_ARGS__;                                                                                               \
        }                                                                                                              \
    }

/// N numbers, N = lanes or 1, in as many registers as they need. Comparisons give masks: integers of the same size,
/// all bits set or none.
template <class T, int N>
struct Vec {
    static constexpr int per_register = register_bytes / int(sizeof(T)) < N ? register_bytes / int(sizeof(T)) : N;
    static constexpr int parts = N / per_register;
    using Part = typename detail::Register<T, per_register>::type;
    using Anywhere = typename detail::Register<T, per_register>::Anywhere; ///< a Part in memory, at any address
    using Mask = Vec<typename detail::Integer<sizeof(T)>::type, N>;
    using Element = T;
    static constexpr int width = N;

    static_assert(parts == 1 || parts == 2);

    Part part[parts];

    Vec() = default;
    /// The same number in every lane.
    SCS_INLINE Vec(T value) {
        if constexpr (N == 1)
            part[0] = value;
        else
            SCS_PARTS(part[i] = value - Part{}); // not +, which would turn −0 into 0
    }
    /// Loads N numbers from any address.
    SCS_INLINE static Vec load(const T* from) {
        // Not memcpy(): gcc copies in pieces of 16 bytes through the stack. Reading these as one larger register then
        // waits until they have left the store buffer.
        Vec made;
        SCS_PARTS(made.part[i] = *reinterpret_cast<const Anywhere*>(from + i * per_register));
        return made;
    }
    SCS_INLINE void store(T* to) const { SCS_PARTS(*reinterpret_cast<Anywhere*>(to + i * per_register) = part[i]); }

    SCS_INLINE T operator[](int lane) const {
        if constexpr (N == 1)
            return part[0];
        else
            return part[lane / per_register][lane % per_register];
    }

#define SCS_BINARY(op)                                                                                                 \
    SCS_INLINE friend Vec operator op(Vec a, Vec b) {                                                                  \
        SCS_PARTS(a.part[i] = a.part[i] op b.part[i]);                                                                 \
        return a;                                                                                                      \
    }                                                                                                                  \
    SCS_INLINE Vec& operator op##=(Vec b) {                                                                            \
        return *this = *this op b;                                                                                     \
    }
    SCS_BINARY(+)
    SCS_BINARY(-)
    SCS_BINARY(*)
    SCS_BINARY(/)
    SCS_BINARY(&)
    SCS_BINARY(|)
    SCS_BINARY(^)
#undef SCS_BINARY

    SCS_INLINE friend Vec operator-(Vec a) {
        SCS_PARTS(a.part[i] = -a.part[i]);
        return a;
    }
    SCS_INLINE friend Vec operator~(Vec a) {
        SCS_PARTS(a.part[i] = ~a.part[i]);
        return a;
    }
    SCS_INLINE friend Vec operator<<(Vec a, int bits) {
        SCS_PARTS(a.part[i] = a.part[i] << bits);
        return a;
    }
    SCS_INLINE friend Vec operator>>(Vec a, int bits) {
        SCS_PARTS(a.part[i] = a.part[i] >> bits);
        return a;
    }

#define SCS_COMPARE(op)                                                                                                \
    SCS_INLINE friend Mask operator op(Vec a, Vec b) {                                                                 \
        Mask made;                                                                                                     \
        if constexpr (N == 1)                                                                                          \
            made.part[0] = a.part[0] op b.part[0] ? -1 : 0;                                                            \
        else                                                                                                           \
            SCS_PARTS(made.part[i] = a.part[i] op b.part[i]);                                                          \
        return made;                                                                                                   \
    }
    SCS_COMPARE(<)
    SCS_COMPARE(>)
    SCS_COMPARE(<=)
    SCS_COMPARE(>=)
    SCS_COMPARE(==)
    SCS_COMPARE(!=)
#undef SCS_COMPARE
};

template <int N>
using F32 = Vec<float, N>;
template <int N>
using F64 = Vec<double, N>;
template <int N>
using I32 = Vec<int32_t, N>;
template <int N>
using U32 = Vec<uint32_t, N>;
template <int N>
using I64 = Vec<int64_t, N>;
template <int N>
using U64 = Vec<uint64_t, N>;

/// a in lanes whose mask is set, else b.
template <class T, int N>
SCS_INLINE Vec<T, N> select(typename Vec<T, N>::Mask mask, Vec<T, N> a, Vec<T, N> b) {
    constexpr int parts = Vec<T, N>::parts;
    SCS_PARTS(a.part[i] = mask.part[i] ? a.part[i] : b.part[i]);
    return a;
}
template <class T, int N>
SCS_INLINE Vec<T, N> select(typename Vec<T, N>::Mask mask, Vec<T, N> a, T b) {
    return select(mask, a, Vec<T, N>(b));
}
template <class T, int N>
SCS_INLINE Vec<T, N> select(typename Vec<T, N>::Mask mask, T a, Vec<T, N> b) {
    return select(mask, Vec<T, N>(a), b);
}

#if defined(__x86_64__)
namespace detail {
// The instructions themselves, because a comparison and a selection take several, and have another result: where
// denormals count as zero, they give 0 for a denormal. gcc's intrinsics for single numbers first clear the rest of the
// register.
#if defined(__AVX__)
#define SCS_LONE(instruction) asm("v" instruction " %2, %1, %0" : "=x"(a) : "x"(a), "x"(b))
#else
#define SCS_LONE(instruction) asm(instruction " %2, %0" : "=x"(a) : "0"(a), "x"(b))
#endif
#if defined(__AVX512F__)
#define SCS_WIDE(name, suffix, mask) _mm512_maskz_##name##_##suffix(mask, a, b)
#elif defined(__AVX2__)
#define SCS_WIDE(name, suffix, mask) _mm256_##name##_##suffix(a, b)
#else
#define SCS_WIDE(name, suffix, mask) _mm_##name##_##suffix(a, b)
#endif
#define SCS_EXTREME(name)                                                                                              \
    template <class Part>                                                                                              \
    SCS_INLINE Part name(Part a, Part b) {                                                                             \
        if constexpr (std::is_same_v<Part, float>)                                                                     \
            SCS_LONE(#name "ss");                                                                                      \
        else if constexpr (std::is_same_v<Part, double>)                                                               \
            SCS_LONE(#name "sd");                                                                                      \
        else if constexpr (std::is_same_v<decltype(a[0] + 0), float>)                                                  \
            a = SCS_WIDE(name, ps, 0xffff);                                                                            \
        else                                                                                                           \
            a = SCS_WIDE(name, pd, 0xff);                                                                              \
        return a;                                                                                                      \
    }
SCS_EXTREME(min)
SCS_EXTREME(max)
#undef SCS_EXTREME
#undef SCS_LONE
#undef SCS_WIDE
} // namespace detail
#elif defined(__aarch64__)
namespace detail {
// The same results as x86-64's instructions. NEON's own have others for NaN and zeros of both signs; but of a number
// and itself they make 0 of a denormal, where denormals count as zero, and leave all else as it is.
#define SCS_EXTREME(name, op, condition)                                                                               \
    template <class Part>                                                                                              \
    SCS_INLINE Part name(Part a, Part b) {                                                                             \
        if constexpr (std::is_same_v<Part, float>)                                                                     \
            asm("fcmp %s1, %s2\n\tfcsel %s0, %s1, %s2, " condition "\n\tfmax %s0, %s0, %s0"                            \
                : "=w"(a)                                                                                              \
                : "w"(a), "w"(b)                                                                                       \
                : "cc");                                                                                               \
        else if constexpr (std::is_same_v<Part, double>)                                                               \
            asm("fcmp %d1, %d2\n\tfcsel %d0, %d1, %d2, " condition "\n\tfmax %d0, %d0, %d0"                            \
                : "=w"(a)                                                                                              \
                : "w"(a), "w"(b)                                                                                       \
                : "cc");                                                                                               \
        else if constexpr (std::is_same_v<decltype(a[0] + 0), float>)                                                  \
            a = a op b ? a : b, a = Part(vmaxq_f32(a, a));                                                             \
        else                                                                                                           \
            a = a op b ? a : b, a = Part(vmaxq_f64(a, a));                                                             \
        return a;                                                                                                      \
    }
SCS_EXTREME(min, <, "mi")
SCS_EXTREME(max, >, "gt")
#undef SCS_EXTREME
} // namespace detail
#endif

/// b if either is NaN, or both are zero.
template <class T, int N>
SCS_INLINE Vec<T, N> min(Vec<T, N> a, Vec<T, N> b) {
#if defined(__x86_64__) || defined(__aarch64__)
    if constexpr (std::is_floating_point_v<T>) {
        constexpr int parts = Vec<T, N>::parts;
        SCS_PARTS(a.part[i] = detail::min(a.part[i], b.part[i]));
        return a;
    }
#endif
    return select(a < b, a, b);
}
template <class T, int N>
SCS_INLINE Vec<T, N> max(Vec<T, N> a, Vec<T, N> b) {
#if defined(__x86_64__) || defined(__aarch64__)
    if constexpr (std::is_floating_point_v<T>) {
        constexpr int parts = Vec<T, N>::parts;
        SCS_PARTS(a.part[i] = detail::max(a.part[i], b.part[i]));
        return a;
    }
#endif
    return select(a > b, a, b);
}

/// The same bits as another type of the same size.
template <class To, class From, int N>
SCS_INLINE Vec<To, N> bits(Vec<From, N> from) {
    static_assert(sizeof(To) == sizeof(From));
    Vec<To, N> made;
    constexpr int parts = Vec<To, N>::parts;
    SCS_PARTS(made.part[i] = __builtin_bit_cast(typename Vec<To, N>::Part, from.part[i]));
    return made;
}

namespace detail {

// Splits a register of N numbers into halves, and joins them.
template <int N>
struct Halves;
#define SCS_HALVES(N, LOW, HIGH, ALL)                                                                                  \
    template <>                                                                                                        \
    struct Halves<N> {                                                                                                 \
        template <class V>                                                                                             \
        SCS_INLINE static auto low(V v) {                                                                              \
            return __builtin_shufflevector(v, v, SCS_UNPACK LOW);                                                      \
        }                                                                                                              \
        template <class V>                                                                                             \
        SCS_INLINE static auto high(V v) {                                                                             \
            return __builtin_shufflevector(v, v, SCS_UNPACK HIGH);                                                     \
        }                                                                                                              \
        template <class H>                                                                                             \
        SCS_INLINE static auto join(H a, H b) {                                                                        \
            return __builtin_shufflevector(a, b, SCS_UNPACK LOW, SCS_UNPACK HIGH);                                     \
        }                                                                                                              \
        template <class V>                                                                                             \
        SCS_INLINE static auto odd(V a, V b) {                                                                         \
            return __builtin_shufflevector(a, b, SCS_UNPACK ALL);                                                      \
        }                                                                                                              \
    };
#define SCS_UNPACK(...) __VA_ARGS__
SCS_HALVES(4, (0, 1), (2, 3), (1, 3, 5, 7))
SCS_HALVES(8, (0, 1, 2, 3), (4, 5, 6, 7), (1, 3, 5, 7, 9, 11, 13, 15))
SCS_HALVES(16, (0, 1, 2, 3, 4, 5, 6, 7), (8, 9, 10, 11, 12, 13, 14, 15),
           (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31))
#undef SCS_HALVES
#undef SCS_UNPACK

/// Two registers for the lower and the upper half of one, with numbers twice as large.
template <class To>
struct Pair {
    To low, high;
};

#if defined(__x86_64__) || defined(__aarch64__)
// Conversions that gcc 12 would otherwise take apart and put together again. (With masks, because intrinsics without a
// mask start from an uninitialised register, about which gcc warns.)
#define SCS_WIDEN(To, From, LOW, HIGH)                                                                                 \
    SCS_INLINE void widen(WholeRegister<From> v, Pair<WholeRegister<To>>& to) {                                        \
        to.low = WholeRegister<To>(LOW);                                                                               \
        to.high = WholeRegister<To>(HIGH);                                                                             \
    }
#define SCS_NARROW(To, From, JOINED)                                                                                   \
    SCS_INLINE void narrow(WholeRegister<From> a, WholeRegister<From> b, WholeRegister<To>& to) {                      \
        to = WholeRegister<To>(JOINED);                                                                                \
    }
template <class T>
using WholeRegister = typename Register<T, register_bytes / int(sizeof(T))>::type;

#if defined(__AVX512F__)
SCS_INLINE __m256i low_half(__m512i v) {
    return __builtin_shufflevector(v, v, 0, 1, 2, 3);
}
SCS_INLINE __m256i high_half(__m512i v) {
    return __builtin_shufflevector(v, v, 4, 5, 6, 7);
}
SCS_INLINE __m512i join(__m256i a, __m256i b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
}
SCS_WIDEN(double, float, _mm512_maskz_cvtps_pd(0xff, __m256(low_half(__m512i(v)))),
          _mm512_maskz_cvtps_pd(0xff, __m256(high_half(__m512i(v)))))
SCS_WIDEN(double, int32_t, _mm512_maskz_cvtepi32_pd(0xff, low_half(__m512i(v))),
          _mm512_maskz_cvtepi32_pd(0xff, high_half(__m512i(v))))
SCS_WIDEN(int64_t, int32_t, _mm512_maskz_cvtepi32_epi64(0xff, low_half(__m512i(v))),
          _mm512_maskz_cvtepi32_epi64(0xff, high_half(__m512i(v))))
SCS_WIDEN(uint64_t, uint32_t, _mm512_maskz_cvtepu32_epi64(0xff, low_half(__m512i(v))),
          _mm512_maskz_cvtepu32_epi64(0xff, high_half(__m512i(v))))
SCS_NARROW(float, double, join(__m256i(_mm512_maskz_cvtpd_ps(0xff, a)), __m256i(_mm512_maskz_cvtpd_ps(0xff, b))))
SCS_NARROW(int32_t, double, join(_mm512_maskz_cvttpd_epi32(0xff, a), _mm512_maskz_cvttpd_epi32(0xff, b)))
SCS_NARROW(int32_t, int64_t,
           join(_mm512_maskz_cvtepi64_epi32(0xff, __m512i(a)), _mm512_maskz_cvtepi64_epi32(0xff, __m512i(b))))
#elif defined(__AVX2__)
SCS_INLINE __m128i low_half(__m256i v) {
    return _mm256_castsi256_si128(v);
}
SCS_INLINE __m128i high_half(__m256i v) {
    return _mm256_extracti128_si256(v, 1);
}
SCS_INLINE __m256i join(__m128i a, __m128i b) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}
SCS_WIDEN(double, float, _mm256_cvtps_pd(__m128(low_half(__m256i(v)))), _mm256_cvtps_pd(__m128(high_half(__m256i(v)))))
SCS_WIDEN(double, int32_t, _mm256_cvtepi32_pd(low_half(__m256i(v))), _mm256_cvtepi32_pd(high_half(__m256i(v))))
SCS_WIDEN(int64_t, int32_t, _mm256_cvtepi32_epi64(low_half(__m256i(v))), _mm256_cvtepi32_epi64(high_half(__m256i(v))))
SCS_WIDEN(uint64_t, uint32_t, _mm256_cvtepu32_epi64(low_half(__m256i(v))), _mm256_cvtepu32_epi64(high_half(__m256i(v))))
SCS_NARROW(float, double, join(__m128i(_mm256_cvtpd_ps(a)), __m128i(_mm256_cvtpd_ps(b))))
SCS_NARROW(int32_t, double, join(_mm256_cvttpd_epi32(a), _mm256_cvttpd_epi32(b)))
SCS_NARROW(int32_t, int64_t, _mm256_permute4x64_epi64(__m256i(_mm256_shuffle_ps(__m256(a), __m256(b), 0x88)), 0xd8))
#elif defined(__SSE2__)
SCS_WIDEN(double, float, _mm_cvtps_pd(v), _mm_cvtps_pd(_mm_movehl_ps(v, v)))
SCS_WIDEN(double, int32_t, _mm_cvtepi32_pd(__m128i(v)), _mm_cvtepi32_pd(_mm_shuffle_epi32(__m128i(v), 0xee)))
SCS_WIDEN(int64_t, int32_t, _mm_unpacklo_epi32(__m128i(v), __m128i(v >> 31)),
          _mm_unpackhi_epi32(__m128i(v), __m128i(v >> 31)))
SCS_WIDEN(uint64_t, uint32_t, _mm_unpacklo_epi32(__m128i(v), __m128i{}), _mm_unpackhi_epi32(__m128i(v), __m128i{}))
SCS_NARROW(float, double, _mm_movelh_ps(_mm_cvtpd_ps(a), _mm_cvtpd_ps(b)))
SCS_NARROW(int32_t, double, _mm_unpacklo_epi64(_mm_cvttpd_epi32(a), _mm_cvttpd_epi32(b)))
SCS_NARROW(int32_t, int64_t, _mm_shuffle_ps(__m128(a), __m128(b), 0x88))
#else
SCS_WIDEN(double, float, vcvt_f64_f32(vget_low_f32(v)), vcvt_high_f64_f32(v))
SCS_WIDEN(double, int32_t, vcvtq_f64_s64(vmovl_s32(vget_low_s32(v))), vcvtq_f64_s64(vmovl_high_s32(v)))
SCS_WIDEN(int64_t, int32_t, vmovl_s32(vget_low_s32(v)), vmovl_high_s32(v))
SCS_WIDEN(uint64_t, uint32_t, vmovl_u32(vget_low_u32(v)), vmovl_high_u32(v))
SCS_NARROW(float, double, vcvt_high_f32_f64(vcvt_f32_f64(a), b))
SCS_NARROW(int32_t, double, vuzp1q_s32(int32x4_t(vcvtq_s64_f64(a)), int32x4_t(vcvtq_s64_f64(b))))
SCS_NARROW(int32_t, int64_t, vuzp1q_s32(int32x4_t(a), int32x4_t(b)))
#endif
#undef SCS_WIDEN
#undef SCS_NARROW
#endif

// All other conversions, and on other CPUs all of them.
template <class From, class To>
SCS_INLINE void widen(From v, Pair<To>& to) {
    using H = Halves<int(sizeof(From) / sizeof(v[0]))>;
    to.low = __builtin_convertvector(H::low(v), To);
    to.high = __builtin_convertvector(H::high(v), To);
}
template <class From, class To>
SCS_INLINE void narrow(From a, From b, To& to) {
    using Element = std::remove_reference_t<decltype(to[0])>;
    using Half = typename Register<Element, int(sizeof(From) / sizeof(a[0]))>::type;
    using H = Halves<int(sizeof(To) / sizeof(to[0]))>;
    to = H::join(__builtin_convertvector(a, Half), __builtin_convertvector(b, Half));
}

} // namespace detail

/// Converts each number to another type, truncating as C++ does. The caller must exclude numbers that a 32-bit integer
/// can't hold, because instruction sets differ there.
template <class To, class From, int N>
SCS_INLINE Vec<To, N> convert(Vec<From, N> from) {
    Vec<To, N> made;
    using ToPart = typename Vec<To, N>::Part;
    if constexpr (N == 1) {
        made.part[0] = To(from.part[0]);
    } else if constexpr (sizeof(To) == sizeof(From)) {
        constexpr int parts = Vec<To, N>::parts;
        SCS_PARTS(made.part[i] = __builtin_convertvector(from.part[i], ToPart));
    } else if constexpr (sizeof(To) > sizeof(From)) {
        static_assert(Vec<From, N>::parts == 1);
        detail::Pair<ToPart> both;
        detail::widen(from.part[0], both);
        made.part[0] = both.low;
        made.part[1] = both.high;
    } else {
        static_assert(Vec<To, N>::parts == 1);
        detail::narrow(from.part[0], from.part[1], made.part[0]);
    }
    return made;
}

/// Converts a mask for floats to one for doubles, and back.
template <int N>
SCS_INLINE I64<N> widen_mask(I32<N> mask) {
#if defined(__x86_64__) && !defined(__AVX2__)
    if constexpr (N > 1) {
        I64<N> made;
        made.part[0] = typename I64<N>::Part(_mm_unpacklo_epi32(__m128i(mask.part[0]), __m128i(mask.part[0])));
        made.part[1] = typename I64<N>::Part(_mm_unpackhi_epi32(__m128i(mask.part[0]), __m128i(mask.part[0])));
        return made;
    }
#endif
    return convert<int64_t>(mask);
}
template <int N>
SCS_INLINE I32<N> narrow_mask(I64<N> mask) {
    return convert<int32_t>(mask);
}

/// The upper 32 bits of each number.
template <int N>
SCS_INLINE U32<N> upper_half(U64<N> from) {
    if constexpr (N == 1) {
        return U32<1>(uint32_t(from.part[0] >> 32));
    } else {
        U32<N> made;
        using H = detail::Halves<U32<N>::per_register>;
        using Words = typename U32<N>::Part;
        static_assert(U32<N>::parts == 1);
        made.part[0] = H::odd(Words(from.part[0]), Words(from.part[1]));
        return made;
    }
}

/// 0, 1, 2 …
template <int N>
SCS_INLINE F32<N> count_up() {
    float all[N];
    for (int i = 0; i < N; ++i)
        all[i] = float(i);
    return F32<N>::load(all);
}

#if defined(__x86_64__) || defined(__aarch64__)
namespace detail {
/// A bit for each number of a register, set if its mask is.
template <class T, class Part>
SCS_INLINE uint32_t register_bitmask(Part mask) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4)
        return uint32_t(_mm512_movepi32_mask(__m512i(mask)));
    else
        return uint32_t(_mm512_movepi64_mask(__m512i(mask)));
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4)
        return uint32_t(_mm256_movemask_ps(__m256(mask)));
    else
        return uint32_t(_mm256_movemask_pd(__m256d(mask)));
#elif defined(__SSE2__)
    if constexpr (sizeof(T) == 4)
        return uint32_t(_mm_movemask_ps(__m128(mask)));
    else
        return uint32_t(_mm_movemask_pd(__m128d(mask)));
#else
    if constexpr (sizeof(T) == 4)
        return vaddvq_u32(uint32x4_t(mask) & uint32x4_t{1, 2, 4, 8});
    else
        return uint32_t(vaddvq_u64(uint64x2_t(mask) & uint64x2_t{1, 2}));
#endif
}
} // namespace detail
#endif

/// A bit for each lane, set if its mask is.
template <class T, int N>
SCS_INLINE uint32_t bitmask(Vec<T, N> mask) {
#if defined(__x86_64__) || defined(__aarch64__)
    if constexpr (N > 1) {
        constexpr int parts = Vec<T, N>::parts;
        uint32_t made = 0;
        SCS_PARTS(made |= detail::register_bitmask<T>(mask.part[i]) << (i * Vec<T, N>::per_register));
        return made;
    }
#endif
    uint32_t made = 0;
    for (int i = 0; i < N; ++i)
        made |= mask[i] ? 1u << i : 0u;
    return made;
}

template <class T, int N>
SCS_INLINE bool any(Vec<T, N> mask) {
    if constexpr (N == 1) {
        return mask.part[0] != 0;
    } else {
#if defined(__aarch64__)
        auto joined = mask.part[0];
        if constexpr (Vec<T, N>::parts == 2)
            joined |= mask.part[1];
        return vmaxvq_u32(uint32x4_t(joined)) != 0;
#else
        return bitmask(mask) != 0;
#endif
    }
}
template <class T, int N>
SCS_INLINE bool all(Vec<T, N> mask) {
    return !any(~mask);
}

namespace detail {
template <class T, class Part>
SCS_INLINE Part root(Part p) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4)
        return _mm512_maskz_sqrt_ps(0xffff, p);
    else
        return _mm512_maskz_sqrt_pd(0xff, p);
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4)
        return _mm256_sqrt_ps(p);
    else
        return _mm256_sqrt_pd(p);
#elif defined(__SSE2__)
    if constexpr (sizeof(T) == 4)
        return _mm_sqrt_ps(p);
    else
        return _mm_sqrt_pd(p);
#else
    for (int i = 0; i < int(sizeof(Part) / sizeof(T)); ++i)
        p[i] = sizeof(T) == 4 ? T(__builtin_sqrtf(float(p[i]))) : T(__builtin_sqrt(double(p[i])));
    return p;
#endif
}
} // namespace detail

/// Correctly rounded everywhere.
template <class T, int N>
SCS_INLINE Vec<T, N> sqrt(Vec<T, N> x) {
    if constexpr (N == 1) {
        x.part[0] = sizeof(T) == 4 ? T(__builtin_sqrtf(float(x.part[0]))) : T(__builtin_sqrt(double(x.part[0])));
    } else {
        constexpr int parts = Vec<T, N>::parts;
        SCS_PARTS(x.part[i] = detail::root<T>(x.part[i]));
    }
    return x;
}

#undef SCS_PARTS

} // namespace scs::SCS_SIMD
