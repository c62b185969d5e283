// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/simd/lanes.hpp"

namespace scs::SCS_SIMD {

/// For each lane an entry of a table and the one after it.
template <int N>
struct Neighbours {
    F32<N> entry, next;
};

#if defined(__x86_64__)
namespace detail {
/// Loads both neighbours of two lanes. A lane's pair is loaded at once, which takes half as many loads as gather
/// instructions, and these are slow on many processors.
SCS_INLINE __m128 two_neighbours(const float* table, const int32_t* index) {
    const __m128d low = _mm_load_sd(reinterpret_cast<const double*>(table + index[0]));
    return _mm_castpd_ps(_mm_loadh_pd(low, reinterpret_cast<const double*>(table + index[1])));
}
#if defined(__AVX512F__)
SCS_INLINE __m256 eight(const float* table, const int32_t* low, const int32_t* high) {
    return __builtin_shufflevector(two_neighbours(table, low), two_neighbours(table, high), 0, 1, 2, 3, 4, 5, 6, 7);
}
#endif
} // namespace detail
#endif

template <int N>
SCS_INLINE Neighbours<N> gather(const float* table, I32<N> at) {
    Neighbours<N> made;
    if constexpr (N == 1) {
        const float* entry = table + at.part[0];
        made = {F32<1>(entry[0]), F32<1>(entry[1])};
    } else {
        int32_t index[N];
        at.store(index);
#if defined(__x86_64__)
        using Part = typename F32<N>::Part;
        Part a, b; // the pairs of lanes 0 and 1 (a), 2 and 3 (b) of each four, as the shuffles need them
        if constexpr (N == 4) {
            a = detail::two_neighbours(table, index);
            b = detail::two_neighbours(table, index + 2);
        } else {
#if defined(__AVX512F__)
            const auto four = [&](int k) SCS_INLINE_LAMBDA {
                return detail::join(__m256i(detail::eight(table, index + k, index + k + 4)),
                                    __m256i(detail::eight(table, index + k + 8, index + k + 12)));
            };
            a = Part(four(0));
            b = Part(four(2));
#elif defined(__AVX2__)
            const auto two = [&](int k) SCS_INLINE_LAMBDA {
                return detail::join(__m128i(detail::two_neighbours(table, index + k)),
                                    __m128i(detail::two_neighbours(table, index + k + 4)));
            };
            a = Part(two(0));
            b = Part(two(2));
#endif
        }
        if constexpr (N == 4) {
            made.entry.part[0] = __builtin_shufflevector(a, b, 0, 2, 4, 6);
            made.next.part[0] = __builtin_shufflevector(a, b, 1, 3, 5, 7);
        } else if constexpr (N == 8) {
            made.entry.part[0] = __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14);
            made.next.part[0] = __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
        } else {
            made.entry.part[0] =
                __builtin_shufflevector(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30);
            made.next.part[0] =
                __builtin_shufflevector(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
        }
#else
        float entry[N], next[N];
        for (int i = 0; i < N; ++i) {
            entry[i] = table[index[i]];
            next[i] = table[index[i] + 1];
        }
        made = {F32<N>::load(entry), F32<N>::load(next)};
#endif
    }
    return made;
}

} // namespace scs::SCS_SIMD
