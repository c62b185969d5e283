// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Phases of oscillators: fractions of a cycle as unsigned integers, which wrap by themselves and can be added up in any
// order. A phase kept from block to block has 64 bits, so that it doesn't drift. Within a block 32 bits are used, which
// are off by at most 2^-27 of a cycle.

#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {

/// Cycles as a phase, modulo 1, to 2^-52 of a cycle. NaN and numbers beyond 2^18 become 0.
template <int N>
SCS_INLINE U64<N> phase_of(F64<N> cycles) {
    // 1.5 * 2^52: adding this puts a number, as an integer, into the lowest bits.
    const F64<N> magic(6755399441055744.0);
    const F64<N> two32(4294967296.0);
    const auto usable = (cycles < F64<N>(262144.0)) & (cycles > F64<N>(-262144.0));
    const F64<N> scaled = select(usable, cycles, 0.0) * two32;
    const F64<N> whole = scaled + magic;
    const F64<N> rest = (scaled - (whole - magic)) * two32 + magic;
    return (bits<uint64_t>(whole) << 32) + (bits<uint64_t>(rest) - bits<uint64_t>(magic));
}

/// The phases of a block whose increment a frame is held.
template <class Form>
class HeldPhase {
public:
    static constexpr int N = Form::width;
    static constexpr int voices = Form::state_lanes;
    /// `kept`: the state's item, which is advanced to the next block.
    SCS_INLINE HeldPhase(uint64_t* kept, U64<voices> increment, const Block& block) {
        const auto from = U64<voices>::load(kept);
        const auto each = upper_half(increment + U64<voices>(uint64_t(1) << 31));
        now = Form::first(upper_half(from), each);
        growth_ = Form::growth(each);
        (from + increment * U64<voices>(uint64_t(block.frames))).store(kept);
    }
    SCS_INLINE void advance() { now += growth_; }

    U32<N> now; ///< of this step

private:
    U32<N> growth_;
};

/// The phases of a block whose increment changes from frame to frame. Forms of voices.
template <class Form>
class MovingPhase {
public:
    static constexpr int N = Form::width;
    SCS_INLINE explicit MovingPhase(uint64_t* kept) : kept_(kept), at_(Form::get(kept)), now(upper_half(at_)) {}
    SCS_INLINE ~MovingPhase() { Form::keep(kept_, at_); }
    MovingPhase(const MovingPhase&) = delete;
    MovingPhase& operator=(const MovingPhase&) = delete;
    SCS_INLINE void advance(U64<N> increment) {
        at_ += increment;
        now = upper_half(at_);
    }

private:
    uint64_t* kept_;
    U64<N> at_;

public:
    U32<N> now;
};

/// 0 <= x <= 1; 1 where a phase next to a whole cycle is rounded.
template <int N>
SCS_INLINE F32<N> unipolar(U32<N> phase) {
    return convert<float>(bits<int32_t>(phase >> 1)) * F32<N>(0x1p-31f);
}

/// -1 <= x <= 1, with 0 at phase 0.
template <int N>
SCS_INLINE F32<N> bipolar(U32<N> phase) {
    return convert<float>(bits<int32_t>(phase)) * F32<N>(0x1p-31f);
}

} // namespace scs::SCS_SIMD
