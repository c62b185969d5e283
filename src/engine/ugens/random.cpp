// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/taus88.hpp"

namespace scs::SCS_SIMD {
namespace {

void start_rand(const Op& op, Block& block) {
    const float low = *input(op, block, 0), high = *input(op, block, 1);
    *output(op, block) = Taus88(block).unipolar() * (high - low) + low;
}

void start_exp_rand(const Op& op, Block& block) {
    const float low = *input(op, block, 0), high = *input(op, block, 1);
    const double ratio = double(high / low), share = double(Taus88(block).unipolar());
    *output(op, block) = float(pow(F64<1>(ratio), F64<1>(share))[0] * double(low));
}

constexpr Kernel starts_only(KernelFunction start) {
    Kernel made;
    made.start = start;
    return made;
}

constexpr Kernel exp_rand = starts_only(start_exp_rand);
constexpr Kernel rand = starts_only(start_rand);

// ---- RandSeed

template <int N>
struct TriggerState {
    static constexpr size_t items64 = 0;
    float previous[N];
};

template <int L>
struct RandSeed {
    static void run(const Op& op, Block& block) {
        auto& s = state<TriggerState<L>>(op, block);
        each_lane<L>(block, [&](int lane) {
            const float trigger = input(op, block, 0)[lane];
            if (trigger > 0.f && s.previous[lane] <= 0.f)
                Taus88(block).seed(int_of(input(op, block, 1)[lane]));
            s.previous[lane] = trigger;
            output(op, block)[lane] = 0.f;
        });
    }
};

constexpr Kernel rand_seed = [] {
    Kernel made = lane_kernel<RandSeed, TriggerState>(RandSeed<1>::run);
    made.effect = Effect::draws;
    return made;
}();

constexpr NativeUgen list[] = {
    {"ExpRand", [](const Signature&) { return &exp_rand; }},
    {"RandSeed",
     [](const Signature& s) -> const Kernel* {
         return s.rate != Rate::audio && s.inputs[1].rate != Rate::demand ? &rand_seed : nullptr;
     }},
    {"Rand", [](const Signature&) { return &rand; }},
};

} // namespace

const std::span<const NativeUgen> random = list;

} // namespace scs::SCS_SIMD
