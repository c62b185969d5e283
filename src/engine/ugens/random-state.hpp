// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace scs {

/// The state of L'Ecuyer's taus88 (Maximally equidistributed combined Tausworthe generators, Mathematics of Computation
/// 65, 1996), shared with the plugins' units.
struct RandomState {
    uint32_t s1, s2, s3;

    /// The state after the next draw, whose number is the exclusive or of its parts. Linear in the state's bits.
    constexpr RandomState next() const noexcept {
        return {((s1 & 0xfffffffeu) << 12) ^ (((s1 << 13) ^ s1) >> 19),
                ((s2 & 0xfffffff8u) << 4) ^ (((s2 << 2) ^ s2) >> 25),
                ((s3 & 0xfffffff0u) << 17) ^ (((s3 << 3) ^ s3) >> 11)};
    }
};

} // namespace scs
