// SPDX-License-Identifier: GPL-3.0-or-later

// Oscillators of a limited number of harmonics, from the closed form of a sum of cosines: with N of them,
// sin((2N+1)x) / sin(x) = 1 + 2 cos(2x) + ... + 2 cos(2Nx). SuperCollider takes the sines from tables between whose
// entries it draws straight lines. This computes what it finds there.

#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/table-phase.hpp"

namespace scs::SCS_SIMD {
namespace {

// ---- the quotient

template <int N>
SCS_INLINE F32<N> between_entries(U32<N> phase) {
    return convert<float>(bits<int32_t>(phase & U32<N>(0xffffu))) * F32<N>(0x1p-16f);
}

/// From the table: a line's distance from the arc is the arc times this, a half of the squared angle between entries.
template <int N>
SCS_INLINE F32<N> table_sine(U32<N> phase) {
    const auto x = sine(phase), t = between_entries(phase);
    return x - x * ((t - t * t) * F32<N>(2.9413413e-7f));
}

/// 1/sin(x) as SuperCollider has it: from a table of cosecants, but around zero, where that isn't of use, from one of
/// sines; nothing (`peak`) at zero.
template <int N>
struct Cosecant {
    F32<N> top, bottom;
    typename F32<N>::Mask peak;
    SCS_INLINE explicit Cosecant(U32<N> phase) {
        const U32<N> entry = phase & U32<N>(0xffff0000u);
        const auto a = sine(entry), b = sine(entry + U32<N>(0x10000u)), t = between_entries(phase);
        const auto index = bits<int32_t>((phase >> 16) & U32<N>(4095u));
        const auto near = (index < I32<N>(9)) | (index > I32<N>(4086));
        const auto line = a + (b - a) * t;
        top = select(near, F32<N>(1.f), b + (a - b) * t);
        bottom = select(near, line, a * b);
        peak = near & (abs(line) < F32<N>(0.0005f));
    }
    /// sin(odd x)/sin(x)
    SCS_INLINE F32<N> quotient(U32<N> phase, U32<N> odd) const { return table_sine(phase * odd) * top / bottom; }
};

template <int N>
SCS_INLINE U32<N> odd(I32<N> harmonics) {
    return bits<uint32_t>(harmonics + harmonics + I32<N>(1));
}
template <int N>
SCS_INLINE F32<N> scale_of(I32<N> harmonics) {
    return convert<float>(F64<N>(0.5) / convert<double>(harmonics));
}

/// The harmonics' sum, 1 at its peak; for lanes that `cross` on the way from another number of harmonics.
template <class Form>
struct Sum {
    static constexpr int N = Form::width;
    U32<N> odd_now, odd_before;
    F32<N> scale_now, scale_before, each;
    typename F32<N>::Mask cross;

    SCS_INLINE Sum(I32<N> harmonics, I32<N> before, typename F32<N>::Mask crossing, int frames)
        : odd_now(odd(harmonics)), odd_before(odd(before)), scale_now(scale_of(harmonics)),
          scale_before(scale_of(before)), each(1.f / float(frames)), cross(crossing) {}
    SCS_INLINE F32<N> still(const Cosecant<N>& c, U32<N> phase) const {
        return (c.quotient(phase, odd_now) - F32<N>(1.f)) * scale_now;
    }
    SCS_INLINE F32<N> crossing(const Cosecant<N>& c, U32<N> phase, int step) const {
        const auto to = still(c, phase);
        const auto from = (c.quotient(phase, odd_before) - F32<N>(1.f)) * scale_before;
        return from + Form::frame(step) * each * (to - from);
    }
};

/// y[n] = x[n] + 0.999 y[n-1], in double: as floats the sums would each be rounded in another way than
/// SuperCollider's.
template <class Form>
class Leak {
public:
    static constexpr int N = Form::width;
    static constexpr double stays = double(0.999f);
    SCS_INLINE explicit Leak(double* kept) : kept_(kept), y_(Lanes::get(kept)) {}
    SCS_INLINE ~Leak() { Lanes::keep(kept_, y_); }
    Leak(const Leak&) = delete;
    Leak& operator=(const Leak&) = delete;
    SCS_INLINE void put(float* out, int step, F32<N> x) {
        if constexpr (Form::state_lanes == N) {
            y_ = convert<double>(x) + F64<N>(stays) * y_;
            Form::put(out, step, convert<float>(y_));
        } else {
            for (int i = 0; i < N; ++i) {
                y_ = F64<1>(double(x[i])) + F64<1>(stays) * y_;
                out[step * N + i] = float(y_[0]);
            }
        }
    }

private:
    using Lanes = Voices<Form::state_lanes>;
    double* kept_;
    F64<Form::state_lanes> y_;
};

// ---- Saw and Pulse: how many harmonics there are below the half of the sample rate

template <class Form>
struct AllHarmonics {
    static constexpr int N = Form::width;
    I32<N> now, before;
    typename F32<N>::Mask cross;
    U32<N> by; ///< phase a frame; half a cycle is a period

