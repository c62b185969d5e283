// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// SuperCollider's tables of 8192 entries a cycle, and how it draws lines between them: for what comes close to its
// sound only with its errors.

#include "engine/simd/gather.hpp"
#include "engine/ugens/table-phase.hpp"

namespace scs::SCS_SIMD {

constexpr int table_size = 8192;
constexpr int near_zero = 8; ///< entries from a zero of the sine for which there is no cosecant

extern float sine_table[table_size + 1];
extern float cosecant_table[table_size + 1]; ///< 0 where there is none

/// [any] Fills them, once.
void make_sine_tables();

/// How far a phase is from an entry to the next.
template <int N>
SCS_INLINE F32<N> past_entry(U32<N> phase) {
    return convert<float>(bits<int32_t>(phase & U32<N>(0xffffu))) * F32<N>(0x1p-16f);
}
template <int N>
SCS_INLINE I32<N> entry_of(U32<N> phase) {
    return bits<int32_t>((phase >> 16) & U32<N>(uint32_t(table_size - 1)));
}
/// On the line from an entry to the next.
template <int N>
SCS_INLINE F32<N> look_up(const float* table, I32<N> entry, F32<N> past) {
    const auto both = gather(table, entry);
    return both.entry + (both.next - both.entry) * past;
}
/// The same line with other roundings: as in the table's form for oscillators, of pairs 2 a - b and b - a.
template <int N>
SCS_INLINE F32<N> wavetable_sine(U32<N> phase) {
    const auto both = gather(sine_table, entry_of(phase));
    return (both.entry + both.entry - both.next) + (both.next - both.entry) * (F32<N>(1.f) + past_entry(phase));
}
template <int N>
SCS_INLINE F32<N> table_sine(U32<N> phase) {
    return look_up(sine_table, entry_of(phase), past_entry(phase));
}

} // namespace scs::SCS_SIMD
