// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/each-sample.hpp"
#include "engine/ugens/families.hpp"

namespace scs::SCS_SIMD {
namespace {

template <int N>
SCS_INLINE I32<N> plus_one(I32<N> count) {
    return bits<int32_t>(bits<uint32_t>(count) + U32<N>(1u)); // unsigned, as it may wrap
}

// ---- counting triggers

struct PulseCount : SampleUnit<PulseCount> {
    static constexpr int inputs = 2, follows = 3, doubles = 0, floats = 3;
    template <int N>
    SCS_INLINE static F32<N> step(Kept<PulseCount, N>& kept, const F32<N>* in) {
        const auto counted = select(rises(kept.f[0], in[0]), kept.f[2] + F32<N>(1.f), kept.f[2]);
        kept.f[2] = select(rises(kept.f[1], in[1]), F32<N>(0.f), counted);
        kept.f[0] = in[0];
        kept.f[1] = in[1];
        return kept.f[2];
    }
};

/// Passes one of every in[1] triggers.
struct PulseDivider : SampleUnit<PulseDivider> {
    static constexpr int inputs = 3, follows = 1, doubles = 0, floats = 2;
    template <int N>
    SCS_INLINE static F32<N> step(Kept<PulseDivider, N>& kept, const F32<N>* in) {
        const auto rise = rises(kept.f[0], in[0]);
        const auto count = plus_one(kept.integer(1));
        // NaN and numbers too large for an integer become the lowest integer, as on x86.
        const auto most = select(in[1] < F32<N>(0x1p63f), to_int(in[1]), INT32_MIN);
        const auto full = rise & (count >= most);
        kept.f[0] = in[0];
        kept.keep_integer(1, select(full, I32<N>(0), select(rise, count, kept.integer(1))));
        return select(full, F32<N>(1.f), 0.f);
    }
    SCS_INLINE static void begin(Kept<PulseDivider, 1>& kept, const F32<1>* in, Release) {
        const auto first = floor(convert<double>(in[2]) + F64<1>(0.5));
        kept.keep_integer(1, select(first < F64<1>(0x1p63), I64<1>(to_int(first)[0]), int64_t(INT32_MIN))[0]);
    }
};

/// x modulo `size`; 0 if `size` is 0. A negative size comes from limits in the wrong order; the result is
/// SuperCollider's, which is rounded towards minus infinity since 3.14.
template <bool Floored>
SCS_INLINE int64_t modulo(int64_t x, int64_t size) {
    if (x >= size) {
        x -= size;
        if (x < size)
            return x;
    } else if (x < 0) {
        x += size;
        if (x >= 0)
            return x;
    } else {
        return x;
    }
    if (size == 0)
        return 0;
    const int64_t rest = x % size;
    if (Floored && size < 0)
        return rest > 0 ? rest + size : rest;
    return rest < 0 ? rest + size : rest;
}

/// Counts in steps between two limits.
template <bool Floored>
struct Stepper : SampleUnit<Stepper<Floored>> {
    static constexpr int inputs = 6, follows = 3, doubles = 0, floats = 3;
    template <int N>
    SCS_INLINE static F32<N> step(Kept<Stepper, N>& kept, const F32<N>* in) {
        const auto resets = rises(kept.f[1], in[1]), moves = rises(kept.f[0], in[0]) | resets;
        kept.f[0] = in[0];
        kept.f[1] = in[1];
        if (any(moves)) {
            float level[N];
            kept.f[2].store(level);
            for (int lane = 0; lane < N; ++lane)
                if (moves[lane]) {
                    const int64_t low = int_of(in[2][lane]), high = int_of(in[3][lane]);
                    const int64_t to = resets[lane] ? int_of(in[5][lane])
                                                    : int32_t(int64_t(int_of(level[lane])) + int_of(in[4][lane]));
                    level[lane] = float(int32_t(modulo<Floored>(int32_t(to - low), int32_t(high - low + 1)) + low));
                }
            kept.f[2] = F32<N>::load(level);
        }
        return kept.f[2];
    }
    SCS_INLINE static void begin(Kept<Stepper, 1>& kept, const F32<1>* in, Release) {
        kept.f[2] = F32<1>(float(int_of(in[5][0])));
    }
};

// ---- measuring time; crossings are interpolated between samples

template <class Unit>
struct Measure : SampleUnit<Unit> {
    static constexpr int inputs = 1, follows = 1, doubles = 0, floats = 4;
    enum { previous, fraction, level, count };
    template <int N>
    SCS_INLINE static F32<N> step(Kept<Unit, N>& kept, const F32<N>* in) {
        const auto passed = plus_one(kept.integer(count));
        const auto rise = rises(kept.f[previous], in[0]) & (passed > I32<N>(Unit::least));
        const auto part = -kept.f[previous] / (in[0] - kept.f[previous]);
        const auto samples = part + convert<float>(passed) - kept.f[fraction];
        kept.f[level] = select(rise, Unit::of(samples, kept.rate), kept.f[level]);
        kept.f[fraction] = select(rise, part, kept.f[fraction]);
        kept.keep_integer(count, select(rise, I32<N>(0), passed));
        kept.f[previous] = in[0];
        return kept.f[level];
    }
};

struct Timer : Measure<Timer> {
    static constexpr int least = INT32_MIN;
    template <int N>
    SCS_INLINE static F32<N> of(F32<N> samples, const UnitRate& rate) {
        return convert<float>(F64<N>(rate.duration) * convert<double>(samples));
    }
    /// Since 3.14 time runs from the first sample on, also if that is above 0.
    SCS_INLINE static void begin(Kept<Timer, 1>& kept, const F32<1>* in, Release release) {
        if (release >= Release::v3_14)
            kept.keep_integer(count, I32<1>(-1));
        else
            kept.f[previous] = in[0];
    }
    SCS_INLINE static F32<1> start(Kept<Timer, 1>&, const F32<1>*, Release) { return F32<1>(0.f); }
};

struct ZeroCrossing : Measure<ZeroCrossing> {
    static constexpr int least = 4; ///< fewest samples between two crossings
    template <int N>
    SCS_INLINE static F32<N> of(F32<N> samples, const UnitRate& rate) {
        return convert<float>(F64<N>(rate.samples) / convert<double>(samples));
    }
    SCS_INLINE static void begin(Kept<ZeroCrossing, 1>& kept, const F32<1>* in, Release) { kept.f[previous] = in[0]; }
    SCS_INLINE static F32<1> start(Kept<ZeroCrossing, 1>&, const F32<1>*, Release) { return F32<1>(0.f); }
};

const Kernel* choose_stepper(const Signature& s) {
    return s.release >= Release::v3_14 ? EachSample<Stepper<true>>::choose(s) : EachSample<Stepper<false>>::choose(s);
}

constexpr NativeUgen list[] = {
    {"PulseCount", EachSample<PulseCount>::choose},
    {"PulseDivider", EachSample<PulseDivider>::choose},
    {"Stepper", choose_stepper},
    {"Timer", EachSample<Timer>::choose},
    {"ZeroCrossing", EachSample<ZeroCrossing>::choose},
};

} // namespace

SCS_FAMILY(counters)

} // namespace scs::SCS_SIMD
