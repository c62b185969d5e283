// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sums of integers that wrap, and wrapping and folding numbers into a range. One step over its end is a sum; only
// beyond it is divided. Ranges with a bound that is NaN, or that end infinitely far before they begin, change nothing.

#include "engine/simd/math.hpp"

namespace scs::SCS_SIMD {

constexpr float largest = 3.40282347e38f; // finite float

SCS_INLINE int32_t plus(int32_t a, int32_t b) {
    return int32_t(uint32_t(a) + uint32_t(b));
}
SCS_INLINE int32_t minus(int32_t a, int32_t b) {
    return int32_t(uint32_t(a) - uint32_t(b));
}

/// x into [low, high), low itself where they are equal. V: F32 or F64.
template <class V>
SCS_INLINE V wrapped(V x, V low, V high) {
    const V range = high - low;
    const auto usable = range >= V(-largest);
    const auto above = usable & (x >= high), below = usable & ~above & (x < low);
    const V once = select(above, x - range, select(below, x + range, x));
    const auto inside = (above & (once < high)) | (below & (once >= low)) | ~(above | below);
    if (all(inside))
        return once;
    const V more = select(high == low, low, once - range * floor((once - low) / range));
    return select(inside, once, more);
}

/// x into [low, high], mirrored at its ends.
template <int N>
SCS_INLINE F32<N> folded(F32<N> x, F32<N> low, F32<N> high) {
    const F32<N> range = high - low, twice = range + range, offset = x - low;
    const auto usable = range >= F32<N>(-largest);
    const auto above = usable & (x >= high), below = usable & ~above & (x < low);
    const F32<N> once = select(above, high + high - x, select(below, low + low - x, x));
    const auto inside = (above & (once >= low)) | (below & (once < high)) | ~(above | below);
    if (all(inside))
        return once;
    const F32<N> turned = offset - twice * floor(offset / twice);
    const F32<N> more = select(high == low, low, select(turned >= range, twice - turned, turned) + low);
    return select(inside, once, more);
}

} // namespace scs::SCS_SIMD
