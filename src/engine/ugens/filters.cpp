// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {
namespace {

// Second-order sections with SuperCollider's coefficients and its way to new ones: in steps, one for three frames.
constexpr int frames_a_step = 3;

template <int N>
struct SectionState {
    static constexpr size_t items64 = 5;
    double y1[N], y2[N], a0[N], b1[N], b2[N];
    float freq[N];
};

/// Away from denormals and from what has blown up.
template <int N>
SCS_INLINE F64<N> zap(F64<N> x) {
    const F64<N> size = bits<double>(bits<int64_t>(x) & I64<N>(0x7fffffffffffffff));
    return select((size > F64<N>(1e-15)) & (size < F64<N>(1e15)), x, 0.0);
}

template <int N>
struct Section {
    F64<N> a0, b1, b2;
};

/// Butterworth's low pass (LPF) and high pass (HPF).
struct LowPass {
    static constexpr double middle = 2.0;
    template <int N>
    SCS_INLINE static Section<N> design(F32<N> freq, double radians) {
        const F64<N> one(1.0);
        const F64<N> c = one / tan(convert<double>(freq) * F64<N>(radians) * F64<N>(0.5));
        const F64<N> c2 = c * c, sqrt2c = c * F64<N>(double(1.41421356237309504880f));
        Section<N> s;
        s.a0 = one / (one + sqrt2c + c2);
        s.b1 = F64<N>(-2.0) * (one - c2) * s.a0;
        s.b2 = -(one - sqrt2c + c2) * s.a0;
        return s;
    }
};

template <class Kind>
struct SectionOf {
    template <class Form>
    struct Run {
        static constexpr int N = Form::width;
        SCS_INLINE static F32<N> step(F32<N> in, const Section<N>& s, F64<N>& y1, F64<N>& y2) {
            const F64<N> y0 = convert<double>(in) + s.b1 * y1 + s.b2 * y2;
            const F64<N> out = s.a0 * (y0 + F64<N>(Kind::middle) * y1 + y2);
            y2 = y1;
            y1 = y0;
            return convert<float>(out);
        }
        static void run(const Op& op, Block& block) {
            auto& st = state<SectionState<N>>(op, block);
            const float* in = input(op, block, 0);
            float* out = output(op, block);
            const auto freq = Form::control(input(op, block, 1));
            Section<N> s{Form::get(st.a0), Form::get(st.b1), Form::get(st.b2)};
            auto y1 = Form::get(st.y1), y2 = Form::get(st.y2);
            const auto changed = freq != Form::get(st.freq);
            if (!any(changed)) {
                for (int i = 0, n = block.frames; i < n; ++i)
                    Form::put(out, i, step(Form::audio(in, i), s, y1, y2));
            } else {
                const Section<N> wanted = Kind::template design<N>(freq, block.audio->radians);
                const auto wide = widen_mask(changed);
                const Section<N> next{select(wide, wanted.a0, s.a0), select(wide, wanted.b1, s.b1),
                                      select(wide, wanted.b2, s.b2)};
                const int loops = block.frames / frames_a_step;
                const F64<N> each(1.0 / loops);
                const auto slope_of = [&](F64<N> to, F64<N> from) { return select(wide, (to - from) * each, -0.0); };
                const Section<N> slope{slope_of(next.a0, s.a0), slope_of(next.b1, s.b1), slope_of(next.b2, s.b2)};
                int i = 0;
                for (int loop = 0; loop < loops; ++loop) {
                    for (int k = 0; k < frames_a_step; ++k, ++i)
                        Form::put(out, i, step(Form::audio(in, i), s, y1, y2));
                    s.a0 += slope.a0;
                    s.b1 += slope.b1;
                    s.b2 += slope.b2;
                }
                for (; i < block.frames; ++i)
                    Form::put(out, i, step(Form::audio(in, i), s, y1, y2));
                Form::keep(st.freq, freq);
                Form::keep(st.a0, next.a0);
                Form::keep(st.b1, next.b1);
                Form::keep(st.b2, next.b2);
            }
            Form::keep(st.y1, zap(y1));
            Form::keep(st.y2, zap(y2));
        }
    };

    static void start(const Op& op, Block& block) {
        auto& st = state<SectionState<1>>(op, block);
        const F32<1> freq(*input(op, block, 1));
        const auto s = Kind::template design<1>(freq, block.audio->radians);
        F64<1> y1(0.0), y2(0.0);
        *output(op, block) = Run<Scalar>::step(F32<1>(*input(op, block, 0)), s, y1, y2)[0];
        freq.store(st.freq);
        s.a0.store(st.a0);
        s.b1.store(st.b1);
        s.b2.store(st.b2);
        zap(y1).store(st.y1);
        zap(y2).store(st.y2);
    }

    static constexpr Kernel kernel = vector_kernel<Run, SectionState, Scalar>(start);
    static const Kernel* choose(const Signature& s) {
        return s.rate == Rate::audio && s.audio(0) && !s.audio(1) ? &kernel : nullptr;
    }
};

constexpr NativeUgen list[] = {
    {"LPF", SectionOf<LowPass>::choose},
};

} // namespace

const std::span<const NativeUgen> filters = list;

} // namespace scs::SCS_SIMD
