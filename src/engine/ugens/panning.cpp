// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {
namespace {

enum { in, position, level };

template <int N>
struct PanState {
    static constexpr size_t items64 = 0;
    float position[N], level[N], left[N], right[N];
};

template <int N>
struct Gains {
    F32<N> left, right;
};

/// Equal power, in SuperCollider's 2049 steps from left to right.
template <int N>
SCS_INLINE Gains<N> pan(F32<N> position, F32<N> level) {
    const F32<N> place = F32<N>(1024.f) * position + F32<N>(1024.5f);
    const F32<N> step = convert<float>(convert<int32_t>(min(max(place, F32<N>(0.f)), F32<N>(2048.f))));
    const F64<N> angle = convert<double>(step) * F64<N>(1.57079632679489661923 / 2048.0);
    const F64<N> other = F64<N>(1.57079632679489661923) - angle;
    return {level * convert<float>(sin(other)), level * convert<float>(sin(angle))};
}

template <class Form>
struct Pan2 {
    static void run(const Op& op, Block& block) {
        auto& s = state<PanState<Form::state_lanes>>(op, block);
        const float* from = input(op, block, in);
        float *left = output(op, block, 0), *right = output(op, block, 1);
        const auto place = Form::control(input(op, block, position));
        const auto gain = Form::control(input(op, block, level));
        const Gains<Form::width> now{Form::get(s.left), Form::get(s.right)};
        const auto changed = (place != Form::get(s.position)) | (gain != Form::get(s.level));
        if (!any(changed)) {
            for (int i = 0, n = Form::steps(block); i < n; ++i) {
                const auto x = Form::audio(from, i);
                Form::put(left, i, x * now.left);
                Form::put(right, i, x * now.right);
            }
            return;
        }
        const auto wanted = pan(place, gain);
        const Gains<Form::width> next{select(changed, wanted.left, now.left), select(changed, wanted.right, now.right)};
        const typename Form::F each(1.f / float(block.frames));
        const auto left_slope = select(changed, (next.left - now.left) * each, -0.f);
        const auto right_slope = select(changed, (next.right - now.right) * each, -0.f);
        for (int i = 0, n = Form::steps(block); i < n; ++i) {
            const auto x = Form::audio(from, i), frame = Form::frame(i);
            Form::put(left, i, x * (now.left + left_slope * frame));
            Form::put(right, i, x * (now.right + right_slope * frame));
        }
        Form::keep(s.position, place);
        Form::keep(s.level, gain);
        Form::keep(s.left, next.left);
        Form::keep(s.right, next.right);
    }
};

void start_pan2(const Op& op, Block& block) {
    auto& s = state<PanState<1>>(op, block);
    s.position[0] = *input(op, block, position);
    s.level[0] = *input(op, block, level);
    const auto gains = pan(F32<1>(s.position[0]), F32<1>(s.level[0]));
    s.left[0] = gains.left[0];
    s.right[0] = gains.right[0];
    const float x = *input(op, block, in);
    *output(op, block, 0) = x * s.left[0];
    *output(op, block, 1) = x * s.right[0];
}

constexpr Kernel pan2 = vector_kernel<Pan2, PanState, Timewise>(start_pan2);

constexpr NativeUgen list[] = {
    {"Pan2",
     [](const Signature& s) -> const Kernel* {
         return s.rate == Rate::audio && s.audio(in) && !s.audio(position) && !s.audio(level) ? &pan2 : nullptr;
     }},
};

} // namespace

const std::span<const NativeUgen> panning = list;

} // namespace scs::SCS_SIMD
