// SPDX-License-Identifier: GPL-3.0-or-later

// Oscillators that aren't band-limited. Phases are doubles that are summed up frame by frame as in SuperCollider. The
// end of a cycle is audible to the frame, and any other way of summing would now and then round to another frame.
//
// SuperCollider subtracts a cycle where a phase has passed the end of its own. With a negative frequency, or one above
// the sample rate, its phases run away, and the samples with them. Here they are brought back from anywhere.

#include "engine/simd/math.hpp"
#include "engine/ugens/each-sample.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"

namespace scs::SCS_SIMD {
namespace {

template <int N>
struct PhaseState {
    static constexpr size_t items64 = 1;
    double phase[N];
};

/// x in lanes whose mask is set, else 0.
template <int N>
SCS_INLINE F64<N> where(I64<N> mask, double x) {
    return bits<double>(mask & bits<int64_t>(F64<N>(x)));
}
/// Subtracts a cycle where a phase has reached the end.
template <int N>
SCS_INLINE void wrap(F64<N>& phase, double end, double cycle) {
    if constexpr (N == 1) {
        if (phase.part[0] >= end) [[unlikely]]
            phase.part[0] -= cycle;
    } else {
        phase -= where(phase >= F64<N>(end), cycle);
    }
}

/// Brings phases that are outside of a cycle back into it. Exact, as cycles are powers of two.
template <int N>
SCS_INLINE void bring_back(F64<N>& phase, I64<N> outside, double low, double cycle) {
    if (any(outside)) [[unlikely]]
        phase = select(outside, phase - floor((phase - F64<N>(low)) * F64<N>(1.0 / cycle)) * F64<N>(cycle), phase);
}
/// The same for the cycle that `Wave` has.
template <class Wave, int N>
SCS_INLINE void bring_back(F64<N>& phase) {
    bring_back(phase, ~((phase >= F64<N>(Wave::low)) & (phase < F64<N>(Wave::low + Wave::cycle))), Wave::low,
               Wave::cycle);
}
/// Saws are from -1 to 1, both included.
template <int N>
SCS_INLINE void bring_back_saw(F64<N>& phase) {
    bring_back(phase, (phase > F64<N>(1.0)) | (phase < F64<N>(-1.0)), -1.0, 2.0);
}

/// Factor from a frequency in Hz to a phase increment; float.
template <class Form>
SCS_INLINE F32<Form::width> per_hertz(double cycle, const Op& op, const Block& block) {
    return F32<Form::width>(float(cycle * own_rate(op, block).duration));
}

template <bool Any>
struct Strays {
    static constexpr bool value = Any;
};

/// Calls next(phase, increment, strays) for each frame; `strays`, a type with a `value`: whether the phase may leave
/// its cycle otherwise than at its end, by less than half of it.
template <bool AudioFrequency, class Form, class Next>
SCS_INLINE void each_frame(const Op& op, const Block& block, double cycle, double* kept, Next&& next) {
    const float* frequency = input(op, block, 0);
    float* out = output(op, block);
    const auto hertz = per_hertz<Form>(cycle, op, block);
    auto phase = Form::get(kept);
    const int n = own_steps<Form>(op, block);
    if constexpr (AudioFrequency) {
        for (int i = 0; i < n; ++i) {
            const auto by = convert<double>(Form::audio(frequency, i) * hertz);
            Form::put(out, i, next(phase, by, Strays<true>()));
        }
    } else {
        const auto by = convert<double>(Form::control(frequency) * hertz);
        const auto run = [&](auto strays) {
            for (int i = 0; i < n; ++i)
                Form::put(out, i, next(phase, by, strays));
        };
        constexpr int N = Form::width;
        if (all((by >= F64<N>(0.0)) & (by < F64<N>(0.5 * cycle)))) [[likely]]
            run(Strays<false>());
        else
            run(Strays<true>());
    }
    Form::keep(kept, phase);
}

/// Starts with a state, and computes the first frame from it. Until 3.13 that frame changes the state.
template <class State>
void start_at(KernelFunction run, const Op& op, Block& block, const State& first) {
    state<State>(op, block) = first;
    run_first_frame(run, op, block);
    if (block.space->release >= Release::v3_14)
        state<State>(op, block) = first;
}

// ---- LFTri, LFPar, LFCub

struct Triangle {
    static constexpr double cycle = 4.0, low = -1.0, begin = 0.0;
    template <class Strays, int N>
    SCS_INLINE static F32<N> next(F64<N>& phase, F64<N> by) {
        const auto z = select(phase > F64<N>(1.0), F64<N>(2.0) - phase, phase);
        phase += by;
        wrap(phase, 3.0, 4.0);
        if constexpr (Strays::value)
            bring_back<Triangle>(phase);
        return convert<float>(z);
    }
};

struct Parabolas {
    static constexpr double cycle = 4.0, low = -1.0, begin = 0.0;
    template <class Strays, int N>
    SCS_INLINE static F32<N> next(F64<N>& phase, F64<N> by) {
        const auto below = phase >= F64<N>(1.0), wraps = phase >= F64<N>(3.0);
        phase -= where(wraps, 4.0);
        const auto lower = below & ~wraps;
        const auto z = convert<float>(phase - where(lower, 2.0));
        const auto flip = bits<float>(narrow_mask(lower) & I32<N>(INT32_MIN));
        phase += by;
        if constexpr (Strays::value)
            bring_back<Parabolas>(phase);
        return bits<float>(bits<int32_t>(F32<N>(1.f) - z * z) ^ bits<int32_t>(flip));
    }
};

struct Cubics {
    static constexpr double cycle = 2.0, low = 0.0, begin = 0.5;
    template <class Strays, int N>
    SCS_INLINE static F32<N> next(F64<N>& phase, F64<N> by) {
        const auto falls = phase >= F64<N>(1.0), wraps = phase >= F64<N>(2.0);
        phase -= where(wraps, 2.0);
        const auto z = convert<float>(select(falls & ~wraps, F64<N>(2.0) - phase, phase));
        phase += by;
        if constexpr (Strays::value)
            bring_back<Cubics>(phase);
        return z * z * (F32<N>(6.f) - F32<N>(4.f) * z) - F32<N>(1.f);
    }
};

template <class Wave>
struct Waves {
    template <bool AudioFrequency>
    struct At {
        template <class Form>
        struct Run {
            static void run(const Op& op, Block& block) SCS_NONBLOCKING {
                auto& s = state<PhaseState<Form::width>>(op, block);
                each_frame<AudioFrequency, Form>(
                    op, block, Wave::cycle, s.phase, [](auto& phase, auto by, auto strays) {
                        return Wave::template next<decltype(strays), Form::width>(phase, by);
                    });
            }
        };
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        F64<1> phase(double(*input(op, block, 1)) + Wave::begin);
        bring_back<Wave>(phase);
        start_at<PhaseState<1>>(At<false>::template Run<Scalar>::run, op, block, {{phase[0]}});
    }
    static constexpr AtBothRates<At<true>::template Run, PhaseState, Scalar> moving{start};
    static constexpr AtBothRates<At<false>::template Run, PhaseState, Scalar> held{start};
    static const Kernel* choose(const Signature& s) { return s.audio(0) ? moving.of(s) : held.of(s); }
};

// ---- LFSaw. Fine: with a second output, what the samples are off by (see synthdef/fine-phases.hpp).

template <class Form, bool Fine = false>
struct MovingSaw {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<PhaseState<N>>(op, block);
        float* const rests = Fine ? output(op, block, 1) : nullptr;
        int i = 0;
        each_frame<true, Form>(op, block, 2.0, s.phase, [&](auto& phase, auto by, auto) {
            const auto z = convert<float>(phase);
            if constexpr (Fine)
                Form::put(rests, i++, rest(phase));
            phase += by;
            const auto above = phase >= F64<N>(1.0), below = phase <= F64<N>(-1.0);
            phase = select(above, phase - F64<N>(2.0), select(below, phase + F64<N>(2.0), phase));
            bring_back_saw(phase);
            return z;
        });
    }
};

template <class Form, bool Fine = false>
struct HeldSaw {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<PhaseState<N>>(op, block);
        const auto by = convert<double>(Form::control(input(op, block, 0)) * per_hertz<Form>(2.0, op, block));
        // A falling saw is computed as a rising one and inverted, so that only one end has to be checked.
        const auto falls = ~(by >= F64<N>(0.0));
        const auto turn = falls & I64<N>(INT64_MIN);
        const auto turned = [&](F64<N> x) { return bits<double>(bits<int64_t>(x) ^ turn); };
        const auto rise = turned(by);
        auto phase = turned(Form::get(s.phase));
        float* out = output(op, block);
        float* const rests = Fine ? output(op, block, 1) : nullptr;
        const auto run = [&](auto strays) {
            for (int i = 0, n = own_steps<Form>(op, block); i < n; ++i) {
                Form::put(out, i, convert<float>(turned(phase)));
                if constexpr (Fine)
                    Form::put(rests, i, rest(turned(phase)));
                phase += rise;
                wrap(phase, 1.0, 2.0);
                if constexpr (decltype(strays)::value)
                    bring_back_saw(phase);
            }
        };
        if (all(rise < F64<N>(1.0))) [[likely]]
            run(Strays<false>());
        else
            run(Strays<true>());
        Form::keep(s.phase, turned(phase));
    }
};

