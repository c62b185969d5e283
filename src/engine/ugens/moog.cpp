// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/recursive.hpp"

namespace scs::SCS_SIMD {
namespace {

// MoogFF: four first-order stages in a feedback loop without delay. Each frame's output is found by solving the
// equation of the loop, after Federico Fontana, "Preserving the Digital Structure of the Moog VCF", ICMC 2007.

enum { in, freq, gain, reset };

template <int N>
struct MoogState {
    static constexpr size_t items64 = 6;
    double s[4][N], b0[N], a1[N];
    float freq[N], gain[N];
};

/// Computes `n` frames. A new gain is reached after `slope_frames`.
template <class Form>
SCS_INLINE void filter(const Op& op, const Block& block, int n, int slope_frames, const UnitRate& rate) {
    constexpr int N = Form::width;
    auto& st = state<MoogState<N>>(op, block);
    const float* from = input(op, block, in);
    float* out = output(op, block);
    const F64<N> zero(0.0), one(1.0), two(2.0);
    const auto cleared = widen_mask(Form::control(input(op, block, reset)) > F32<N>(0.f));
    const auto next_freq = Form::control(input(op, block, freq));
    const auto wanted = Form::control(input(op, block, gain));
    // NaN stays NaN, as in SuperCollider.
    const auto below = select(wanted > F32<N>(4.f), 4.f, wanted);
    const auto next_gain = select(below < F32<N>(0.f), 0.f, below);
    F64<N> s[4], b0 = Form::get(st.b0), a1 = Form::get(st.a1);
    repeat<4>([&](int k) { s[k] = select(cleared, 0.0, Form::get(st.s[k])); });
    const auto moved = next_freq != Form::get(st.freq);
    if (any(moved)) {
        // SuperCollider's pi is a float. At half the sample rate it makes the tangent negative, which becomes 0.
        const F64<N> w = two * tan(F64<N>(rate.duration * double(3.14159265358979f)) * convert<double>(next_freq));
        const F64<N> turn = select(w < zero, 0.0, w);
        const auto wide = widen_mask(moved);
        b0 = select(wide, turn / (turn + two), b0);
        a1 = select(wide, (turn - two) / (turn + two), a1);
        Form::keep(st.freq, next_freq);
        Form::keep(st.b0, b0);
        Form::keep(st.a1, a1);
    }
    const F64<N> b4 = b0 * b0 * b0 * b0;
    const auto frame = [&](int i, F64<N> k, F64<N> solved) {
        const F64<N> x = convert<double>(Form::audio(from, i));
        const F64<N> y = (b4 * x + (s[3] + b0 * (s[2] + b0 * (s[1] + b0 * s[0])))) * solved;
        F64<N> past = x - k * y;
        repeat<3>([&](int j) {
            const F64<N> future = b0 * past + s[j];
            s[j] = b0 * past - a1 * future;
            past = future;
        });
        s[3] = b0 * past - a1 * y;
        Form::put(out, i, convert<float>(y));
    };
    auto now = Form::get(st.gain);
    const auto changed = next_gain != now;
    if (!any(changed)) {
        const F64<N> k = convert<double>(now), solved = one / (one + b4 * k);
        for (int i = 0; i < n; ++i)
            frame(i, k, solved);
    } else {
        const auto slope = select(changed, (next_gain - now) * F32<N>(1.f / float(slope_frames)), -0.f);
        for (int i = 0; i < n; ++i) {
            const F64<N> k = convert<double>(now);
            frame(i, k, one / (one + b4 * k));
            now += slope;
        }
        Form::keep(st.gain, next_gain);
    }
    repeat<4>([&](int k) { Form::keep(st.s[k], zap(s[k])); });
}

template <class Form>
struct Audio {
    [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        filter<Form>(op, block, block.frames, block.frames, *block.audio);
    }
};
template <class Form>
struct Control {
    [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        filter<Form>(op, block, 1, 1, *block.control);
    }
};

void start(const Op& op, Block& block, const UnitRate& rate) {
    auto& st = state<MoogState<1>>(op, block);
    st.freq[0] = __builtin_nanf("");
    st.gain[0] = *input(op, block, gain);
    filter<Scalar>(op, block, 1, 1, rate);
}
void start_audio(const Op& op, Block& block) SCS_NONBLOCKING {
    start(op, block, *block.audio);
}
void start_control(const Op& op, Block& block) SCS_NONBLOCKING {
    start(op, block, *block.control);
}

constexpr Kernel audio = vector_kernel<Audio, MoogState, Scalar>(start_audio);
constexpr Kernel control = vector_kernel<Control, MoogState, Scalar>(start_control);

constexpr NativeUgen list[] = {
    {"MoogFF",
     [](const Signature& s) -> const Kernel* {
         if (s.rate != Rate::audio)
             return &control;
         return s.audio(in) ? &audio : nullptr;
     }},
};

} // namespace

SCS_FAMILY(moog)

} // namespace scs::SCS_SIMD
