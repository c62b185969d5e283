// SPDX-License-Identifier: GPL-3.0-or-later

// Oscillators with a limited number of harmonics. They use the closed form of a sum of N cosines: sin((2N+1)x) / sin(x)
// = 1 + 2 cos(2x) + ... + 2 cos(2Nx). Sines and cosecants come from SuperCollider's tables, with their errors: Saw and
// Pulse sum a thousand frames in a leaky integrator, and the difference to exact values could be heard.

#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/sine-tables.hpp"
#include "engine/ugens/table-phase.hpp"

namespace scs::SCS_SIMD {
namespace {

// ---- the quotient

/// 1/sin(x), from the table of cosecants; around zero, where the table has no values, from the table of sines. Lanes of
/// `peak` are so near to zero that there is no quotient.
template <int N>
class Cosecant {
public:
    SCS_INLINE explicit Cosecant(U32<N> phase) {
        const auto entry = entry_of(phase);
        const auto past = past_entry(phase);
        cosecant_ = look_up(cosecant_table, entry, past);
        const auto in_half = entry & I32<N>(table_size / 2 - 1);
        near_ = (in_half < I32<N>(near_zero + 1)) | (in_half > I32<N>(table_size / 2 - near_zero - 2));
        any_near_ = any(near_);
        sine_ = F32<N>(1.f);
        peak = near_;
        if (any_near_) {
            sine_ = look_up(sine_table, entry, past);
            peak = near_ & (abs(sine_) < F32<N>(0.0005f));
        }
    }
    /// sin(odd x)/sin(x)
    SCS_INLINE F32<N> quotient(U32<N> phase, U32<N> odd) const {
        const auto above = table_sine(phase * odd);
        const auto product = above * cosecant_;
        return any_near_ ? select(near_, above / sine_, product) : product;
    }

    typename F32<N>::Mask peak;

private:
    F32<N> cosecant_, sine_;
    typename F32<N>::Mask near_;
    bool any_near_;
};

template <int N>
SCS_INLINE U32<N> odd(I32<N> harmonics) {
    return bits<uint32_t>(harmonics + harmonics + I32<N>(1));
}
template <int N>
SCS_INLINE F32<N> scale_of(I32<N> harmonics) {
    return convert<float>(F64<N>(0.5) / convert<double>(harmonics));
}

/// The same number in all frames.
template <class Form, class T>
SCS_INLINE Vec<T, Form::width> spread(Vec<T, Form::state_lanes> x) {
    if constexpr (Form::state_lanes == Form::width)
        return x;
    else
        return Vec<T, Form::width>(x[0]);
}

/// The harmonics' sum, 1 at its peak. Lanes of `cross` fade over the block from another number of harmonics.
template <class Form>
struct Sum {
    static constexpr int N = Form::width, voices = Form::state_lanes;
    U32<N> odd_now, odd_before;
    F32<N> scale_now, scale_before, each;
    typename F32<N>::Mask cross;
    bool any_cross;

    SCS_INLINE Sum(I32<voices> harmonics, I32<voices> before, int frames)
        : odd_now(spread<Form>(odd(harmonics))),
          odd_before(spread<Form>(odd(before))),
          scale_now(spread<Form>(scale_of(harmonics))),
          scale_before(spread<Form>(scale_of(before))),
          each(1.f / float(frames)),
          cross(spread<Form>(harmonics != before)),
          any_cross(any(cross)) {}
    SCS_INLINE F32<N> still(const Cosecant<N>& c, U32<N> phase) const {
        return (c.quotient(phase, odd_now) - F32<N>(1.f)) * scale_now;
    }
    SCS_INLINE F32<N> crossing(const Cosecant<N>& c, U32<N> phase, int step) const {
        const auto to = still(c, phase);
        const auto from = (c.quotient(phase, odd_before) - F32<N>(1.f)) * scale_before;
        return from + Form::frame(step) * each * (to - from);
    }
};

/// y[n] = x[n] + 0.999 y[n-1]
template <class Form>
class Leak {
public:
    static constexpr int N = Form::width;
    SCS_INLINE explicit Leak(float* kept) : kept_(kept), y_(Lanes::get(kept)) {}
    SCS_INLINE ~Leak() { Lanes::keep(kept_, y_); }
    Leak(const Leak&) = delete;
    Leak& operator=(const Leak&) = delete;
    SCS_INLINE void put(float* out, int step, F32<N> x) {
        if constexpr (Form::state_lanes == N) {
            y_ = x + F32<N>(0.999f) * y_;
            Form::put(out, step, y_);
        } else {
            for (int i = 0; i < N; ++i) {
                y_ = F32<1>(x[i]) + F32<1>(0.999f) * y_;
                out[step * N + i] = y_[0];
            }
        }
    }

private:
    using Lanes = Voices<Form::state_lanes>;
    float* kept_;
    F32<Form::state_lanes> y_;
};

// ---- Saw and Pulse: all harmonics below half the sample rate

template <int V>
SCS_INLINE I32<V> below_half_rate(F32<V> freq, const UnitRate& rate) {
    return bits<int32_t>(whole_phase(F64<V>(rate.samples * 0.5) / convert<double>(freq)));
}
/// The increment for a frame. A period of the sum is half a cycle of x.
template <int V>
SCS_INLINE U32<V> increment_of(F32<V> freq, const UnitRate& rate) {
    return whole_phase(convert<double>(freq) * F64<V>(rate.duration * 0x1p28));
}

template <int V>
struct AllHarmonics {
    I32<V> now, before;
    U32<V> increment;

