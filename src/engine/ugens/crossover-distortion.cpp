// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"

namespace scs::SCS_SIMD {
namespace {

// sc3-plugins' CrossoverDistortion: what is below a level, either side of 0, is bent. The parameters go to new values
// in lines over a block.

enum { in, level, smooth };

template <int N>
struct CrossoverState {
    static constexpr size_t items64 = 0;
    float level[N], smooth[N], steepness[N];
};

template <class Form>
struct Crossover {
    using F = typename Form::F;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { compute(op, block, Form::steps(block)); }

    SCS_INLINE static void compute(const Op& op, const Block& block, int steps) {
        auto& s = state<CrossoverState<Form::state_lanes>>(op, block);
        const float *levels = input(op, block, level), *smooths = input(op, block, smooth);
        const AudioIn<Form> x{input(op, block, in)};
        // As there, a change has the bend's steepness go to what it should have been until then.
        const F last_level = Form::get(s.level), last_smooth = Form::get(s.smooth), before = Form::get(s.steepness);
        const auto changes = (Form::control(levels) != last_level) | (Form::control(smooths) != last_smooth);
        const F after = select(changes, steepness(last_level, last_smooth), before);
        const RampIn<Form> l(levels, s.level, block), m(smooths, s.smooth, block);
        const Line<Form> r(after != before, before, after, block);
        Form::keep(s.steepness, after);
        float* out = output(op, block);
        for (int i = 0; i < steps; ++i) {
            const F sample = x.at(i), above = abs(sample) - l.at(i);
            const F bent = above * ((F(1.f) + above * r.at(i)) * m.at(i));
            const F made = select(above < F(0.f), bent, above);
            Form::put(out, i, select(sample < F(0.f), -made, made));
        }
    }
    SCS_INLINE static F steepness(F l, F m) { return F(1.f) / abs(l * m); }
};

void start(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<CrossoverState<1>>(op, block);
    s.level[0] = *input(op, block, level);
    s.smooth[0] = *input(op, block, smooth);
    s.steepness[0] = Crossover<Scalar>::steepness(F32<1>(s.level[0]), F32<1>(s.smooth[0]))[0];
    Crossover<Scalar>::compute(op, block, 1);
}

constexpr Kernel kernel = vector_kernel<Crossover, CrossoverState, Timewise>(start);

const Kernel* choose(const Signature& s) {
    if (s.rate != Rate::audio || s.inputs.size() != 3 || s.outputs != 1 || !s.audio(in))
        return nullptr;
    return &kernel;
}

constexpr NativeUgen list[] = {
    {"CrossoverDistortion", choose},
};

} // namespace

SCS_FAMILY(crossover_distortion)

} // namespace scs::SCS_SIMD
