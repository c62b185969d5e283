// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The draws that SuperCollider's units make from RandomState.

#include "engine/simd/lanes.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {

/// Thomas Wang's 32-bit integer hash, which SuperCollider uses to mix bits.
template <int N>
SCS_INLINE U32<N> hash_of(U32<N> x) {
    x += ~(x << 15);
    x ^= x >> 10;
    x += x << 3;
    x ^= x >> 6;
    x += ~(x << 11);
    x ^= x >> 16;
    return x;
}

class Taus88 {
public:
    SCS_INLINE explicit Taus88(const Block& block) : kept_(block.space->random), s_(*kept_) {}
    SCS_INLINE ~Taus88() { *kept_ = s_; }
    Taus88(const Taus88&) = delete;
    Taus88& operator=(const Taus88&) = delete;

    /// Starts the sequence of a seed.
    SCS_INLINE void seed(int32_t number) {
        const uint32_t hash = hash_of(U32<1>(uint32_t(number)))[0];
        // Each part needs a set bit above those that a draw ignores, the lowest 1, 3 or 4.
        const auto part = [&](uint32_t start, uint32_t least) { return (start ^ hash) < least ? start : start ^ hash; };
        s_ = {part(1243598713u, 2), part(3093459404u, 8), part(1821928721u, 16)};
    }
    /// 32 random bits.
    SCS_INLINE uint32_t draw() {
        s_ = s_.next();
        return s_.s1 ^ s_.s2 ^ s_.s3;
    }
    /// 0 <= x < 1, in steps of 2^-23.
    SCS_INLINE float unipolar() { return float(int32_t(draw() >> 9)) * 0x1p-23f; }
    /// -1 <= x < 1.
    SCS_INLINE float bipolar() { return float(int32_t(draw() >> 9)) * 0x1p-22f - 1.f; }
    /// -1 or 1.
    SCS_INLINE float coin() { return draw() >> 31 ? -1.f : 1.f; }
    /// 0 <= x < 1, in steps of 2^-32.
    SCS_INLINE double fine() { return double(draw()) * 0x1p-32; }

private:
    RandomState* kept_;
    RandomState s_;
};

/// Makes a kernel from a lane kernel K<L> that draws numbers in its blocks: how many in each frame; 0: that
/// varies.
template <template <int> class K, template <int> class State>
constexpr Kernel drawing(KernelFunction start, uint8_t numbers_a_frame = 0) {
    Kernel made = lane_kernel<K, State>(start);
    made.effect = Effect::draws;
    made.numbers_a_frame = numbers_a_frame;
    return made;
}

} // namespace scs::SCS_SIMD
