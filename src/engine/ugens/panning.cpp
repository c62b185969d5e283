// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/any-input.hpp"
#include "engine/ugens/each-step.hpp"
#include "engine/ugens/families.hpp"

// Panners and crossfaders between two channels. If the position is at audio rate, the gains are computed for each
// frame; otherwise they are ramped over the block.

namespace scs::SCS_SIMD {
namespace {

template <int N>
struct Gains {
    F32<N> left, right;
};

// ---- laws: gains for a position

/// SuperCollider's 2049 steps from left to right; 2048 of them are a quarter of a turn.
template <int N>
SCS_INLINE I32<N> step_of(F32<N> position) {
    const F32<N> place = F32<N>(1024.f) * position + F32<N>(1024.f) + F32<N>(0.5f);
    // SuperCollider converts numbers that an int can't hold to the lowest int.
    const F32<N> held = select(place < F32<N>(0x1p31f), place, 0.f);
    return convert<int32_t>(min(max(held, F32<N>(0.f)), F32<N>(2048.f)));
}

struct EqualPower {
    /// Computed once a block.
    template <int N>
    SCS_INLINE static Gains<N> of(F32<N> position, F32<N> level) {
        const F64<N> angle = convert<double>(step_of(position)) * F64<N>(1.57079632679489661923 / 2048.0);
        const F64<N> other = F64<N>(1.57079632679489661923) - angle;
        return {level * convert<float>(sin(other)), level * convert<float>(sin(angle))};
    }
    /// Computed each frame.
    template <int N>
    SCS_INLINE static Gains<N> quick(F32<N> position, F32<N> level) {
        const U32<N> phase = bits<uint32_t>(step_of(position)) << 19;
        return {level * cos_turns(phase), level * sin_turns(phase)};
    }
};

struct Linear {
    template <int N>
    SCS_INLINE static Gains<N> of(F32<N> position, F32<N> level) {
        const F32<N> right = level * (position * F32<N>(0.5f) + F32<N>(0.5f));
        return {level - right, right};
    }
    template <int N>
    SCS_INLINE static Gains<N> quick(F32<N> position, F32<N> level) {
        return of(position, level);
    }
};

// ---- applying the gains

template <class Form>
struct Pan {
    static constexpr size_t signals = 1;
    const float* in;
    float *left, *right;

    SCS_INLINE Pan(const Op& op, const Block& block)
        : in(input(op, block, 0)), left(output(op, block, 0)), right(output(op, block, 1)) {}
    SCS_INLINE void put(int step, Gains<Form::width> gains) const {
        const auto x = Form::audio(in, step);
        Form::put(left, step, x * gains.left);
        Form::put(right, step, x * gains.right);
    }
};
template <class Form>
struct Balance {
    static constexpr size_t signals = 2;
    const float *a, *b;
    float *left, *right;

    SCS_INLINE Balance(const Op& op, const Block& block)
        : a(input(op, block, 0)), b(input(op, block, 1)), left(output(op, block, 0)), right(output(op, block, 1)) {}
    SCS_INLINE void put(int step, Gains<Form::width> gains) const {
        const auto x = Form::audio(a, step), y = Form::audio(b, step); // each may share memory with each output
        Form::put(left, step, x * gains.left);
        Form::put(right, step, y * gains.right);
    }
};
template <class Form>
struct Fade {
    static constexpr size_t signals = 2;
    const float *a, *b;
    float* out;

    SCS_INLINE Fade(const Op& op, const Block& block)
        : a(input(op, block, 0)), b(input(op, block, 1)), out(output(op, block)) {}
    SCS_INLINE void put(int step, Gains<Form::width> gains) const {
        Form::put(out, step, Form::audio(a, step) * gains.left + Form::audio(b, step) * gains.right);
    }
};

template <class Law, template <class> class Use>
struct Panner {
    static constexpr size_t position = Use<Scalar>::signals, level = position + 1;

    template <int N>
    struct State {
        static constexpr size_t items64 = 0;
        float position[N], level[N], left[N], right[N];
    };