    SCS_INLINE AllHarmonics(F32<V> freq, float* kept_freq, int32_t* kept_number, const UnitRate& rate) {
        const auto old = F32<V>::load(kept_freq);
        before = now = I32<V>::load(kept_number);
        const auto changed = freq != old;
        if (any(changed)) {
            now = select(changed, below_half_rate(freq, rate), before);
            now.store(kept_number);
            freq.store(kept_freq);
        }
        increment = increment_of(select(now != before, max(old, freq), freq), rate);
    }
};

template <int N>
struct SawState {
    static constexpr size_t items64 = 0;
    float last[N];
    float freq[N];
    int32_t harmonics[N];
    uint32_t phase[N];
};

template <class Form>
struct Saw {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<SawState<Form::state_lanes>>(op, block);
        float* out = output(op, block);
        const int n = own_steps<Form>(op, block), frames = own_frames(op, block);
        const AllHarmonics<Form::state_lanes> harmonics(Form::by_voice(input(op, block, 0)), s.freq, s.harmonics,
                                                        own_rate(op, block));
        const Sum<Form> sum(harmonics.now, harmonics.before, frames);
        EvenPhase<Form> phases(s.phase, harmonics.increment, frames);
        Leak<Form> leak(s.last);
        const auto loop = [&](auto value) {
            for (int i = 0; i < n; ++i) {
                const auto phase = phases.take();
                const Cosecant<N> c(phase);
                leak.put(out, i, select(c.peak, F32<N>(1.f), value(c, phase, i)));
            }
        };
        if (sum.any_cross)
            loop([&](const auto& c, auto phase, int i) {
                return select(sum.cross, sum.crossing(c, phase, i), sum.still(c, phase));
            });
        else
            loop([&](const auto& c, auto phase, int) { return sum.still(c, phase); });
    }
};

void start_saw(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<SawState<1>>(op, block);
    const float freq = *input(op, block, 0);
    s.freq[0] = freq;
    s.harmonics[0] = below_half_rate(F32<1>(freq), own_rate(op, block))[0];
    constexpr float begin = -0.46f;
    s.last[0] = begin;
    run_first_frame(Saw<Scalar>::run, op, block);
    s.phase[0] = 0;
    s.last[0] = begin;
}

constexpr AtBothRates<Saw, SawState, Timewise> saw{start_saw};

template <int N>
struct PulseState {
    static constexpr size_t items64 = 0;
    float last[N];
    float freq[N];
    int32_t harmonics[N];
    uint32_t phase[N];
    uint32_t width[N];
};

/// The difference of two Saws before their integration, as far apart as the pulse is wide.
template <class Form>
struct Pulse {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<PulseState<Form::state_lanes>>(op, block);
        float* out = output(op, block);
        const int n = own_steps<Form>(op, block), frames = own_frames(op, block);
        const AllHarmonics<Form::state_lanes> harmonics(Form::by_voice(input(op, block, 0)), s.freq, s.harmonics,
                                                        own_rate(op, block));
        const Sum<Form> sum(harmonics.now, harmonics.before, frames);
        constexpr int V = Form::state_lanes;
        const auto width = U32<V>::load(s.width);
        const auto next_width = whole_phase(Form::by_voice(input(op, block, 1)) * F32<V>(0x1p28f));
        const auto difference = convert<double>(bits<int32_t>(next_width - width));
        const auto width_slope = whole_phase(difference * F64<V>(1.0 / frames));
        next_width.store(s.width);
        const auto width_growth = Form::growth(width_slope);
        auto apart = Form::first(width, width_slope);
        EvenPhase<Form> phases(s.phase, harmonics.increment, frames);
        Leak<Form> leak(s.last);
        const F32<N> one(1.f), peak = one / sum.scale_now + one;
        const auto still = [&](const auto& c, auto phase)
                               SCS_INLINE_LAMBDA { return select(c.peak, peak, c.quotient(phase, sum.odd_now)); };
        const auto loop = [&](auto value) {
            for (int i = 0; i < n; ++i) {
                const auto phase = phases.take(), other = phase + apart;
                apart += width_growth;
                leak.put(out, i, value(phase, other, i));
            }
        };
        const auto steady = [&](auto phase, auto other, int) SCS_INLINE_LAMBDA {
            return (still(Cosecant<N>(phase), phase) - still(Cosecant<N>(other), other)) * sum.scale_now;
        };
        if (sum.any_cross)
            loop([&](auto phase, auto other, int i) {
                const Cosecant<N> a(phase), b(other);
                const auto changing =
                    select(a.peak, one, sum.crossing(a, phase, i)) - select(b.peak, one, sum.crossing(b, other, i));
                return select(sum.cross, changing, steady(phase, other, i));
            });
        else
            loop(steady);
    }
};

