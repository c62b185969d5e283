// SPDX-License-Identifier: GPL-3.0-or-later

// Oscillators that aren't band-limited. Phases are doubles that are summed up frame by frame as in SuperCollider. The
// end of a cycle is audible to the frame, and any other way of summing would now and then round to another frame.

#include "engine/simd/math.hpp"
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

/// Factor from a frequency in Hz to a phase increment; float.
template <class Form>
SCS_INLINE F32<Form::width> per_hertz(double cycle, const Op& op, const Block& block) {
    return F32<Form::width>(float(cycle * own_rate(op, block).duration));
}

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
            Form::put(out, i, next(phase, by));
        }
    } else {
        const auto by = convert<double>(Form::control(frequency) * hertz);
        for (int i = 0; i < n; ++i)
            Form::put(out, i, next(phase, by));
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
    static constexpr double cycle = 4.0, begin = 0.0;
    static constexpr bool wraps_at_start = true;
    template <int N>
    SCS_INLINE static F32<N> next(F64<N>& phase, F64<N> by) {
        const auto z = select(phase > F64<N>(1.0), F64<N>(2.0) - phase, phase);
        phase += by;
        wrap(phase, 3.0, 4.0);
        return convert<float>(z);
    }
};

struct Parabolas {
    static constexpr double cycle = 4.0, begin = 0.0;
    static constexpr bool wraps_at_start = false;
    template <int N>
    SCS_INLINE static F32<N> next(F64<N>& phase, F64<N> by) {
        const auto below = phase >= F64<N>(1.0), wraps = phase >= F64<N>(3.0);
        phase -= where(wraps, 4.0);
        const auto lower = below & ~wraps;
        const auto z = convert<float>(phase - where(lower, 2.0));
        const auto flip = bits<float>(narrow_mask(lower) & I32<N>(INT32_MIN));
        phase += by;
        return bits<float>(bits<int32_t>(F32<N>(1.f) - z * z) ^ bits<int32_t>(flip));
    }
};

struct Cubics {
    static constexpr double cycle = 2.0, begin = 0.5;
    static constexpr bool wraps_at_start = false;
    template <int N>
    SCS_INLINE static F32<N> next(F64<N>& phase, F64<N> by) {
        const auto falls = phase >= F64<N>(1.0), wraps = phase >= F64<N>(2.0);
        phase -= where(wraps, 2.0);
        const auto z = convert<float>(select(falls & ~wraps, F64<N>(2.0) - phase, phase));
        phase += by;
        return z * z * (F32<N>(6.f) - F32<N>(4.f) * z) - F32<N>(1.f);
    }
};

template <class Wave>
struct Waves {
    template <bool AudioFrequency>
    struct At {
        template <class Form>
        struct Run {
            static void run(const Op& op, Block& block) {
                auto& s = state<PhaseState<Form::width>>(op, block);
                each_frame<AudioFrequency, Form>(op, block, Wave::cycle, s.phase, [](auto& phase, auto by) {
                    return Wave::template next<Form::width>(phase, by);
                });
            }
        };
    };
    static void start(const Op& op, Block& block) {
        const double phase = double(*input(op, block, 1)) + Wave::begin;
        const bool wraps = Wave::wraps_at_start && block.space->release >= Release::v3_14;
        const double first = wraps ? phase - Wave::cycle * floor(F64<1>(phase / Wave::cycle))[0] : phase;
        start_at<PhaseState<1>>(At<false>::template Run<Scalar>::run, op, block, {{first}});
    }
    static constexpr AtBothRates<At<true>::template Run, PhaseState, Scalar> moving{start};
    static constexpr AtBothRates<At<false>::template Run, PhaseState, Scalar> held{start};
    static const Kernel* choose(const Signature& s) { return s.audio(0) ? moving.of(s) : held.of(s); }
};

// ---- LFSaw

template <class Form>
struct MovingSaw {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) {
        auto& s = state<PhaseState<N>>(op, block);
        each_frame<true, Form>(op, block, 2.0, s.phase, [](auto& phase, auto by) {
            const auto z = convert<float>(phase);
            phase += by;
            const auto above = phase >= F64<N>(1.0), below = phase <= F64<N>(-1.0);
            phase = select(above, phase - F64<N>(2.0), select(below, phase + F64<N>(2.0), phase));
            return z;
        });
    }
};