template <bool Fine>
struct Saw {
    template <class Form>
    using Moving = MovingSaw<Form, Fine>;
    template <class Form>
    using Held = HeldSaw<Form, Fine>;
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        F64<1> phase(double(*input(op, block, 1)));
        bring_back_saw(phase);
        start_at<PhaseState<1>>(Held<Scalar>::run, op, block, {{phase[0]}});
    }
    static constexpr AtBothRates<Moving, PhaseState, Scalar> moving{start};
    static constexpr AtBothRates<Held, PhaseState, Scalar> held{start};
    static const Kernel* choose(const Signature& s) { return s.audio(0) ? moving.of(s) : held.of(s); }
};

// ---- LFPulse

template <int N>
struct PulseState {
    static constexpr size_t items64 = 1;
    double phase[N];
    float width[N];
};

template <bool AudioFrequency>
struct Pulse {
    /// Not in a cycle, nor at its end, where the next one begins.
    template <int N>
    SCS_INLINE static I64<N> far_off(F64<N> phase, F64<N> by) {
        return ~((phase >= F64<N>(0.0)) & (phase < F64<N>(2.0)) & (by < F64<N>(1.0)));
    }
    template <class Form>
    struct Run {
        static constexpr int N = Form::width;
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<PulseState<N>>(op, block);
            const auto next_width = convert<double>(Form::control(input(op, block, 2)));
            auto width = convert<double>(Form::get(s.width));
            each_frame<AudioFrequency, Form>(op, block, 1.0, s.phase, [&](auto& phase, auto by, auto strays) {
                const auto wraps = phase >= F64<N>(1.0);
                phase -= where(wraps, 1.0);
                width = select(wraps, next_width, width);
                // Each level lasts at least one frame of a cycle.
                const auto high = select(wraps, width <= F64<N>(0.5), phase < width);
                phase += by;
                if constexpr (decltype(strays)::value) {
                    const auto far = far_off(phase, by);
                    bring_back(phase, far, 0.0, 1.0);
                    width = select(far, next_width, width);
                }
                return bits<float>(narrow_mask(high) & bits<int32_t>(F32<N>(1.f)));
            });
            Form::keep(s.width, convert<float>(width));
        }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        F64<1> phase(double(*input(op, block, 1)));
        bring_back(phase, far_off(phase, F64<1>(0.0)), 0.0, 1.0);
        start_at<PulseState<1>>(Pulse<false>::Run<Scalar>::run, op, block, {{phase[0]}, {*input(op, block, 2)}});
    }
    static constexpr AtBothRates<Run, PulseState, Scalar> kernels{start};
};