void start_pulse(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<PulseState<1>>(op, block);
    const float freq = *input(op, block, 0);
    s.freq[0] = freq;
    s.harmonics[0] = below_half_rate(F32<1>(freq), own_rate(op, block))[0];
    *output(op, block) = 0.f;
}

constexpr AtBothRates<Pulse, PulseState, Timewise> pulse{start_pulse};

// ---- Blip

template <int N>
struct BlipState {
    static constexpr size_t items64 = 0;
    float freq[N];
    int32_t wanted[N]; ///< harmonics
    int32_t harmonics[N];
    uint32_t phase[N];
};

template <class Form>
struct Blip {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<BlipState<Form::state_lanes>>(op, block);
        float* out = output(op, block);
        const UnitRate& rate = own_rate(op, block);
        const int n = own_steps<Form>(op, block), frames = own_frames(op, block);
        constexpr int V = Form::state_lanes;
        const auto freq = Form::by_voice(input(op, block, 0)), old = F32<V>::load(s.freq);
        const auto wanted = bits<int32_t>(whole_phase(Form::by_voice(input(op, block, 1))));
        const auto before = I32<V>::load(s.harmonics);
        auto harmonics = before;
        auto moves = freq;
        const auto changed = (freq != old) | (wanted != I32<V>::load(s.wanted));
        if (any(changed)) {
            const auto limit = below_half_rate(freq, rate);
            const auto too_many = wanted > limit;
            harmonics = select(changed, select(too_many, limit, max(wanted, I32<V>(1))), before);
            moves = select(changed & too_many, max(old, freq), freq);
            freq.store(s.freq);
            wanted.store(s.wanted);
            harmonics.store(s.harmonics);
        }
        const Sum<Form> sum(harmonics, before, frames);
        EvenPhase<Form> phases(s.phase, increment_of(moves, rate), frames);
        const auto loop = [&](auto value) {
            for (int i = 0; i < n; ++i) {
                const auto phase = phases.take();
                const Cosecant<N> c(phase);
                Form::put(out, i, select(c.peak, F32<N>(1.f), value(c, phase, i)));
            }
        };
        if (sum.any_cross)
            loop([&](const auto& c, auto phase, int i) {
                return select(sum.cross, sum.crossing(c, phase, i), sum.still(c, phase));
            });
        else
            loop([&](const auto& c, auto phase, int) { return sum.still(c, phase); });
    }
};

void start_blip(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<BlipState<1>>(op, block);
    const float freq = *input(op, block, 0);
    s.freq[0] = freq;
    s.wanted[0] = int_of(*input(op, block, 1));
    const int32_t limit = below_half_rate(F32<1>(freq), own_rate(op, block))[0];
    const int32_t within = s.wanted[0] > limit ? limit : s.wanted[0];
    s.harmonics[0] = within < 1 ? 1 : within;
    run_first_frame(Blip<Scalar>::run, op, block);
    s.phase[0] = 0;
}

constexpr AtBothRates<Blip, BlipState, Timewise> blip{start_blip};

constexpr NativeUgen list[] = {
    {"Blip", [](const Signature& s) { return blip.of(s); }},
    {"Pulse", [](const Signature& s) { return pulse.of(s); }},
    {"Saw", [](const Signature& s) { return saw.of(s); }},
};

} // namespace

SCS_FAMILY(band_limited)

} // namespace scs::SCS_SIMD