    SCS_INLINE static I32<N> below_half_rate(F32<N> freq, const UnitRate& rate) {
        return bits<int32_t>(whole_phase(F64<N>(rate.samples * 0.5) / convert<double>(freq)));
    }
    SCS_INLINE AllHarmonics(F32<N> freq, float* kept_freq, int32_t* kept_number, const UnitRate& rate) {
        const auto old = Form::get(kept_freq);
        before = now = Form::get(kept_number);
        const auto changed = freq != old;
        if (any(changed)) {
            now = select(changed, below_half_rate(freq, rate), before);
            Form::keep(kept_number, now);
            Form::keep(kept_freq, freq);
        }
        cross = now != before;
        by = whole_phase(convert<double>(select(cross, max(old, freq), freq)) * F64<N>(rate.duration * 0x1p28));
    }
};

template <int N>
struct SawState {
    static constexpr size_t items64 = 1;
    double last[N];
    float freq[N];
    int32_t harmonics[N];
    uint32_t phase[N];
};

template <class Form>
struct Saw {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) {
        auto& s = state<SawState<Form::state_lanes>>(op, block);
        float* out = output(op, block);
        const int n = own_steps<Form>(op, block), frames = own_frames(op, block);
        const AllHarmonics<Form> harmonics(Form::control(input(op, block, 0)), s.freq, s.harmonics,
                                           own_rate(op, block));
        const Sum<Form> sum(harmonics.now, harmonics.before, harmonics.cross, frames);
        EvenPhase<Form> phases(s.phase, harmonics.by, frames);
        Leak<Form> leak(s.last);
        const auto loop = [&](auto value) {
            for (int i = 0; i < n; ++i) {
                const auto phase = phases.take();
                const Cosecant<N> c(phase);
                leak.put(out, i, select(c.peak, F32<N>(1.f), value(c, phase, i)));
            }
        };
        if (any(sum.cross))
            loop([&](const auto& c, auto phase, int i) {
                return select(sum.cross, sum.crossing(c, phase, i), sum.still(c, phase));
            });
        else
            loop([&](const auto& c, auto phase, int) { return sum.still(c, phase); });
    }
};

void start_saw(const Op& op, Block& block) {
    auto& s = state<SawState<1>>(op, block);
    const float freq = *input(op, block, 0);
    s.freq[0] = freq;
    s.harmonics[0] = AllHarmonics<Scalar>::below_half_rate(F32<1>(freq), own_rate(op, block))[0];
    constexpr double begin = double(-0.46f);
    s.last[0] = begin;
    run_first_frame(Saw<Scalar>::run, op, block);
    s.phase[0] = 0;
    s.last[0] = begin;
}

constexpr AtBothRates<Saw, SawState, Timewise> saw{start_saw};

template <int N>
struct PulseState {
    static constexpr size_t items64 = 1;
    double last[N];
    float freq[N];
    int32_t harmonics[N];
    uint32_t phase[N];
    uint32_t width[N];
};

/// The difference of two saws' slopes, as far apart as the pulse is wide.
template <class Form>
struct Pulse {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) {
        auto& s = state<PulseState<Form::state_lanes>>(op, block);
        float* out = output(op, block);
        const int n = own_steps<Form>(op, block), frames = own_frames(op, block);
        const AllHarmonics<Form> harmonics(Form::control(input(op, block, 0)), s.freq, s.harmonics,
                                           own_rate(op, block));
        const Sum<Form> sum(harmonics.now, harmonics.before, harmonics.cross, frames);
        const auto width = Form::get(s.width);
        const auto next_width = whole_phase(Form::control(input(op, block, 1)) * F32<N>(0x1p28f));
        const auto difference = convert<double>(bits<int32_t>(next_width - width));
        const auto width_slope = whole_phase(difference * F64<N>(1.0 / frames));
        Form::keep(s.width, next_width);
        const auto width_growth = Form::growth(width_slope);
        auto apart = Form::first(width, width_slope);
        EvenPhase<Form> phases(s.phase, harmonics.by, frames);
        Leak<Form> leak(s.last);
        const F32<N> one(1.f), peak = one / sum.scale_now + one;
        const auto still = [&](const auto& c, auto phase) {
            return select(c.peak, peak, c.quotient(phase, sum.odd_now));
        };
        const auto loop = [&](auto value) {
            for (int i = 0; i < n; ++i) {
                const auto phase = phases.take(), other = phase + apart;
                apart += width_growth;
                leak.put(out, i, value(phase, other, i));
            }
        };
        const auto steady = [&](auto phase, auto other, int) {
            return (still(Cosecant<N>(phase), phase) - still(Cosecant<N>(other), other)) * sum.scale_now;
        };
        if (any(sum.cross))
            loop([&](auto phase, auto other, int i) {
                const Cosecant<N> a(phase), b(other);
                const auto changing = select(a.peak, one, sum.crossing(a, phase, i)) -
                                      select(b.peak, one, sum.crossing(b, other, i));
                return select(sum.cross, changing, steady(phase, other, i));
            });
        else
            loop(steady);
    }
};

