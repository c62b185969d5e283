// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/segments.hpp"

namespace scs::SCS_SIMD {
namespace {

enum { gate, attack, sustain, release, action };

template <int N>
struct LinenState {
    static constexpr size_t items64 = 2;
    double level[N], slope[N];
    float gate[N];
    int32_t stage[N], counter[N];
};

enum Stage : int32_t { rising, holding, falling, finished, over };

template <int L>
struct Linen {
    static void turn(const Op& op, Block& block, int lane, float open) {
        auto& s = state<LinenState<L>>(op, block);
        const auto in = [&](int index) { return input(op, block, size_t(index))[lane]; };
        double& level = s.level[lane];
        float& out = output(op, block)[lane];
        const auto ramp = [&](float seconds, float to) {
            s.counter[lane] = at_least_one(int_of(double(seconds) * block.control->samples));
            s.slope[lane] = (double(to) - level) / s.counter[lane];
        };
        if (s.gate[lane] <= 0.f && open > 0.f) {
            done_flag(op, block, lane) = false;
            s.stage[lane] = rising;
            ramp(in(attack), in(sustain));
        }
        s.gate[lane] = open;
        out = float(level);
        switch (s.stage[lane]) {
        case rising:
        case falling:
            level += s.slope[lane];
            if (--s.counter[lane] == 0)
                ++s.stage[lane];
            break;
        case holding:
            if (open <= 0.f) {
                s.stage[lane] = falling;
                ramp(open <= -1.f ? -open - 1.f : in(release), 0.f);
            }
            break;
        case finished:
            out = 0.f;
            s.stage[lane] = over;
            done(op, block, lane, in(action));
            break;
        default: out = 0.f;
        }
    }
    /// Computes all lanes at once if every one is in the sustained stage, the most frequent case; else returns false.
    SCS_INLINE static bool hold(const Op& op, Block& block) {
        auto& s = state<LinenState<L>>(op, block);
        const auto open = F32<L>::load(input(op, block, gate));
        const F32<L> shut(0.f);
        const auto held = (open > shut) & (F32<L>::load(s.gate) > shut) & (I32<L>::load(s.stage) == I32<L>(holding));
        if (~bitmask(held) & block.live)
            return false;
        open.store(s.gate);
        convert<float>(F64<L>::load(s.level)).store(output(op, block));
        return true;
    }
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        if (L == 1 || !hold(op, block))
            each_lane<L>(block, [&](int lane) { turn(op, block, lane, input(op, block, gate)[lane]); });
    }
};

void start_linen(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<LinenState<1>>(op, block);
    const float open = *input(op, block, gate);
    s.stage[0] = open <= -1.f ? holding : over;
    Linen<1>::turn(op, block, 0, was_open(open) ? 1.f : open);
}

constexpr Kernel kernel = [] {
    Kernel made = lane_kernel<Linen, LinenState>(start_linen);
    made.acts_when_done = true;
    made.has_gate = true;
    return made;
}();

constexpr NativeUgen list[] = {
    // sclang has no Linen at audio rate, and SuperCollider's would compute only one sample a block.
    {"Linen", [](const Signature& s) { return s.rate == Rate::audio ? nullptr : &kernel; }},
};

} // namespace

SCS_FAMILY(linen)

} // namespace scs::SCS_SIMD
