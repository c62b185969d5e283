// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"

namespace scs::SCS_SIMD {
namespace {

// IEnvGen: an envelope that is read at a position. Native only if the envelope's inputs don't change once the synth has
// started, because they are read from their wires at any time.

enum { pointer, offset, first_level, stages, total, nodes };
enum Node { node_time, node_shape, node_curve, node_level, node_inputs };
enum Shape { step, linear, exponential, sine, welch, curve, squared, cubed, hold };

template <int N>
struct IEnvState {
    static constexpr size_t items64 = 0;
    float level[N], place[N];
};

SCS_INLINE double power(double x, double y) {
    return pow(F64<1>(x), F64<1>(y))[0];
}
SCS_INLINE double root(double x) {
    return sqrt(F64<1>(x))[0];
}

/// Interpolates between two levels; `at` from 0 to 1. The caller handles the shapes `step` and `hold`.
float between(int shape, int bend, double from, double to, double at) {
    constexpr double pi = 3.14159265358979323846;
    switch (shape) {
    case exponential: return float(from * power(to / from, at));
    case sine: return float(from + (to - from) * (0.5 - cos(F64<1>(pi * at))[0] * 0.5));
    case welch:
        return from < to ? float(from + (to - from) * sin(F64<1>(pi * 0.5 * at))[0])
                         : float(to - (to - from) * sin(F64<1>(pi * 0.5 - pi * 0.5 * at))[0]);
    case curve:
        if (bend != 0)
            return float(from + (to - from) * (1.0 - exp(F64<1>(at * bend))[0]) / (1.0 - exp(F64<1>(double(bend)))[0]));
        break;
    case squared: {
        const double r = root(from) + at * (root(to) - root(from));
        return float(r * r);
    }
    case cubed: {
        const double third = double(0.3333333f), first = power(from, third);
        const double r = first + at * (power(to, third) - first);
        return float(r * r * r);
    }
    }
    return float(at * (to - from) + from);
}

template <int L>
class Reader {
public:
    SCS_INLINE Reader(const Op& op, const Block& block, int lane) : op_(op), block_(block), lane_(lane) {
        const int most = (op.inputs - nodes) / node_inputs, wanted = int_of(in(stages));
        stages_ = wanted < 0 ? 0 : wanted < most ? wanted : most;
    }
    SCS_INLINE float in(int index) const { return input(op_, block_, size_t(index))[lane_]; }

    /// The level at a position. `kept` is the last level, which a segment of shape `hold` puts out; after it the
    /// segment's end level is kept.
    float at(float place, float& kept) const {
        if (place >= in(total))
            return kept = stages_ > 0 ? node(stages_ - 1, node_level) : in(first_level);
        if (!(place > 0.f) || stages_ == 0)
            return kept = in(first_level);
        float end = 0.f, before = place, length = 0.f;
        int stage = 0;
        for (int next = 0; place >= end && next < stages_; ++next) {
            length = node(next, node_time);
            end += length;
            before -= length;
            stage = next;
        }
        const float from = stage > 0 ? node(stage - 1, node_level) : in(first_level), to = node(stage, node_level);
        const int shape = int_of(node(stage, node_shape));
        if (shape == hold) {
            const float held = kept;
            kept = to;
            return held;
        }
        if (shape == step)
            return kept = to;
        const int bend = int_of(node(stage, node_curve));
        return kept = between(shape, bend, double(from), double(to), double((before + length) / length));
    }

private:
    SCS_INLINE float node(int stage, Node item) const { return in(nodes + stage * node_inputs + item); }

    const Op& op_;
    const Block& block_;
    const int lane_;
    int stages_;
};

template <int L>
struct IEnvGen {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<IEnvState<L>>(op, block);
        const int n = own_frames(op, block);
        each_lane<L>(block, [&](int lane) {
            const Reader<L> reader(op, block, lane);
            const LaneIn<L> places(op, block, pointer, lane);
            float* out = output(op, block) + lane;
            const float start = reader.in(offset);
            float level = s.level[lane], place = s.place[lane];
            for (int i = 0; i < n; ++i) {
                if (const float wanted = places.at(i); wanted != place) {
                    place = wanted - start > 0.f ? wanted - start : 0.f;
                    level = reader.at(place, s.level[lane]);
                }
                out[i * L] = level;
            }
            s.place[lane] = place;
        });
    }
};

void start(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<IEnvState<1>>(op, block);
    const Reader<1> reader(op, block, 0);
    const float place = reader.in(pointer)-reader.in(offset);
    s.place[0] = place;
    if (block.space->release >= Release::v3_14) {
        s.place[0] = place > 0.f ? place : 0.f;
        s.level[0] = __builtin_nanf(""); // what a segment of shape `hold` puts out, as nothing was before it
    }
    *output(op, block) = reader.at(s.place[0], s.level[0]);
}

constexpr Kernel kernel = lane_kernel<IEnvGen, IEnvState>(start);

const Kernel* choose(const Signature& s) {
    if (s.inputs.size() < nodes)
        return nullptr;
    for (size_t i = offset; i < s.inputs.size(); ++i)
        if (s.inputs[i].rate != Rate::scalar)
            return nullptr;
    return &kernel;
}

constexpr NativeUgen list[] = {
    {"IEnvGen", choose},
};

} // namespace

SCS_FAMILY(ienv_gen)

} // namespace scs::SCS_SIMD
