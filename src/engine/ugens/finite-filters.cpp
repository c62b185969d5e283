// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {
namespace {

// Filters that need only the last two or three inputs.

template <int N>
struct FiniteState {
    static constexpr size_t items64 = 0;
    float x1[N], x2[N];
};

template <class Kind>
struct Finite {
    template <class Form>
    struct Audio {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            constexpr int N = Form::width;
            auto& s = state<FiniteState<Form::state_lanes>>(op, block);
            const float* in = input(op, block, 0);
            float* out = output(op, block);
            const F32<N> samples(float(block.audio->samples));
            if constexpr (N == Form::state_lanes) {
                auto x1 = Form::get(s.x1), x2 = Form::get(s.x2);
                for (int i = 0, n = block.frames; i < n; ++i) {
                    const auto x = Form::audio(in, i);
                    Form::put(out, i, Kind::of(x, x1, x2, samples));
                    x2 = x1;
                    x1 = x;
                }
                Form::keep(s.x1, x1);
                Form::keep(s.x2, x2);
            } else {
                const float x1 = in[block.frames - 1], x2 = in[block.frames - 2];
                // From the end, because output and input may share memory: a step needs the two inputs before it.
                for (int i = block.frames - N; i > 0; i -= N) {
                    const auto x = F32<N>::load(in + i), before = F32<N>::load(in + i - 1);
                    Kind::of(x, before, F32<N>::load(in + i - 2), samples).store(out + i);
                }
                float first[N + 2];
                first[0] = s.x2[0];
                first[1] = s.x1[0];
                const auto x = F32<N>::load(in);
                x.store(first + 2);
                Kind::of(x, F32<N>::load(first + 1), F32<N>::load(first), samples).store(out);
                s.x1[0] = x1;
                s.x2[0] = x2;
            }
        }
    };
    template <class Form>
    struct Control {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<FiniteState<Form::width>>(op, block);
            const auto x = Form::control(input(op, block, 0)), x1 = Form::get(s.x1);
            Kind::of(x, x1, Form::get(s.x2), F32<Form::width>(float(block.control->samples))).store(output(op, block));
            Form::keep(s.x2, x1);
            Form::keep(s.x1, x);
        }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<FiniteState<1>>(op, block);
        const F32<1> x(*input(op, block, 0));
        x.store(s.x1);
        x.store(s.x2);
        *output(op, block) = Kind::of(x, x, x, F32<1>(1.f))[0];
    }

    static constexpr Kernel audio = vector_kernel<Audio, FiniteState, Timewise>(start);
    static constexpr Kernel control = vector_kernel<Control, FiniteState, Scalar>(start);
    static const Kernel* choose(const Signature& s) {
        if (s.rate != Rate::audio)
            return &control;
        return s.audio(0) ? &audio : nullptr;
    }
};

// Each takes an input, the two inputs before it, and the frames per second. In float where only the result is rounded.

struct Difference {
    template <int N>
    SCS_INLINE static F32<N> of(F32<N> x, F32<N> x1, F32<N>, F32<N>) {
        return F32<N>(0.5f) * (x - x1);
    }
};
struct Mean {
    template <int N>
    SCS_INLINE static F32<N> of(F32<N> x, F32<N> x1, F32<N>, F32<N>) {
        return F32<N>(0.5f) * (x + x1);
    }
};
struct Slope {
    template <int N>
    SCS_INLINE static F32<N> of(F32<N> x, F32<N> x1, F32<N>, F32<N> samples) {
        return samples * (x - x1);
    }
};
/// Both zeros at half the sample rate (Sign = 1) or at 0 Hz (-1).
template <int Sign>
struct DoubleZero {
    template <int N>
    SCS_INLINE static F32<N> of(F32<N> x, F32<N> x1, F32<N> x2, F32<N>) {
        const F64<N> sum = convert<double>(x) + F64<N>(2.0 * Sign) * convert<double>(x1) + convert<double>(x2);
        return convert<float>(sum * F64<N>(0.25));
    }
};
struct BandPass {
    template <int N>
    SCS_INLINE static F32<N> of(F32<N> x, F32<N>, F32<N> x2, F32<N>) {
        return F32<N>(0.5f) * (x - x2);
    }
};
struct BandReject {
    template <int N>
    SCS_INLINE static F32<N> of(F32<N> x, F32<N>, F32<N> x2, F32<N>) {
        return F32<N>(0.5f) * (x + x2);
    }
};

/// HPZ1| > number at control rate, which is how sclang writes Changed: whether the input has changed by more than twice
/// the number. The state is that of HPZ1.
template <class Form>
struct Change {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<FiniteState<N>>(op, block);
        const auto x = Form::control(input(op, block, 0)), x1 = Form::get(s.x1);
        const auto size = abs(Difference::of(x, x1, x1, x1));
        Form::put(output(op, block), 0, select(size > Form::control(input(op, block, 1)), F32<N>(1.f), 0.f));
        Form::keep(s.x2, x1);
        Form::keep(s.x1, x);
    }
};

constexpr Kernel change = vector_kernel<Change, FiniteState, Scalar>(nullptr);

/// HPZ1 at control rate.
constexpr Kernel difference_control = [] {
    Kernel made = Finite<Difference>::control;
    made.exceeds = &change;
    return made;
}();

const Kernel* choose_difference(const Signature& s) {
    return s.rate == Rate::control ? &difference_control : Finite<Difference>::choose(s);
}

constexpr NativeUgen list[] = {
    {"BPZ2", Finite<BandPass>::choose}, {"BRZ2", Finite<BandReject>::choose},
    {"HPZ1", choose_difference},        {"HPZ2", Finite<DoubleZero<-1>>::choose},
    {"LPZ1", Finite<Mean>::choose},     {"LPZ2", Finite<DoubleZero<1>>::choose},
    {"Slope", Finite<Slope>::choose},
};

} // namespace

SCS_FAMILY(finite_filters)

} // namespace scs::SCS_SIMD
