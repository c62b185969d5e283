// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {
namespace {

/// A time in samples as a whole number, which SuperCollider's units count down. Beyond what an int holds: the most.
SCS_INLINE int32_t samples_of(double samples) {
    return samples > -2e9 ? (samples < 2e9 ? int32_t(samples) : 2000000000) : -2000000000;
}

// ---- Linen

enum { gate, attack, sustain, release, linen_action };

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
    static void turn(const Op& op, Block& block, int lane) {
        auto& s = state<LinenState<L>>(op, block);
        const auto in = [&](int index) { return input(op, block, size_t(index))[lane]; };
        double& level = s.level[lane];
        float& out = output(op, block)[lane];
        const float open = in(gate);
        const auto ramp = [&](float seconds, float to) {
            const int32_t samples = samples_of(double(seconds) * block.control->samples);
            s.counter[lane] = samples > 1 ? samples : 1;
            s.slope[lane] = (double(to) - level) / s.counter[lane];
        };
        if (s.gate[lane] <= 0.f && open > 0.f) {
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
            done(block, lane, in(linen_action));
            break;
        default:
            out = 0.f;
        }
    }
    static void run(const Op& op, Block& block) {
        each_lane<L>(block, [&](int lane) { turn(op, block, lane); });
    }
};

void start_linen(const Op& op, Block& block) {
    auto& s = state<LinenState<1>>(op, block);
    s.stage[0] = *input(op, block, gate) <= -1.f ? holding : over;
    Linen<1>::run(op, block);
}

constexpr Kernel linen = [] {
    Kernel made = lane_kernel<Linen, LinenState>(start_linen);
    made.done_action = linen_action;
    return made;
}();

// ---- XLine

enum { from, to, duration, line_action };

template <int N>
struct XLineState {
    static constexpr size_t items64 = 2;
    double level[N], growth[N];
    float end[N];
    int32_t counter[N];
};

template <int L>
struct XLineControl {
    static void run(const Op& op, Block& block) {
        auto& s = state<XLineState<L>>(op, block);
        float* out = output(op, block);
        each_lane<L>(block, [&](int lane) {
            if (s.counter[lane] == 0) {
                out[lane] = s.end[lane];
                return;
            }
            out[lane] = float(s.level[lane]);
            s.level[lane] *= s.growth[lane];
            if (--s.counter[lane] == 0)
                done(block, lane, input(op, block, line_action)[lane]);
        });
    }
};

void start_xline(const Op& op, Block& block) {
    auto& s = state<XLineState<1>>(op, block);
    const double first = *input(op, block, from), last = *input(op, block, to);
    const int32_t counter = samples_of(double(*input(op, block, duration)) * block.control->samples + 0.5);
    s.end[0] = float(last);
    s.counter[0] = counter;
    if (counter == 0) {
        s.level[0] = last;
        *output(op, block) = float(last);
    } else {
        s.growth[0] = pow(F64<1>(last / first), F64<1>(1.0 / counter))[0];
        s.level[0] = first * s.growth[0];
        *output(op, block) = float(first);
    }
}

constexpr Kernel xline = [] {
    Kernel made = lane_kernel<XLineControl, XLineState>(start_xline);
    made.done_action = line_action;
    return made;
}();

constexpr NativeUgen list[] = {
    {"Linen", [](const Signature&) { return &linen; }},
    {"XLine", [](const Signature& s) { return s.rate == Rate::control ? &xline : nullptr; }},
};

} // namespace

const std::span<const NativeUgen> envelopes = list;

} // namespace scs::SCS_SIMD
