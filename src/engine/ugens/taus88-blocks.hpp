// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Draws many numbers of taus88 at once: the same numbers as one by one, and several times cheaper.
//
// Each of the generator's three parts is a stream of bits in which bit i is bit (i - Far) xor bit (i - Near). A draw
// moves a window of 32 bits on by Step bits; the window's highest bit is the oldest. Squaring a polynomial over GF(2)
// doubles its exponents. So a bit is also bit (i - 2 Far) xor bit (i - 2 Near), bit (i - 4 Far) xor bit (i - 4 Near),
// and so on. With distances that are large enough, all words of a vector can be computed from words that exist already.

#include "engine/ugens/taus88.hpp"

namespace scs::SCS_SIMD {

/// One of the three parts; its words are contiguous.
template <int Far, int Near, int Step>
struct Taus88Part {
    /// How many words back a window is that begins `bits` bits earlier, or more.
    static constexpr int words_back(int bits) { return (bits + Step - 1) / Step; }

    /// Computes N words at `to`, with the distances doubled `Doublings` times. These reach at most `Behind` words back.
    template <int N, int Doublings, int Behind>
    SCS_INLINE static U32<N> step(uint32_t* to) {
        static_assert(words_back(Far << Doublings) <= Behind && (Near << Doublings) / Step >= N);
        const auto made = window<N, Far << Doublings>(to) ^ window<N, Near << Doublings>(to);
        made.store(to);
        return made;
    }

private:
    /// The windows that begin `Bits` bits before those at `at`.
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
    /// The numbers drawn by the last next().
    SCS_INLINE const uint32_t* numbers() const { return numbers_; }
    /// `lanes` of these numbers, from number i on.
    SCS_INLINE U32<lanes> at(int i) const { return U32<lanes>::load(numbers_ + i); }

private:
    /// The first words are drawn one by one, the next ones four at a time: up to these counts.
    static constexpr int by_one = 12, by_four = 48;
    /// Words kept from the previous call. The distance should be long: reading a vector soon after parts of it were
    /// written by two different stores waits until these have reached the cache.
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
            s = s.next();
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
