// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/any-input.hpp"
#include "engine/ugens/families.hpp"

// PanAz: channels in a ring. A channel's gain is half a cycle of a sine while the position passes it, as wide as
// `width` channels. Gains are ramped over the block; with a position at audio rate they are computed for each frame.

namespace scs::SCS_SIMD {
namespace {

enum { in, position, level, width, orientation };
constexpr size_t first_parameter = position;
constexpr int parameters = 4;

/// A block's parameters but for the position.
template <int N>
class Ring {
public:
    SCS_INLINE Ring(size_t channels, F32<N> level, F32<N> width, F32<N> orientation)
        : channels_(float(channels)),
          level_(level),
          each_(convert<float>(F64<N>(1.) / convert<double>(abs(width)))),
          range_(F32<N>(channels_) * each_),
          turns_(convert<float>(F64<N>(1.) / convert<double>(range_))),
          half_(abs(width) * F32<N>(0.5f)),
          orientation_(orientation) {}

    // SuperCollider adds these up in another order for positions at audio rate.
    SCS_INLINE F32<N> place(F32<N> position) const { return along(position) + half_ + orientation_; }
    SCS_INLINE F32<N> moving_place(F32<N> position) const { return along(position) + (half_ + orientation_); }

    /// A channel's gain, for what one of these gave.
    SCS_INLINE F32<N> gain(size_t channel, F32<N> place) const {
        const F32<N> ahead = (place - F32<N>(float(channel))) * each_, passed = ahead - range_ * floor(turns_ * ahead);
        // SuperCollider's table has 8192 steps in a cycle. What is no place has no sound.
        const auto step = bits<uint32_t>(to_int(F32<N>(4096.f) * passed));
        return select(passed >= F32<N>(1.f), 0.f, level_ * sin_turns(step << 19));
    }

private:
    SCS_INLINE F32<N> along(F32<N> position) const { return position * F32<N>(0.5f) * F32<N>(channels_); }

    float channels_;
    F32<N> level_, each_, range_, turns_, half_, orientation_;
};

template <class Form>
struct PanAz {
    using F = typename Form::F;
    static constexpr int N = Form::width;

    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        if (is_audio(op, position))
            follow(op, block);
        else
            ramp(op, block);
    }
    SCS_INLINE static void follow(const Op& op, const Block& block) {
        const auto held = [&](size_t index) { return Form::control(input(op, block, index)); };
        const Ring<N> ring(op.outputs, held(level), held(width), held(orientation));
        const float *from = input(op, block, in), *positions = input(op, block, position);
        for (size_t c = 0; c < op.outputs; ++c) {
            float* out = output(op, block, c);
            for (int i = 0, n = own_steps<Form>(op, block); i < n; ++i)
                Form::put(out, i, Form::audio(from, i) * ring.gain(c, ring.moving_place(Form::audio(positions, i))));
        }
    }
    /// The gains of the last block are those of its parameters, so that these are all that is kept.
    SCS_INLINE static void ramp(const Op& op, const Block& block) {
        auto& s = state<Previous<parameters>::State<Form::state_lanes>>(op, block);
        F before[parameters], now[parameters];
        for (int k = 0; k < parameters; ++k) {
            before[k] = Form::get(s.value[k]);
            now[k] = Form::control(input(op, block, first_parameter + size_t(k)));
            Form::keep(s.value[k], now[k]);
        }
        const Ring<N> old(op.outputs, before[1], before[2], before[3]), next(op.outputs, now[1], now[2], now[3]);
        const F from_place = old.place(before[0]), to_place = next.place(now[0]);
        const float* from = input(op, block, in);
        for (size_t c = 0; c < op.outputs; ++c) {
            const F a = old.gain(c, from_place), b = next.gain(c, to_place);
            const Line<Form> line(b != a, a, b, block);
            const auto silent = (a == F(0.f)) & (b == F(0.f)); // whatever the input is
            float* out = output(op, block, c);
            for (int i = 0, n = own_steps<Form>(op, block); i < n; ++i)
                Form::put(out, i, select(silent, 0.f, Form::audio(from, i) * line.at(i)));
        }
    }
};

/// At first the gains are 0.
void start(const Op& op, Block& block) SCS_NONBLOCKING {
    if (is_audio(op, position))
        return run_first_frame(PanAz<Scalar>::run, op, block);
    auto& s = state<Previous<parameters>::State<1>>(op, block);
    for (int k = 0; k < parameters; ++k)
        s.value[k][0] = *input(op, block, first_parameter + size_t(k));
    for (size_t c = 0; c < op.outputs; ++c)
        *output(op, block, c) = 0.f;
}

constexpr Kernel made(bool audio) {
    Kernel kernel = any_rate_kernel<PanAz, Previous<parameters>::State>(audio, start);
    kernel.reads_after_writing = true;
    return kernel;
}
constexpr Kernel audio = made(true), control = made(false);

constexpr NativeUgen list[] = {
    {"PanAz",
     [](const Signature& s) -> const Kernel* {
         if (s.rate == Rate::control)
             return &control;
         return s.rate == Rate::audio && s.audio(in) ? &audio : nullptr;
     }},
};

} // namespace

SCS_FAMILY(pan_az)

} // namespace scs::SCS_SIMD