void start_pulse(const Op& op, Block& block) {
    auto& s = state<PulseState<1>>(op, block);
    const float freq = *input(op, block, 0);
    s.freq[0] = freq;
    s.harmonics[0] = AllHarmonics<Scalar>::below_half_rate(F32<1>(freq), own_rate(op, block))[0];
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

template <int N>
SCS_INLINE I32<N> most(F32<N> freq, const UnitRate& rate) {
    return bits<int32_t>(whole_phase(F64<N>(rate.samples * 0.5) / convert<double>(freq)));
}

template <class Form>
struct Blip {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) {
        auto& s = state<BlipState<Form::state_lanes>>(op, block);
        float* out = output(op, block);
        const UnitRate& rate = own_rate(op, block);
        const int n = own_steps<Form>(op, block), frames = own_frames(op, block);
        const auto freq = Form::control(input(op, block, 0)), old = Form::get(s.freq);
        const auto wanted = bits<int32_t>(whole_phase(Form::control(input(op, block, 1))));
        const auto before = Form::get(s.harmonics);
        auto harmonics = before;
        auto moves = freq;
        const auto changed = (freq != old) | (wanted != Form::get(s.wanted));
        if (any(changed)) {
            const auto limit = most(freq, rate);
            const auto too_many = wanted > limit;
            harmonics = select(changed, select(too_many, limit, max(wanted, I32<N>(1))), before);
            moves = select(changed & too_many, max(old, freq), freq);
            Form::keep(s.freq, freq);
            Form::keep(s.wanted, wanted);
            Form::keep(s.harmonics, harmonics);
        }
        const Sum<Form> sum(harmonics, before, harmonics != before, frames);
        EvenPhase<Form> phases(s.phase, whole_phase(convert<double>(moves) * F64<N>(rate.duration * 0x1p28)), frames);
        const auto loop = [&](auto value) {
            for (int i = 0; i < n; ++i) {
                const auto phase = phases.take();
                const Cosecant<N> c(phase);
                Form::put(out, i, select(c.peak, F32<N>(1.f), value(c, phase, i)));
            }
        };
        if (any(sum.cross))
            loop([&](const auto& c, auto phase, int i) {
                return select(sum.cross, sum.crossing(c, phase, i), sum.still(c, phase));
            });
        else
            loop([&](const auto& c, auto phase, int) { return sum.still(c, phase); });
    }
};

void start_blip(const Op& op, Block& block) {
    auto& s = state<BlipState<1>>(op, block);
    const float freq = *input(op, block, 0);
    s.freq[0] = freq;
    s.wanted[0] = int_of(*input(op, block, 1));
    const int32_t limit = most(F32<1>(freq), own_rate(op, block))[0];
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

const std::span<const NativeUgen> band_limited = list;

} // namespace scs::SCS_SIMD