template <class Form>
struct HeldSaw {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) {
        auto& s = state<PhaseState<N>>(op, block);
        const auto by = convert<double>(Form::control(input(op, block, 0)) * per_hertz<Form>(2.0, op, block));
        // A falling saw is computed as a rising one and inverted, so that only one end has to be checked.
        const auto falls = ~(by >= F64<N>(0.0));
        const auto turn = falls & I64<N>(INT64_MIN);
        const auto turned = [&](F64<N> x) { return bits<double>(bits<int64_t>(x) ^ turn); };
        const auto rise = turned(by);
        auto phase = turned(Form::get(s.phase));
        float* out = output(op, block);
        for (int i = 0, n = own_steps<Form>(op, block); i < n; ++i) {
            Form::put(out, i, convert<float>(turned(phase)));
            phase += rise;
            wrap(phase, 1.0, 2.0);
        }
        Form::keep(s.phase, turned(phase));
    }
};

void start_saw(const Op& op, Block& block) {
    start_at<PhaseState<1>>(HeldSaw<Scalar>::run, op, block, {{double(*input(op, block, 1))}});
}

constexpr AtBothRates<MovingSaw, PhaseState, Scalar> moving_saw{start_saw};
constexpr AtBothRates<HeldSaw, PhaseState, Scalar> held_saw{start_saw};

// ---- LFPulse

template <int N>
struct PulseState {
    static constexpr size_t items64 = 1;
    double phase[N];
    float width[N];
};

template <bool AudioFrequency>
struct Pulse {
    template <class Form>
    struct Run {
        static constexpr int N = Form::width;
        static void run(const Op& op, Block& block) {
            auto& s = state<PulseState<N>>(op, block);
            const auto next_width = convert<double>(Form::control(input(op, block, 2)));
            auto width = convert<double>(Form::get(s.width));
            each_frame<AudioFrequency, Form>(op, block, 1.0, s.phase, [&](auto& phase, auto by) {
                const auto wraps = phase >= F64<N>(1.0);
                phase -= where(wraps, 1.0);
                width = select(wraps, next_width, width);
                // Each level lasts at least one frame of a cycle.
                const auto high = select(wraps, width <= F64<N>(0.5), phase < width);
                phase += by;
                return bits<float>(narrow_mask(high) & bits<int32_t>(F32<N>(1.f)));
            });
            Form::keep(s.width, convert<float>(width));
        }
    };
    static void start(const Op& op, Block& block) {
        start_at<PulseState<1>>(Pulse<false>::Run<Scalar>::run, op, block,
                                {{double(*input(op, block, 1))}, {*input(op, block, 2)}});
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
        static void run(const Op& op, Block& block) {
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
                if (any(wraps))
                    phase = select(wraps, (leader + F64<N>(1.0)) * by / leader_by - F64<N>(1.0), phase);
                Form::put(out, i, z);
            }
            Form::keep(s.leader, leader);
            Form::keep(s.phase, phase);
        }
    };
    static void start(const Op& op, Block& block) {
        run_first_frame(SyncSaw<false, false>::Run<Scalar>::run, op, block);
    }
    static constexpr AtBothRates<Run, SyncState, Scalar> kernels{start};
};

template <bool AudioLeader>
const Kernel* choose_sync_saw(const Signature& s) {
    return s.audio(1) ? SyncSaw<AudioLeader, true>::kernels.of(s) : SyncSaw<AudioLeader, false>::kernels.of(s);
}

constexpr NativeUgen list[] = {
    {"LFCub", Waves<Cubics>::choose},
    {"LFPar", Waves<Parabolas>::choose},
    {"LFPulse",
     [](const Signature& s) { return s.audio(0) ? Pulse<true>::kernels.of(s) : Pulse<false>::kernels.of(s); }},
    {"LFSaw", [](const Signature& s) { return s.audio(0) ? moving_saw.of(s) : held_saw.of(s); }},
    {"LFTri", Waves<Triangle>::choose},
    {"SyncSaw", [](const Signature& s) { return s.audio(0) ? choose_sync_saw<true>(s) : choose_sync_saw<false>(s); }},
};

} // namespace

SCS_FAMILY(low_frequency)

} // namespace scs::SCS_SIMD
