// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/deinterleave.hpp"

#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace scs {
namespace {

using Four = float __attribute__((vector_size(16)));

/// Moves four frames of two channels.
[[gnu::always_inline]] inline void move_four(const float* from, float* left, float* right) noexcept {
    Four first, second;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&second, from + 4, sizeof second);
    const Four lefts = __builtin_shufflevector(first, second, 0, 2, 4, 6);
    const Four rights = __builtin_shufflevector(first, second, 1, 3, 5, 7);
    std::memcpy(left, &lefts, sizeof lefts);
    std::memcpy(right, &rights, sizeof rights);
}

constexpr int unrolled = 32; ///< frames

#if defined(__x86_64__)
const bool has_avx = __builtin_cpu_supports("avx");

/// Moves multiples of `unrolled` frames of two channels.
[[gnu::target("avx")]] void move_wide(const float* from, float* left, float* right, int frames) noexcept {
    for (; frames > 0; frames -= unrolled, from += 2 * unrolled, left += unrolled, right += unrolled)
#pragma GCC unroll 4
        for (int i = 0; i < unrolled; i += 8) {
            const float* four = from + 2 * i;
            const __m256 even =
                _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(four)), _mm_loadu_ps(four + 8), 1);
            const __m256 odd =
                _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(four + 4)), _mm_loadu_ps(four + 12), 1);
            _mm256_storeu_ps(left + i, _mm256_shuffle_ps(even, odd, 0x88));
            _mm256_storeu_ps(right + i, _mm256_shuffle_ps(even, odd, 0xdd));
        }
}
#else
constexpr bool has_avx = false;
void move_wide(const float*, float*, float*, int) noexcept {}
#endif

void move_any(const float* from, float* left, float* right, int frames) noexcept {
    for (; frames >= unrolled; frames -= unrolled, from += 2 * unrolled, left += unrolled, right += unrolled)
#pragma GCC unroll 8
        for (int i = 0; i < unrolled; i += 4)
            move_four(from + 2 * i, left + i, right + i);
    for (; frames >= 4; frames -= 4, from += 8, left += 4, right += 4)
        move_four(from, left, right);
    for (; frames > 0; --frames) {
        *left++ = *from++;
        *right++ = *from++;
    }
}

} // namespace

void deinterleave(const float* from, float* left, float* right, int frames) noexcept {
    (has_avx && frames % unrolled == 0 ? move_wide : move_any)(from, left, right, frames);
}

} // namespace scs
