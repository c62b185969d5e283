// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Interpolation between samples; V is a float or a vector of floats.

#include "engine/simd/lanes.hpp"

namespace scs::SCS_SIMD {

/// From a (part 0) to b (part 1).
template <class V>
SCS_INLINE V linear(V part, V a, V b) {
    return a + part * (b - a);
}

/// From b to c, by Hermite's cubic.
template <class V>
SCS_INLINE V cubic(V part, V a, V b, V c, V d) {
    const V half(0.5f);
    const V c1 = half * (c - a);
    const V c2 = a - V(2.5f) * b + V(2.f) * c - half * d;
    const V c3 = half * (d - a) + V(1.5f) * (b - c);
    return ((c3 * part + c2) * part + c1) * part + b;
}

} // namespace scs::SCS_SIMD
