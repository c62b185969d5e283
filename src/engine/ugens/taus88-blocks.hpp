// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Many numbers of taus88 at once: the same ones as drawn one by one, and several times cheaper.
//
// Each of its three parts is a stream of bits in which bit i is bit (i - Far) xor bit (i - Near); a draw moves a window
// of 32 bits, the highest the oldest, on by Step bits. As squaring a polynomial over GF(2) doubles its exponents, a bit
// is as well that of twice as far before, xor that of twice as near, and so on: far enough back for all words of a
// vector to be made of words that are there.

#include "engine/ugens/taus88.hpp"

namespace scs::SCS_SIMD {

/// One of the parts; its words lie one after the other.
template <int Far, int Near, int Step>
struct Taus88Part {
    /// So many words back begins what begins so many bits back, or before.
    static constexpr int words_back(int bits) { return (bits + Step - 1) / Step; }

    /// The N words at `to`, with distances that are doubled so many times, which reach `Behind` words back at most.
    template <int N, int Doublings, int Behind>
    SCS_INLINE static U32<N> step(uint32_t* to) {
        static_assert(words_back(Far << Doublings) <= Behind && (Near << Doublings) / Step >= N);
        const auto made = window<N, Far << Doublings>(to) ^ window<N, Near << Doublings>(to);
        made.store(to);
        return made;
    }

private:
    /// The windows that begin so many bits before those at `at`.
    template <int N, int Bits>
    SCS_INLINE static U32<N> window(const uint32_t* at) {
        constexpr int back = words_back(Bits), on = back * Step - Bits;
        const auto older = U32<N>::load(at - back);
        if constexpr (on == 0)
            return older;
        else
            return older << on | U32<N>::load(at - back + 1) >> (Step - on);
    }
};

/// Draws Count numbers at a time, a multiple of 64.
template <int Count>
class Taus88Blocks {
public:
    SCS_INLINE explicit Taus88Blocks(const Block& block) : kept_(block.space->random) {}
    SCS_INLINE ~Taus88Blocks() {
        if (begun_)
            *kept_ = {words_[0][end - 1], words_[1][end - 1], words_[2][end - 1]};
    }
    Taus88Blocks(const Taus88Blocks&) = delete;
    Taus88Blocks& operator=(const Taus88Blocks&) = delete;

    SCS_INLINE void next() {
        if (begun_)
            go_on();
        else
            begin();
        begun_ = true;
    }
    /// Those that next() has drawn.
    SCS_INLINE const uint32_t* numbers() const { return numbers_; }
    /// From the i-th on.
    SCS_INLINE U32<lanes> at(int i) const { return U32<lanes>::load(numbers_ + i); }

private:
    static constexpr int by_one = 12, by_four = 48; ///< words that are drawn one by one, and at most four at once
    /// Words that are kept of the block before. Their distance should be long: a vector that is read soon after parts
    /// of it were written as parts of two others waits for these to reach the cache.
    static constexpr int before = 96, end = before + Count;
    static constexpr int far = Count >= before ? 1 : 0;

    template <int N, int Behind, int One, int Two, int Three>
    SCS_INLINE U32<N> step(int i) {
        return Taus88Part<31, 18, 12>::step<N, One, Behind>(words_[0] + i) ^
               Taus88Part<29, 27, 4>::step<N, Two, Behind>(words_[1] + i) ^
               Taus88Part<28, 25, 17>::step<N, Three, Behind>(words_[2] + i);
    }
    SCS_INLINE void begin() {
        RandomState s = *kept_;
        for (int i = 0; i < by_one; ++i) {
            s = {Taus88::next1(s.s1), Taus88::next2(s.s2), Taus88::next3(s.s3)};
            words_[0][before + i] = s.s1;
            words_[1][before + i] = s.s2;
            words_[2][before + i] = s.s3;
            numbers_[i] = s.s1 ^ s.s2 ^ s.s3;
        }
        for (int i = by_one; i < by_four; i += 4)
            step<4, by_one, 2, 0, 2>(before + i).store(numbers_ + i);
        for (int i = by_four; i < Count; i += lanes)
            step<lanes, by_four, 4, 2, 4>(before + i).store(numbers_ + i);
    }
    SCS_INLINE void go_on() {
        for (auto& words : words_)
            for (int i = 0; i < before; i += lanes)
                U32<lanes>::load(words + Count + i).store(words + i);
        for (int i = 0; i < Count; i += lanes)
            step<lanes, before, 4 + far, 2 + far, 4 + far>(before + i).store(numbers_ + i);
    }

    RandomState* kept_;
    bool begun_ = false;
    alignas(64) uint32_t words_[3][end];
    alignas(64) uint32_t numbers_[Count];
};

} // namespace scs::SCS_SIMD
