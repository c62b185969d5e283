// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"

namespace scs::SCS_SIMD {
namespace {

// LFGauss: a bell curve, once or again and again. A voice's places on it are added up one after the other, its heights
// are computed side by side.

enum { duration, width, centre, loops, action };

constexpr int at_once = 64; ///< frames

template <int N>
struct GaussState {
    static constexpr size_t items64 = 1;
    double phase[N];
};

template <int L>
struct Gauss {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<GaussState<L>>(op, block);
        const int n = own_frames(op, block);
        each_lane<L>(block, [&](int lane) {
            float* out = output(op, block) + lane;
            const auto shift = double(input(op, block, centre)[lane]);
            double x = s.phase[lane] - shift;
            for (int done = 0; done < n; done += at_once) {
                const int frames = n - done < at_once ? n - done : at_once;
                alignas(64) double places[at_once] = {}, factors[at_once] = {};
                x = walk(op, block, lane, x, done, frames, places, factors);
                for (int i = 0; i < frames; i += lanes) {
                    using V = F64<lanes>;
                    const V at = V::load(places + i);
                    float heights[lanes];
                    convert<float>(exp(at * at * V::load(factors + i))).store(heights);
                    for (int k = 0; k < lanes && i + k < frames; ++k)
                        out[(done + i + k) * L] = heights[k];
                }
            }
            s.phase[lane] = x + shift;
        });
    }

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        state<GaussState<1>>(op, block).phase[0] = -1.;
        run_first_frame(Gauss<1>::run, op, block);
        state<GaussState<1>>(op, block).phase[0] = -1.;
    }

private:
    /// Notes where some frames are, and what their squares are multiplied with; returns where the next one is.
    SCS_INLINE static double walk(const Op& op, Block& block, int lane, double x, int first, int frames, double* places,
                                  double* factors) {
        const double rate = own_rate(op, block).samples;
        const LaneIn<L> durations(op, block, duration, lane), widths(op, block, width, lane);
        const bool moving = is_audio(op, duration), loop = input(op, block, loops)[lane] != 0.f;
        const float held = durations.at(0);
        // As in SuperCollider, the width moves within a block only if the duration does.
        float w = widths.at(0);
        auto step = float(2. / (double(held) * rate));
        const float done = input(op, block, action)[lane];
        const bool acts = int_of(done) != 0; // else it goes on after its end
        for (int i = 0; i < frames; ++i) {
            if (x > 1.) {
                if (loop)
                    x -= 2.;
                else if (acts)
                    act(block, lane, done);
            }
            if (moving) {
                step = 2.f / (durations.at(first + i) * float(rate));
                w = widths.at(first + i);
            }
            places[i] = x;
            factors[i] = double(-1.f / (2.f * w * w));
            x += double(step);
        }
        return x;
    }
};

constexpr Kernel kernel = [] {
    Kernel made = lane_kernel<Gauss, GaussState>(Gauss<1>::start);
    made.acts_when_done = true;
    return made;
}();

const Kernel* choose(const Signature& s) {
    if ((s.rate != Rate::audio && s.rate != Rate::control) || s.inputs.size() != action + 1 || s.outputs != 1)
        return nullptr;
    return &kernel;
}

constexpr NativeUgen list[] = {
    {"LFGauss", choose},
};

} // namespace

SCS_FAMILY(lf_gauss)

} // namespace scs::SCS_SIMD
