// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/each-sample.hpp"
#include "engine/ugens/families.hpp"

namespace scs::SCS_SIMD {
namespace {

// Straight lines that triggers reset. A trigger at audio rate resets them between two samples.

/// Rises by `rate` per second, without an end. Since 3.14 a sample is the level before its own rise.
template <bool AudioTrigger, bool AudioRate, bool RisesAfter>
struct Sweep : SampleUnit<Sweep<AudioTrigger, AudioRate, RisesAfter>> {
    static constexpr bool wide = true;
    static constexpr int inputs = 2, follows = 3, doubles = 1, floats = 1;
    template <int N>
    SCS_INLINE static F64<N> step(Kept<Sweep, N>& kept, const F32<N>* in) {
        const auto part = -kept.f[0] / (in[0] - kept.f[0]);
        F64<N> each, first;
        if constexpr (AudioRate) { // in single precision
            const F32<N> duration(float(kept.rate.duration)), rate = in[1] * duration;
            each = convert<double>(rate);
            first = convert<double>(AudioTrigger ? part * rate : part * in[1] * duration);
        } else {
            each = convert<double>(in[1]) * F64<N>(kept.rate.duration);
            first = convert<double>(part) * each;
        }
        const auto rise = widen_mask(rises(kept.f[0], in[0]));
        kept.f[0] = in[0];
        if constexpr (RisesAfter) {
            const auto now = select(rise, first, kept.d[0]);
            kept.d[0] = now + each;
            return now;
        }
        if constexpr (AudioTrigger)
            kept.d[0] = select(rise, first, kept.d[0] + each);
        else
            kept.d[0] = select(rise, first, kept.d[0]) + each;
        return kept.d[0];
    }
    SCS_INLINE static void begin(Kept<Sweep, 1>& kept, const F32<1>* in, Release) {
        if (!RisesAfter)
            kept.f[0] = in[0];
    }
    SCS_INLINE static F64<1> start(Kept<Sweep, 1>&, const F32<1>*, Release) { return F64<1>(0.0); }
};

template <bool RisesAfter>
const Kernel* choose_sweep_that(const Signature& s) {
    if (s.audio(0))
        return s.audio(1) ? EachSample<Sweep<true, true, RisesAfter>>::choose(s)
                          : EachSample<Sweep<true, false, RisesAfter>>::choose(s);
    return s.audio(1) ? EachSample<Sweep<false, true, RisesAfter>>::choose(s)
                      : EachSample<Sweep<false, false, RisesAfter>>::choose(s);
}

const Kernel* choose_sweep(const Signature& s) {
    if (s.inputs.size() != 2)
        return nullptr;
    return s.release >= Release::v3_14 ? choose_sweep_that<true>(s) : choose_sweep_that<false>(s);
}

/// `low` for what is infinite or NaN. A bound that is NaN is none.
template <int N>
SCS_INLINE F64<N> wrap(F64<N> x, F64<N> low, F64<N> high) {
    if (all((x < high) & (x >= low)))
        return x;
    const auto above = x >= high, outside = above | (x < low);
    const auto range = high - low;
    const auto moved = select(above, x - range, x + range);
    const auto far = select(above, ~(moved < high), ~(moved >= low));
    const auto folded = select(high == low, low, moved - range * floor((moved - low) / range));
    const auto made = select(outside, select(far, folded, moved), x);
    return select(made - made == F64<N>(0.0), made, low);
}

/// Counts from `low` to `high` and starts again. If the trigger isn't at audio rate, new limits are used at once. What
/// it follows of its inputs beside the trigger: the rate; the limits and what a trigger resets it to.
template <bool Precise, bool AudioRate, bool AudioLimits>
struct Phasor : SampleUnit<Phasor<Precise, AudioRate, AudioLimits>> {
    static constexpr bool wide = true;
    static constexpr int inputs = 5, follows = 1 | (AudioRate ? 2 : 0) | (AudioLimits ? 28 : 0), doubles = 1,
                         floats = 1;
    enum { trigger, rate, low, high, to };
    template <int N>
    SCS_INLINE static F64<N> step(Kept<Phasor, N>& kept, const F32<N>* in) {
        const auto rise = widen_mask(rises(kept.f[0], in[trigger]));
        const auto each = convert<double>(in[rate]), least = convert<double>(in[low]), most = convert<double>(in[high]);
        auto level = kept.d[0];
        if constexpr (Precise) {
            const auto part = F32<N>(1.f) - kept.f[0] / (in[trigger] - kept.f[0]);
            level = select(rise, convert<double>(in[to]) + convert<double>(part) * each, level);
            kept.d[0] = wrap(level + each, least, most);
        } else {
            level = wrap(select(rise, convert<double>(in[to]), level), least, most);
            kept.d[0] = level + each;
        }
        kept.f[0] = in[trigger];
        return level;
    }
    SCS_INLINE static void begin(Kept<Phasor, 1>& kept, const F32<1>* in, Release release) {
        if (release < Release::v3_14)
            kept.f[0] = in[trigger];
        kept.d[0] = convert<double>(in[low]);
    }
    SCS_INLINE static F64<1> start(Kept<Phasor, 1>& kept, const F32<1>* in, Release release) {
        return release >= Release::v3_14 ? step(kept, in) : convert<double>(in[low]);
    }
};

const Kernel* choose_phasor(const Signature& s) {
    if (s.inputs.size() != 5)
        return nullptr;
    // SuperCollider takes all but the trigger, and the rate beside a trigger at audio rate, by their first samples in a
    // block.
    if (s.rate == Rate::audio && (s.audio(2) || s.audio(3) || s.audio(4)))
        return s.audio(0) ? EachSample<Phasor<true, true, true>>::choose(s)
                          : EachSample<Phasor<false, true, true>>::choose(s);
    if (s.rate == Rate::audio && !s.audio(0))
        return s.audio(1) ? EachSample<Phasor<false, true, false>>::choose(s)
                          : EachSample<Phasor<false, false, false>>::choose(s);
    return s.rate == Rate::audio && s.audio(1) ? EachSample<Phasor<true, true, false>>::choose(s)
                                               : EachSample<Phasor<true, false, false>>::choose(s);
}

constexpr NativeUgen list[] = {
    {"Phasor", choose_phasor},
    {"Sweep", choose_sweep},
};

} // namespace

SCS_FAMILY(sweeps)

} // namespace scs::SCS_SIMD