    template <class Form>
    struct Kernels {
        using F = typename Form::F;
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            const int steps = own_steps<Form>(op, block);
            auto& s = state<State<Form::state_lanes>>(op, block);
            if (is_audio(op, position))
                follow(op, block, s.level, steps);
            else
                ramp(op, block, s, steps);
        }
        /// A level at audio rate counts with the first sample of the block.
        SCS_INLINE static void follow(const Op& op, const Block& block, float* kept, int steps) {
            const RampIn<Form> gain(input(op, block, level), kept, block);
            const float* place = input(op, block, position);
            const Use<Form> use(op, block);
            for (int i = 0; i < steps; ++i)
                use.put(i, Law::quick(Form::audio(place, i), gain.at(i)));
        }
        SCS_INLINE static void ramp(const Op& op, const Block& block, State<Form::state_lanes>& s, int steps) {
            const F place = Form::control(input(op, block, position));
            const F gain = Form::control(input(op, block, level));
            const Gains<Form::width> now{Form::get(s.left), Form::get(s.right)};
            const Use<Form> use(op, block);
            const auto changed = (place != Form::get(s.position)) | (gain != Form::get(s.level));
            if (!any(changed)) {
                const auto put = [&](int i) SCS_INLINE_LAMBDA { use.put(i, now); };
                if (steps != 1)
                    each_step<Form>(block, put);
                else
                    put(0);
                return;
            }
            const auto wanted = Law::of(place, gain);
            const Gains<Form::width> next{select(changed, wanted.left, now.left),
                                          select(changed, wanted.right, now.right)};
            const Line<Form> left(changed, now.left, next.left, block), right(changed, now.right, next.right, block);
            for (int i = 0; i < steps; ++i)
                use.put(i, {left.at(i), right.at(i)});
            Form::keep(s.position, place);
            Form::keep(s.level, gain);
            Form::keep(s.left, next.left);
            Form::keep(s.right, next.right);
        }
    };

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<State<1>>(op, block);
        s.position[0] = *input(op, block, position);
        s.level[0] = *input(op, block, level);
        const auto gains = Law::of(F32<1>(s.position[0]), F32<1>(s.level[0]));
        s.left[0] = gains.left[0];
        s.right[0] = gains.right[0];
        Use<Scalar>(op, block).put(0, gains);
    }

    static constexpr Kernel audio = any_rate_kernel<Kernels, State>(true, start);
    static constexpr Kernel control = any_rate_kernel<Kernels, State>(false, start);

    static const Kernel* choose(const Signature& s) {
        if (s.rate == Rate::demand || (s.rate == Rate::audio && !(s.audio(0) && s.audio(Use<Scalar>::signals - 1))))
            return nullptr;
        return s.rate == Rate::audio ? &audio : &control;
    }
};

// ---- LinXFade2; sclang makes a multiplication of its level

enum { fade_position = 2 };

template <int N>
SCS_INLINE Gains<N> fade(F32<N> position) {
    const F32<N> right = min(max(position, F32<N>(-1.f)), F32<N>(1.f)) * F32<N>(0.5f) + F32<N>(0.5f);
    return {F32<N>(1.f) - right, right};
}

template <class Form>
struct LinXFade2 {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        const float* position = input(op, block, fade_position);
        const int steps = own_steps<Form>(op, block);
        const Fade<Form> use(op, block);
        if (is_audio(op, fade_position)) {
            for (int i = 0; i < steps; ++i)
                use.put(i, fade(Form::audio(position, i)));
            return;
        }
        float* kept = state<Previous<1>::State<Form::state_lanes>>(op, block).value[0];
        const auto now = Form::get(kept), next = fade(Form::control(position)).right;
        const Line<Form> line(next != now, now, next, block);
        for (int i = 0; i < steps; ++i) {
            const auto right = line.at(i);
            use.put(i, {typename Form::F(1.f) - right, right});
        }
        Form::keep(kept, next);
    }
};

void start_lin_x_fade2(const Op& op, Block& block) SCS_NONBLOCKING {
    const auto gains = fade(F32<1>(*input(op, block, fade_position)));
    state<Previous<1>::State<1>>(op, block).value[0][0] = gains.right[0];
    Fade<Scalar>(op, block).put(0, gains);
}

constexpr Kernel lin_x_fade2_audio = any_rate_kernel<LinXFade2, Previous<1>::State>(true, start_lin_x_fade2);
constexpr Kernel lin_x_fade2_control = any_rate_kernel<LinXFade2, Previous<1>::State>(false, start_lin_x_fade2);

constexpr NativeUgen list[] = {
    {"Balance2", Panner<EqualPower, Balance>::choose},
    {"LinPan2", Panner<Linear, Pan>::choose},
    {"LinXFade2",
     [](const Signature& s) -> const Kernel* {
         if (s.rate == Rate::demand || (s.rate == Rate::audio && !(s.audio(0) && s.audio(1))))
             return nullptr;
         return s.rate == Rate::audio ? &lin_x_fade2_audio : &lin_x_fade2_control;
     }},
    {"Pan2", Panner<EqualPower, Pan>::choose},
    {"XFade2", Panner<EqualPower, Fade>::choose},
};

} // namespace

SCS_FAMILY(panning)

} // namespace scs::SCS_SIMD
