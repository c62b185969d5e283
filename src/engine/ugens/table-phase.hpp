// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Phases as in SuperCollider's oscillators: integers that wrap, 2^29 for a cycle. Increments are truncated to integers
// as there, so that phases don't drift apart from SuperCollider's.

#include "engine/simd/math.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"

namespace scs::SCS_SIMD {

constexpr double phase_cycle = 0x1p29;
constexpr double phase_radian = phase_cycle * 0.1591549430918953357689; ///< / 2 pi

/// Truncates to integers. NaN and numbers out of range become the lowest int, as on x86.
template <class T, int N>
SCS_INLINE U32<N> whole_phase(Vec<T, N> x) {
    const auto inside = abs(x) < Vec<T, N>(T(0x1p31));
    return bits<uint32_t>(convert<int32_t>(select(inside, x, T(-0x1p31))));
}

/// The same for floats. It is used in each frame, so on x86 it is a single instruction.
template <int N>
SCS_INLINE U32<N> whole_phase(F32<N> x) {
#if defined(__x86_64__)
    U32<N> made;
    if constexpr (N == 1)
        made.part[0] = uint32_t(_mm_cvttss_si32(_mm_set_ss(x.part[0])));
    else
#if defined(__AVX512F__)
        made.part[0] = typename U32<N>::Part(_mm512_maskz_cvttps_epi32(0xffff, x.part[0]));
#elif defined(__AVX2__)
        made.part[0] = typename U32<N>::Part(_mm256_cvttps_epi32(x.part[0]));
#else
        made.part[0] = typename U32<N>::Part(_mm_cvttps_epi32(x.part[0]));
#endif
    return made;
#else
    return whole_phase<float, N>(x);
#endif
}

template <int N>
SCS_INLINE F32<N> sine(U32<N> phase) {
    return sin_turns(phase << 3);
}

/// The phases of a block whose increment per frame is constant.
template <class Form>
class EvenPhase {
public:
    static constexpr int N = Form::width;
    static constexpr int voices = Form::state_lanes;
    /// `kept`: the phase in the state, which is advanced to the next block.
    SCS_INLINE EvenPhase(uint32_t* kept, U32<voices> increment, int frames)
        : now_(Form::first(U32<voices>::load(kept), increment)), growth_(Form::growth(increment)) {
        (U32<voices>::load(kept) + increment * U32<voices>(uint32_t(frames))).store(kept);
    }
    /// Returns a step's phases and advances to the next step.
    SCS_INLINE U32<N> take() {
        const auto now = now_;
        now_ += growth_;
        return now;
    }

private:
    U32<N> now_, growth_;
};

/// Each lane gets the sum of the lanes up to and including itself.
template <int N>
SCS_INLINE U32<N> running_sum(U32<N> x) {
    static_assert(U32<N>::parts == 1);
    auto& v = x.part[0];
    const typename U32<N>::Part zero{};
    if constexpr (N == 4) {
        v += __builtin_shufflevector(zero, v, 0, 4, 5, 6);
        v += __builtin_shufflevector(zero, v, 0, 1, 4, 5);
    } else if constexpr (N == 8) {
        v += __builtin_shufflevector(zero, v, 0, 8, 9, 10, 11, 12, 13, 14);
        v += __builtin_shufflevector(zero, v, 0, 1, 8, 9, 10, 11, 12, 13);
        v += __builtin_shufflevector(zero, v, 0, 1, 2, 3, 8, 9, 10, 11);
    } else {
        static_assert(N == 16);
        v += __builtin_shufflevector(zero, v, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
        v += __builtin_shufflevector(zero, v, 0, 1, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
        v += __builtin_shufflevector(zero, v, 0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27);
        v += __builtin_shufflevector(zero, v, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    }
    return x;
}

/// The phases of a block whose increment changes from frame to frame.
template <class Form>
class UnevenPhase {
public:
    static constexpr int N = Form::width;
    SCS_INLINE explicit UnevenPhase(uint32_t* kept) : kept_(kept), at_(Form::get(kept)) {}
    SCS_INLINE ~UnevenPhase() { Form::keep(kept_, at_); }
    UnevenPhase(const UnevenPhase&) = delete;
    UnevenPhase& operator=(const UnevenPhase&) = delete;
    /// Returns a step's phases and advances by its increments.
    SCS_INLINE U32<N> take(U32<N> increment) {
        auto now = at_;
        if constexpr (Form::state_lanes == N) {
            at_ += increment;
        } else {
            const auto sum = running_sum(increment);
            now += sum - increment;
            at_ += U32<N>(sum[N - 1]);
        }
        return now;
    }

private:
    uint32_t* kept_;
    U32<N> at_;
};

} // namespace scs::SCS_SIMD
