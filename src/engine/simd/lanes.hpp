// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers side by side in vector registers. Kernels are compiled once for each instruction set, into a namespace of
// its name: SCS_SIMD, which the build defines. Nothing that isn't in that namespace, or always inlined, may be used by
// them: the linker would keep one copy for all, perhaps that of an instruction set which this CPU hasn't.

#ifndef SCS_SIMD
#error "SCS_SIMD names the instruction set; see meson.build"
#endif

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace scs::SCS_SIMD {

#define SCS_INLINE [[gnu::always_inline]] inline

#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX2__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif

/// Voices in a batch, and frames that a lone voice computes at once: floats in a register.
constexpr int lanes = register_bytes / 4;

namespace detail {
template <class T, int W>
struct Register {
    typedef T type __attribute__((vector_size(W * sizeof(T))));
};
template <class T>
struct Register<T, 1> {
    using type = T;
};

template <int Bytes>
struct Integer;
template <>
struct Integer<4> {
    using type = std::int32_t;
};
template <>
struct Integer<8> {
    using type = std::int64_t;
};
} // namespace detail

/// N numbers, N = lanes or 1, in as many registers as they need. Comparisons give masks: integers of the same size,
/// all bits set or none.
template <class T, int N>
struct Vec {
    static constexpr int per_register = register_bytes / int(sizeof(T)) < N ? register_bytes / int(sizeof(T)) : N;
    static constexpr int parts = N / per_register;
    using Part = typename detail::Register<T, per_register>::type;
    using Mask = Vec<typename detail::Integer<sizeof(T)>::type, N>;
    using Element = T;
    static constexpr int width = N;

    Part part[parts];

    Vec() = default;
    /// The same number in every lane.
    SCS_INLINE Vec(T value) {
        for (Part& p : part)
            p = Part{} + value;
    }
    /// From N numbers at any address.
    SCS_INLINE static Vec load(const T* from) {
        Vec made;
        std::memcpy(made.part, from, sizeof made.part);
        return made;
    }
    SCS_INLINE void store(T* to) const { std::memcpy(to, part, sizeof part); }

    SCS_INLINE T operator[](int lane) const {
        T all[N];
        std::memcpy(all, part, sizeof all);
        return all[lane];
    }

#define SCS_BINARY(op)                                                                                                 \
    SCS_INLINE friend Vec operator op(Vec a, Vec b) {                                                                  \
        for (int i = 0; i < parts; ++i)                                                                                \
            a.part[i] = a.part[i] op b.part[i];                                                                        \
        return a;                                                                                                      \
    }                                                                                                                  \
    SCS_INLINE Vec& operator op##=(Vec b) { return *this = *this op b; }
    SCS_BINARY(+)
    SCS_BINARY(-)
    SCS_BINARY(*)
    SCS_BINARY(/)
    SCS_BINARY(&)
    SCS_BINARY(|)
    SCS_BINARY(^)
#undef SCS_BINARY

    SCS_INLINE friend Vec operator-(Vec a) {
        for (Part& p : a.part)
            p = -p;
        return a;
    }
    SCS_INLINE friend Vec operator~(Vec a) {
        for (Part& p : a.part)
            p = ~p;
        return a;
    }
    SCS_INLINE friend Vec operator<<(Vec a, int bits) {
        for (Part& p : a.part)
            p = p << bits;
        return a;
    }
    SCS_INLINE friend Vec operator>>(Vec a, int bits) {
        for (Part& p : a.part)
            p = p >> bits;
        return a;
    }

#define SCS_COMPARE(op)                                                                                                \
    SCS_INLINE friend Mask operator op(Vec a, Vec b) {                                                                 \
        Mask made;                                                                                                     \
        for (int i = 0; i < parts; ++i)                                                                                \
            if constexpr (N == 1)                                                                                      \
                made.part[i] = a.part[i] op b.part[i] ? -1 : 0;                                                        \
            else                                                                                                       \
                made.part[i] = a.part[i] op b.part[i];                                                                 \
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
using I32 = Vec<std::int32_t, N>;
template <int N>
using U32 = Vec<std::uint32_t, N>;
template <int N>
using I64 = Vec<std::int64_t, N>;
template <int N>
using U64 = Vec<std::uint64_t, N>;

/// a where the mask is set, else b.
template <class T, int N>
SCS_INLINE Vec<T, N> select(typename Vec<T, N>::Mask mask, Vec<T, N> a, Vec<T, N> b) {
    for (int i = 0; i < Vec<T, N>::parts; ++i)
        a.part[i] = mask.part[i] ? a.part[i] : b.part[i];
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

/// As x86's minimum and maximum: b if either is no number.
template <class T, int N>
SCS_INLINE Vec<T, N> min(Vec<T, N> a, Vec<T, N> b) {
    return select(a < b, a, b);
}
template <class T, int N>
SCS_INLINE Vec<T, N> max(Vec<T, N> a, Vec<T, N> b) {
    return select(a > b, a, b);
}

/// The same bits as another type of the same size.
template <class To, class From, int N>
SCS_INLINE Vec<To, N> bits(Vec<From, N> from) {
    static_assert(sizeof(To) == sizeof(From));
    Vec<To, N> made;
    std::memcpy(&made, &from, sizeof made);
    return made;
}

namespace detail {

// The two halves of a register of N numbers, and back.
template <int N>
struct Halves;
#define SCS_HALVES(N, LOW, HIGH, ALL)                                                                                  \
    template <>                                                                                                        \
    struct Halves<N> {                                                                                                 \
        template <class V>                                                                                             \
        SCS_INLINE static auto low(V v) { return __builtin_shufflevector(v, v, SCS_UNPACK LOW); }                      \
        template <class V>                                                                                             \
        SCS_INLINE static auto high(V v) { return __builtin_shufflevector(v, v, SCS_UNPACK HIGH); }                    \
        template <class H>                                                                                             \
        SCS_INLINE static auto join(H a, H b) { return __builtin_shufflevector(a, b, SCS_UNPACK LOW, SCS_UNPACK HIGH); } \
        template <class V>                                                                                             \
        SCS_INLINE static auto odd(V a, V b) { return __builtin_shufflevector(a, b, SCS_UNPACK ALL); }                 \
    };
#define SCS_UNPACK(...) __VA_ARGS__
SCS_HALVES(4, (0, 1), (2, 3), (1, 3, 5, 7))
SCS_HALVES(8, (0, 1, 2, 3), (4, 5, 6, 7), (1, 3, 5, 7, 9, 11, 13, 15))
SCS_HALVES(16, (0, 1, 2, 3, 4, 5, 6, 7), (8, 9, 10, 11, 12, 13, 14, 15),
           (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31))
#undef SCS_HALVES
#undef SCS_UNPACK

/// Half a register of numbers as a whole one of numbers twice as large.
template <class ToPart, class Half>
SCS_INLINE ToPart widen(Half half) {
#if defined(__x86_64__)
    // gcc 12 takes these apart and puts them together again.
    if constexpr (std::is_same_v<ToPart, typename Register<double, register_bytes / 8>::type>) {
        constexpr bool from_float = std::is_same_v<Half, typename Register<float, register_bytes / 8>::type>;
        constexpr bool from_int = std::is_same_v<Half, typename Register<std::int32_t, register_bytes / 8>::type>;
#if defined(__AVX512F__)
        if constexpr (from_float)
            return _mm512_maskz_cvtps_pd(0xff, half);
        else if constexpr (from_int)
            return _mm512_maskz_cvtepi32_pd(0xff, __m256i(half));
#elif defined(__AVX2__)
        if constexpr (from_float)
            return _mm256_cvtps_pd(half);
        else if constexpr (from_int)
            return _mm256_cvtepi32_pd(__m128i(half));
#else
        using Whole = typename Register<decltype(half[0] + 0), 4>::type;
        if constexpr (from_float)
            return _mm_cvtps_pd(__m128(Whole{half[0], half[1]}));
        else if constexpr (from_int)
            return _mm_cvtepi32_pd(__m128i(Whole{half[0], half[1]}));
#endif
    }
#endif
    return __builtin_convertvector(half, ToPart);
}

} // namespace detail

/// Number by number to another type, as C++ does: fractions are cut off. What a 32-bit integer cannot hold is the
/// caller's to keep out: instruction sets differ there.
template <class To, class From, int N>
SCS_INLINE Vec<To, N> convert(Vec<From, N> from) {
    Vec<To, N> made;
    using ToPart = typename Vec<To, N>::Part;
    if constexpr (N == 1) {
        made.part[0] = To(from.part[0]);
    } else if constexpr (sizeof(To) == sizeof(From)) {
        for (int i = 0; i < Vec<To, N>::parts; ++i)
            made.part[i] = __builtin_convertvector(from.part[i], ToPart);
    } else if constexpr (sizeof(To) > sizeof(From)) {
        using H = detail::Halves<Vec<From, N>::per_register>;
        for (int i = 0; i < Vec<From, N>::parts; ++i) {
            made.part[2 * i] = detail::widen<ToPart>(H::low(from.part[i]));
            made.part[2 * i + 1] = detail::widen<ToPart>(H::high(from.part[i]));
        }
    } else {
        using H = detail::Halves<Vec<To, N>::per_register>;
        using Half = typename detail::Register<To, Vec<From, N>::per_register>::type;
        for (int i = 0; i < Vec<To, N>::parts; ++i)
            made.part[i] = H::join(__builtin_convertvector(from.part[2 * i], Half),
                                   __builtin_convertvector(from.part[2 * i + 1], Half));
    }
    return made;
}

/// The upper 32 bits of each.
template <int N>
SCS_INLINE U32<N> upper_half(U64<N> from) {
    if constexpr (N == 1) {
        return U32<1>(std::uint32_t(from.part[0] >> 32));
    } else {
        U32<N> made;
        using H = detail::Halves<U32<N>::per_register>;
        using Words = typename U32<N>::Part;
        for (int i = 0; i < U32<N>::parts; ++i)
            made.part[i] = H::odd(Words(from.part[2 * i]), Words(from.part[2 * i + 1]));
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

/// A bit for each lane whose mask is set.
template <class T, int N>
SCS_INLINE std::uint32_t bitmask(Vec<T, N> mask) {
#if defined(__x86_64__)
    if constexpr (N > 1) {
        std::uint32_t made = 0;
        for (int i = 0; i < Vec<T, N>::parts; ++i) {
            std::uint32_t one;
#if defined(__AVX512F__)
            if constexpr (sizeof(T) == 4)
                one = std::uint32_t(_mm512_movepi32_mask(__m512i(mask.part[i])));
            else
                one = std::uint32_t(_mm512_movepi64_mask(__m512i(mask.part[i])));
#elif defined(__AVX2__)
            if constexpr (sizeof(T) == 4)
                one = std::uint32_t(_mm256_movemask_ps(__m256(mask.part[i])));
            else
                one = std::uint32_t(_mm256_movemask_pd(__m256d(mask.part[i])));
#else
            if constexpr (sizeof(T) == 4)
                one = std::uint32_t(_mm_movemask_ps(__m128(mask.part[i])));
            else
                one = std::uint32_t(_mm_movemask_pd(__m128d(mask.part[i])));
#endif
            made |= one << (i * Vec<T, N>::per_register);
        }
        return made;
    }
#endif
    T all[N];
    mask.store(all);
    std::uint32_t made = 0;
    for (int i = 0; i < N; ++i)
        made |= all[i] ? 1u << i : 0u;
    return made;
}

template <class T, int N>
SCS_INLINE bool any(Vec<T, N> mask) {
    if constexpr (N == 1)
        return mask.part[0] != 0;
    else
        return bitmask(mask) != 0;
}
template <class T, int N>
SCS_INLINE bool all(Vec<T, N> mask) {
    return !any(~mask);
}

/// Correctly rounded everywhere.
template <class T, int N>
SCS_INLINE Vec<T, N> sqrt(Vec<T, N> x) {
    for (auto& p : x.part) {
        if constexpr (N == 1) {
            p = sizeof(T) == 4 ? T(__builtin_sqrtf(float(p))) : T(__builtin_sqrt(double(p)));
        } else {
#if defined(__AVX512F__)
            if constexpr (sizeof(T) == 4)
                p = _mm512_maskz_sqrt_ps(0xffff, p);
            else
                p = _mm512_maskz_sqrt_pd(0xff, p);
#elif defined(__AVX2__)
            if constexpr (sizeof(T) == 4)
                p = _mm256_sqrt_ps(p);
            else
                p = _mm256_sqrt_pd(p);
#elif defined(__SSE2__)
            if constexpr (sizeof(T) == 4)
                p = _mm_sqrt_ps(p);
            else
                p = _mm_sqrt_pd(p);
#else
            for (int i = 0; i < Vec<T, N>::per_register; ++i)
                p[i] = sizeof(T) == 4 ? T(__builtin_sqrtf(float(p[i]))) : T(__builtin_sqrt(double(p[i])));
#endif
        }
    }
    return x;
}

} // namespace scs::SCS_SIMD
