// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/taus88.hpp"

namespace scs::SCS_SIMD {
namespace {

// ---- one number at the start

struct Even {
    static constexpr bool stale_edge = false;
    SCS_INLINE static float draw(Taus88& random, float low, float high) {
        return random.unipolar() * (high - low) + low;
    }
};
struct Exponential {
    static constexpr bool stale_edge = true;
    SCS_INLINE static float draw(Taus88& random, float low, float high) {
        return pow(F32<1>(high / low), F32<1>(random.unipolar()))[0] * low;
    }
};
struct Whole {
    static constexpr bool stale_edge = true;
    SCS_INLINE static float draw(Taus88& random, float low, float high) {
        // Unsigned: a range larger than an int wraps around.
        const auto from = uint32_t(int_of(low));
        const auto range = int32_t(uint32_t(int_of(high)) - from + 1u);
        const auto drawn = uint32_t(int32_t(floor(F64<1>(double(range) * random.fine()))[0]));
        return float(int32_t(from + drawn));
    }
};

template <class Kind>
void start_between(const Op& op, Block& block) SCS_NONBLOCKING {
    Taus88 random(block);
    *output(op, block) = Kind::draw(random, *input(op, block, 0), *input(op, block, 1));
}

void start_lin_rand(const Op& op, Block& block) SCS_NONBLOCKING {
    const float low = *input(op, block, 0), high = *input(op, block, 1);
    Taus88 random(block);
    const float a = random.unipolar(), b = random.unipolar();
    const bool smaller = int_of(*input(op, block, 2)) <= 0;
    *output(op, block) = ((a < b) == smaller ? a : b) * (high - low) + low;
}

void start_n_rand(const Op& op, Block& block) SCS_NONBLOCKING {
    constexpr int most = 1024; // a limit on the time; the result is the mean by then anyway
    const float low = *input(op, block, 0), high = *input(op, block, 1);
    const int32_t wanted = int_of(*input(op, block, 2)), count = wanted < most ? wanted : most;
    Taus88 random(block);
    float sum = 0.f;
    for (int32_t i = 0; i < count; ++i)
        sum += random.unipolar();
    *output(op, block) = sum / float(count) * (high - low) + low;
}

constexpr Kernel starts_only(KernelFunction start, int64_t cost = Kernel().start_cost) {
    Kernel made;
    made.start = start;
    made.start_cost = cost;
    return made;
}

constexpr Kernel exp_rand = starts_only(start_between<Exponential>);
constexpr Kernel i_rand = starts_only(start_between<Whole>);
constexpr Kernel lin_rand = starts_only(start_lin_rand);
constexpr Kernel n_rand = starts_only(start_n_rand, 3000);
constexpr Kernel rand = starts_only(start_between<Even>);

// ---- at triggers

template <int N>
struct TriggerState {
    static constexpr size_t items64 = 0;
    float previous[N];
};

template <int L>
struct RandSeed {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<TriggerState<L>>(op, block);
        const int n = own_frames(op, block);
        each_lane<L>(block, [&](int lane) {
            const LaneIn<L> trigger(op, block, 0, lane), seed(op, block, 1, lane);
            float* out = output(op, block) + lane;
            float previous = s.previous[lane];
            for (int i = 0; i < n; ++i) {
                const float now = trigger.at(i);
                if (now > 0.f && previous <= 0.f)
                    Taus88(block).seed(int_of(seed.at(i)));
                previous = now;
                out[i * L] = 0.f;
            }
            s.previous[lane] = previous;
        });
    }
    static void start(const Op& op, Block& block) SCS_NONBLOCKING { run_first_frame(RandSeed<1>::run, op, block); }
};

constexpr Kernel rand_seed = drawing<RandSeed, TriggerState>(RandSeed<1>::start);

template <int L>
struct CoinGate {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<TriggerState<L>>(op, block);
        const int n = own_frames(op, block);
        each_lane<L>(block, [&](int lane) {
            const float chance = input(op, block, 0)[lane];
            const LaneIn<L> trigger(op, block, 1, lane);
            float* out = output(op, block) + lane;
            Taus88 random(block);
            float previous = s.previous[lane];
            for (int i = 0; i < n; ++i) {
                const float now = trigger.at(i);
                const bool passes = now > 0.f && previous <= 0.f && random.unipolar() < chance;
                previous = now;
                out[i * L] = passes ? now : 0.f;
            }
            s.previous[lane] = previous;
        });
    }
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        state<TriggerState<1>>(op, block).previous[0] = *input(op, block, 1);
        *output(op, block) = 0.f;
    }
};

constexpr Kernel coin_gate = drawing<CoinGate, TriggerState>(CoinGate<1>::start);

template <int N>
struct HeldState {
    static constexpr size_t items64 = 0;
    float previous[N], value[N];
};

/// TRand, TExpRand, TIRand. A trigger is a sample above 0 after one that wasn't. Kinds with `stale_edge` compare with
/// the last frame of the previous block instead, as in SuperCollider, and so draw in every frame above 0.
template <class Kind>
struct Triggered {
    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<HeldState<L>>(op, block);
            const int n = own_frames(op, block);
            // Both bounds are read frame by frame if the lower one is at audio rate.
            const bool moving = is_audio(op, 0);
            each_lane<L>(block, [&](int lane) {
                const LaneIn<L> low(op, block, 0, lane), high(op, block, 1, lane), trigger(op, block, 2, lane);
                float* out = output(op, block) + lane;
                Taus88 random(block);
                float previous = s.previous[lane], value = s.value[lane], now = previous;
                for (int i = 0; i < n; ++i) {
                    now = trigger.at(i);
                    if (now > 0.f && previous <= 0.f)
                        value = Kind::draw(random, low.at(moving ? i : 0), high.at(moving ? i : 0));
                    if (!Kind::stale_edge)
                        previous = now;
                    out[i * L] = value;
                }
                s.previous[lane] = now;
                s.value[lane] = value;
            });
        }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<HeldState<1>>(op, block);
        Taus88 random(block);
        s.value[0] = *output(op, block) = Kind::draw(random, *input(op, block, 0), *input(op, block, 1));
        s.previous[0] = *input(op, block, 2);
    }
    static constexpr Kernel kernel = drawing<Run, HeldState>(start);
    static const Kernel* choose(const Signature&) { return &kernel; }
};

constexpr NativeUgen list[] = {
    {"CoinGate", [](const Signature&) { return &coin_gate; }},
    {"ExpRand", [](const Signature&) { return &exp_rand; }},
    {"IRand", [](const Signature&) { return &i_rand; }},
    {"LinRand", [](const Signature&) { return &lin_rand; }},
    {"NRand", [](const Signature&) { return &n_rand; }},
    {"Rand", [](const Signature&) { return &rand; }},
    {"RandID", nullptr, Gives::generator},
    {"RandSeed",
     [](const Signature& s) -> const Kernel* { return s.inputs[1].rate != Rate::demand ? &rand_seed : nullptr; }},
    {"TExpRand", Triggered<Exponential>::choose},
    {"TIRand", Triggered<Whole>::choose},
    {"TRand", Triggered<Even>::choose},
};

} // namespace

SCS_FAMILY(random)

} // namespace scs::SCS_SIMD
