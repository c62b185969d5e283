// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/spans.hpp"

namespace scs::SCS_SIMD {
namespace {

// FSinOsc: y[n] = b1 y[n-1] - y[n-2] with b1 = 2 cos(w). With d[n] = y[n+1] - cos(w) y[n], every frame can be computed
// from one: y[n±k] = cos(kw) y[n] ± sin(kw) / sin(w) d[n]. The factors are polynomials in b1, so they exist for any
// frequency, 0 included. y and d are advanced from the middle of one span of frames to the next, in double precision.

template <int N>
struct SpanState {
    static constexpr size_t items64 = 6;
    double y[N], d[N]; ///< in the middle of the next span
    double b1[N];
    double t[N], u[N], v[N]; ///< for the angle of a span: cos(), sin() / sin(w), sin() sin(w)
    float freq[N];
    Factors<N> near;
};

template <int N>
SCS_INLINE F64<N> frequency(F32<N> freq, const UnitRate& rate) {
    return F64<N>(2.0) * cos(convert<double>(freq) * F64<N>(rate.radians));
}

/// Computes everything that depends on b1.
template <int N>
SCS_INLINE void design(SpanState<N>& s, F64<N> b1) {
    const F64<N> cosine = F64<N>(0.5) * b1;
    F64<N> t = 1.0, u = 0.0, t_next = cosine, u_next = 1.0;
    for (int k = 0;; ++k) {
        convert<float>(t).store(s.near.even[k]);
        convert<float>(u).store(s.near.odd[k]);
        if (k == reach)
            break;
        const F64<N> t_after = b1 * t_next - t, u_after = b1 * u_next - u;
        t = t_next;
        u = u_next;
        t_next = t_after;
        u_next = u_after;
    }
    const F64<N> twice_t = F64<N>(2.0) * t, far_u = twice_t * u;
    b1.store(s.b1);
    (twice_t * t - F64<N>(1.0)).store(s.t);
    far_u.store(s.u);
    (far_u * ((F64<N>(1.0) - cosine) * (F64<N>(1.0) + cosine))).store(s.v);
}

/// y and d in the middle of the span after two frames, from these frames.
template <int N>
struct Middle {
    F64<N> y, d;
    SCS_INLINE Middle(F64<N> b1, F64<N> y1, F64<N> y2) {
        for (int i = 0; i <= reach; ++i) {
            y = b1 * y1 - y2;
            y2 = y1;
            y1 = y;
        }
        d = F64<N>(0.5) * b1 * y1 - y2;
    }
};

/// Changes the frequency in some lanes. The last two frames keep their values.
template <int N>
[[gnu::noinline]] void change(SpanState<N>& s, F32<N> freq, typename F32<N>::Mask changed, const UnitRate& rate) {
    const F64<N> b1 = F64<N>::load(s.b1), y = F64<N>::load(s.y), d = F64<N>::load(s.d);
    F64<N> later = y, y1 = F64<N>(0.5) * b1 * y - d;
    for (int i = 0; i <= reach; ++i) {
        const F64<N> y2 = b1 * y1 - later;
        later = y1;
        y1 = y2;
    }
    const auto wide = widen_mask(changed);
    const F64<N> next = select(wide, frequency(freq, rate), b1);
    const Middle<N> middle(next, later, y1);
    select(wide, middle.y, y).store(s.y);
    select(wide, middle.d, d).store(s.d);
    freq.store(s.freq);
    design(s, next);
}

/// The state, updated for the block's frequency.
template <int N>
SCS_INLINE SpanState<N>& follow(const Op& op, Block& block) {
    auto& s = state<SpanState<N>>(op, block);
    const auto freq = F32<N>::load(input(op, block, 0));
    const auto changed = freq != F32<N>::load(s.freq);
    if (any(changed))
        change(s, freq, changed, *block.audio);
    return s;
}

/// Calls f(y, d, frame) for each span: y and d in its middle, and its first frame.
template <int N, class F>
SCS_INLINE void each_span(SpanState<N>& s, const Block& block, F&& f) {
    auto y = F64<N>::load(s.y), d = F64<N>::load(s.d);
    const auto t = F64<N>::load(s.t), u = F64<N>::load(s.u), v = F64<N>::load(s.v);
    for (int frame = 0, n = whole_steps(block.frames, 1); frame < n; frame += span) {
        f(convert<float>(y), convert<float>(d), frame);
        const auto next = t * y + u * d;
        d = t * d - v * y;
        y = next;
    }
    y.store(s.y);
    d.store(s.d);
}

void batch(const Op& op, Block& block) SCS_NONBLOCKING {
    float* out = output(op, block);
    auto& s = follow<lanes>(op, block);
    each_span(s, block, [&](F32<lanes> y, F32<lanes> d, int frame) SCS_INLINE_LAMBDA {
        put_span(s.near, y, d, frame,
                 [&](int step, F32<lanes> value) SCS_INLINE_LAMBDA { Batch::put(out, step, value); });
    });
}

void lone(const Op& op, Block& block) SCS_NONBLOCKING {
    float* out = output(op, block);
    auto& s = follow<1>(op, block);
    const LoneSpan around(s.near);
    each_span(s, block, [&](F32<1> y, F32<1> d, int frame) SCS_INLINE_LAMBDA {
        around.put_span(y[0], d[0], frame,
                        [&](int step, F32<lanes> value) SCS_INLINE_LAMBDA { Timewise::put(out, step, value); });
    });
}

/// Computed in floats, as in SuperCollider: the frequency that results is kept until the input changes.
struct Beginning {
    F64<1> b1, y1, y2;
    SCS_INLINE Beginning(float freq, float phase, const UnitRate& rate) {
        const float w = float(double(freq) * rate.radians);
        b1 = F64<1>(2.0) * convert<double>(cos(F32<1>(w)));
        y1 = convert<double>(sin(F32<1>(phase - w)));
        y2 = convert<double>(sin(F32<1>(phase - 2.f * w)));
    }
    SCS_INLINE float first() const { return float((b1 * y1 - y2)[0]); }
};

void start_audio(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<SpanState<1>>(op, block);
    s.freq[0] = *input(op, block, 0);
    const Beginning beginning(s.freq[0], *input(op, block, 1), *block.audio);
    design(s, beginning.b1);
    const Middle<1> middle(beginning.b1, beginning.y1, beginning.y2);
    middle.y.store(s.y);
    middle.d.store(s.d);
    *output(op, block) = beginning.first();
}

// At control rate it is computed frame by frame.

template <int N>
struct FrameState {
    static constexpr size_t items64 = 3;
    double b1[N], y1[N], y2[N];
    float freq[N];
};

template <class Form>
struct Control {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        constexpr int N = Form::width;
        auto& s = state<FrameState<N>>(op, block);
        const auto freq = Form::control(input(op, block, 0));
        auto b1 = Form::get(s.b1);
        const auto changed = freq != Form::get(s.freq);
        if (any(changed)) {
            b1 = select(widen_mask(changed), frequency(freq, *block.control), b1);
            Form::keep(s.freq, freq);
            Form::keep(s.b1, b1);
        }
        const auto y1 = Form::get(s.y1), y0 = b1 * y1 - Form::get(s.y2);
        Form::keep(s.y2, y1);
        Form::keep(s.y1, y0);
        Form::put(output(op, block), 0, convert<float>(y0));
    }
};

void start_control(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<FrameState<1>>(op, block);
    s.freq[0] = *input(op, block, 0);
    const Beginning beginning(s.freq[0], *input(op, block, 1), *block.control);
    beginning.b1.store(s.b1);
    beginning.y1.store(s.y1);
    beginning.y2.store(s.y2);
    *output(op, block) = beginning.first();
}

constexpr Kernel audio = [] {
    Kernel made;
    made.start = start_audio;
    made.lone = lone;
    made.batch = batch;
    made.state64 = state64<SpanState>();
    made.state32 = state32<SpanState>();
    return made;
}();
constexpr Kernel control = vector_kernel<Control, FrameState, Scalar>(start_control);

constexpr NativeUgen list[] = {
    {"FSinOsc", [](const Signature& s) { return s.rate == Rate::audio ? &audio : &control; }, Gives::nothing, true},
};

} // namespace

SCS_FAMILY(f_sin_osc)

} // namespace scs::SCS_SIMD
