// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/simd/lanes.hpp"

namespace scs::SCS_SIMD {

/// Of a table's entries, one for each lane.
template <int N>
SCS_INLINE F32<N> gather(const float* table, I32<N> index) {
    if constexpr (N == 1) {
        return F32<1>(table[index.part[0]]);
    } else {
        F32<N> made;
#if defined(__AVX512F__)
        made.part[0] = _mm512_mask_i32gather_ps(__m512{}, 0xffff, __m512i(index.part[0]), table, 4);
#elif defined(__AVX2__)
        const auto all = __m256i{} == __m256i{};
        made.part[0] = _mm256_mask_i32gather_ps(__m256{}, table, __m256i(index.part[0]), __m256(all), 4);
#else
        float entries[N];
        for (int i = 0; i < N; ++i)
            entries[i] = table[index[i]];
        made = F32<N>::load(entries);
#endif
        return made;
    }
}

} // namespace scs::SCS_SIMD