// ---- SyncSaw: a saw that restarts whenever another saw ends its cycle

template <int N>
struct SyncState {
    static constexpr size_t items64 = 2;
    double leader[N], phase[N];
};

template <bool AudioLeader, bool AudioFrequency>
struct SyncSaw {
    template <class Form>
    struct Run {
        static constexpr int N = Form::width;
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<SyncState<N>>(op, block);
            const float *leads = input(op, block, 0), *frequency = input(op, block, 1);
            float* out = output(op, block);
            const auto hertz = per_hertz<Form>(2.0, op, block);
            const auto leader_held = Form::control(leads), held = Form::control(frequency);
            auto leader = Form::get(s.leader), phase = Form::get(s.phase);
            for (int i = 0, n = own_frames(op, block); i < n; ++i) {
                const auto leader_by = convert<double>((AudioLeader ? Form::audio(leads, i) : leader_held) * hertz);
                const auto by = convert<double>((AudioFrequency ? Form::audio(frequency, i) : held) * hertz);
                const auto z = convert<float>(phase);
                phase += by;
                wrap(phase, 1.0, 2.0);
                leader += leader_by;
                const auto wraps = leader >= F64<N>(1.0);
                leader -= where(wraps, 2.0);
                bring_back_saw(leader);
                if (any(wraps))
                    phase = select(wraps, (leader + F64<N>(1.0)) * by / leader_by - F64<N>(1.0), phase);
                bring_back_saw(phase);
                Form::put(out, i, z);
            }
            Form::keep(s.leader, leader);
            Form::keep(s.phase, phase);
        }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        run_first_frame(SyncSaw<false, false>::Run<Scalar>::run, op, block);
    }
    static constexpr AtBothRates<Run, SyncState, Scalar> kernels{start};
};

template <bool AudioLeader>
const Kernel* choose_sync_saw(const Signature& s) {
    return s.audio(1) ? SyncSaw<AudioLeader, true>::kernels.of(s) : SyncSaw<AudioLeader, false>::kernels.of(s);
}

constexpr NativeUgen list[] = {
    {"LFCub", Waves<Cubics>::choose, Gives::nothing, true},
    {"LFPar", Waves<Parabolas>::choose, Gives::nothing, true},
    {"LFPulse",
     [](const Signature& s) { return s.audio(0) ? Pulse<true>::kernels.of(s) : Pulse<false>::kernels.of(s); },
     Gives::nothing, true},
    {"LFSaw", [](const Signature& s) { return s.outputs == 2 ? Saw<true>::choose(s) : Saw<false>::choose(s); },
     Gives::nothing, true},
    {"LFTri", Waves<Triangle>::choose, Gives::nothing, true},
    {"SyncSaw", [](const Signature& s) { return s.audio(0) ? choose_sync_saw<true>(s) : choose_sync_saw<false>(s); },
     Gives::nothing, true},
};

} // namespace

SCS_FAMILY(low_frequency)

} // namespace scs::SCS_SIMD
