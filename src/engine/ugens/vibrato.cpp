// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/taus88.hpp"
#include "engine/ugens/wrapping.hpp"

namespace scs::SCS_SIMD {
namespace {

// Vibrato: multiplies a frequency by parabolas around 1, a pair of them each cycle, of random height and duration. They
// come after a delay and grow during the attack.

enum { freq, rate, depth, delay, attack, rate_variation, depth_variation, initial_phase, trigger };

template <int N>
struct VibratoState {
    static constexpr size_t items64 = 3;
    double phase[N]; ///< -1 to 3, four a cycle
    double growth[N], growth_slope[N];
    float step[N];                    ///< of the phase, a sample
    float above[N], below[N];         ///< heights of this cycle's parabolas
    int32_t to_wait[N], to_attack[N]; ///< samples
    float last_trigger[N];
};

/// A voice's block.
template <int L>
class Vibrato {
public:
    SCS_INLINE Vibrato(const Op& op, const Block& block, int lane, Taus88& random)
        : op_(op), block_(block), s_(state<VibratoState<L>>(op, block)), lane_(lane), random_(random) {}

    void begin() {
        const UnitRate& own = own_rate(op_, block_);
        const auto start = wrapped(F32<1>(held(initial_phase)), F32<1>(0.f), F32<1>(1.f));
        s_.phase[lane_] = 4. * double(start[0]) - 1.;
        double step;
        float above, below;
        draw(step, above, below);
        s_.step[lane_] = float(step);
        s_.above[lane_] = above;
        s_.below[lane_] = below;
        s_.to_wait[lane_] = int_of(double(held(delay)) * own.samples);
        const int32_t frames = int_of(double(held(attack)) * own.samples);
        s_.to_attack[lane_] = frames > 0 ? frames : 0;
        s_.growth[lane_] = s_.growth_slope[lane_] = 1. / (1. + double(s_.to_attack[lane_]));
    }

    SCS_INLINE void run(int frames) {
        const float now = held(trigger);
        if (s_.last_trigger[lane_] <= 0.f && now > 0.f)
            begin();
        s_.last_trigger[lane_] = now;
        const float* from = input(op_, block_, freq) + lane_;
        float* out = output(op_, block_) + lane_;
        int i = 0;
        if (const int32_t left = s_.to_wait[lane_]; left > 0) {
            const int end = left < frames ? left : frames;
            for (; i < end; ++i)
                out[i * L] = from[i * L];
            s_.to_wait[lane_] = left - end;
        }
        if (i == frames)
            return;
        double phase = s_.phase[lane_], step = s_.step[lane_];
        float above = s_.above[lane_], below = s_.below[lane_];
        const auto factor = [&](float growth) SCS_INLINE_LAMBDA {
            if (!(phase < 3.)) {
                phase -= 4.;
                draw(step, above, below);
            } else if (!(phase < 1.)) {
                const float z = float(phase - 2.);
                return 1.f + growth * below * (z * z - 1.f);
            }
            const float z = float(phase);
            return 1.f + growth * above * (1.f - z * z);
        };
        if (const int32_t left = s_.to_attack[lane_]; left > 0) {
            const int end = left < frames - i ? i + left : frames;
            s_.to_attack[lane_] = left - (end - i);
            double growth = s_.growth[lane_];
            for (; i < end; ++i) {
                out[i * L] = from[i * L] * factor(float(growth));
                phase += step;
                growth += s_.growth_slope[lane_];
            }
            s_.growth[lane_] = growth;
        }
        for (; i < frames; ++i) {
            out[i * L] = from[i * L] * factor(1.f);
            phase += step;
        }
        s_.phase[lane_] = phase;
        s_.step[lane_] = float(step);
        s_.above[lane_] = above;
        s_.below[lane_] = below;
    }

private:
    SCS_INLINE float held(int index) const { return input(op_, block_, size_t(index))[lane_]; }

    /// A cycle's numbers.
    void draw(double& step, float& above, float& below) {
        const float each = float(4. * own_rate(op_, block_).duration);
        const float height = held(depth), varies = held(depth_variation);
        step = double(held(rate) * each * (1.f + held(rate_variation) * random_.bipolar()));
        above = height * (1.f + varies * random_.bipolar());
        below = height * (1.f + varies * random_.bipolar());
    }

    const Op& op_;
    const Block& block_;
    VibratoState<L>& s_;
    const int lane_;
    Taus88& random_;
};

template <int L>
struct Run {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        Taus88 random(block);
        each_lane<L>(block, [&](int lane) { Vibrato<L>(op, block, lane, random).run(own_frames(op, block)); });
    }
};

void start(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<VibratoState<1>>(op, block);
    Taus88 random(block);
    Vibrato<1> vibrato(op, block, 0, random);
    vibrato.begin();
    const VibratoState<1> before = s;
    vibrato.run(1);
    if (block.space->release < Release::v3_14)
        return;
    s.phase[0] = before.phase[0];
    s.step[0] = before.step[0];
    s.above[0] = before.above[0];
    s.below[0] = before.below[0];
    s.last_trigger[0] = 0.f;
}

constexpr Kernel kernel = drawing<Run, VibratoState>(start);

constexpr NativeUgen list[] = {
    {"Vibrato",
     [](const Signature& s) -> const Kernel* {
         if (s.inputs.size() != 9 || s.rate == Rate::scalar || (s.rate == Rate::audio && !s.audio(freq)))
             return nullptr;
         return &kernel;
     }},
};

} // namespace

SCS_FAMILY(vibrato)

} // namespace scs::SCS_SIMD
