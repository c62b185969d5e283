// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/any-input.hpp"
#include "engine/ugens/each-step.hpp"
#include "engine/ugens/families.hpp"

namespace scs::SCS_SIMD {
namespace {

// ---- MulAdd

enum { in, factor, addend };

template <class Form>
struct MulAdd {
    using F = typename Form::F;
    static void run(const Op& op, Block& block) { compute(op, block, own_steps<Form>(op, block)); }

    SCS_INLINE static void compute(const Op& op, const Block& block, int steps) {
        auto& s = state<typename Previous<2>::template State<Form::state_lanes>>(op, block);
        const AnyIn<Form> mul(op, block, factor, s.value[0]), add(op, block, addend, s.value[1]);
        const float* from = input(op, block, in);
        float* out = output(op, block);
        const auto loop = [&](auto times, auto plus) __attribute__((always_inline)) {
            for (int i = 0; i < steps; ++i)
                Form::put(out, i, Form::audio(from, i) * times.at(i) + plus.at(i));
        };
        // A factor that stays zero silences even what is infinite.
        const auto silent = at_audio_rate(op) ? mul.still & (mul.line.from == F(0.f)) : typename F::Mask(0);
        if (any(silent)) {
            for (int i = 0; i < steps; ++i) {
                const F product = Form::audio(from, i) * mul.at(i), plus = add.at(i);
                Form::put(out, i, select(silent, plus, product + plus));
            }
            return;
        }
        if (mul.held && add.held)
            return loop(mul.as_held(), add.as_held());
        if (mul.held && add.audio)
            return loop(mul.as_held(), add.as_audio());
        if (mul.audio && add.held)
            return loop(mul.as_audio(), add.as_held());
        if (mul.audio && add.audio)
            return loop(mul.as_audio(), add.as_audio());
        loop(mul, add);
    }
};

// ---- Sum3, Sum4: every input but the first may be of any rate

template <int Count>
struct Sum {
    static_assert(Count == 3 || Count == 4);

    template <class Form>
    struct Kernels {
        static void run(const Op& op, Block& block) {
            bool audio = at_audio_rate(op);
            for (size_t i = 0; i < Count; ++i)
                audio &= is_audio(op, i);
            if (!audio)
                return compute(op, block, own_steps<Form>(op, block));
            const float* in[Count];
            for (size_t i = 0; i < Count; ++i)
                in[i] = input(op, block, i);
            float* out = output(op, block);
            each_step<Form>(block, [&](int i) SCS_INLINE_LAMBDA {
                auto sum = Form::audio(in[0], i);
                for (int k = 1; k < Count; ++k)
                    sum += Form::audio(in[k], i);
                Form::put(out, i, sum);
            });
        }

        SCS_INLINE static void compute(const Op& op, const Block& block, int steps) {
            auto& s = state<typename Previous<Count - 1>::template State<Form::state_lanes>>(op, block);
            const AnyIn<Form> b(op, block, 1, s.value[0]), c(op, block, 2, s.value[1]);
            const float* from = input(op, block, 0);
            float* out = output(op, block);
            const auto loop = [&](auto second, auto third, auto fourth) __attribute__((always_inline)) {
                for (int i = 0; i < steps; ++i) {
                    const auto sum = Form::audio(from, i) + second.at(i) + third.at(i);
                    if constexpr (Count == 4)
                        Form::put(out, i, sum + fourth.at(i));
                    else
                        Form::put(out, i, sum);
                }
            };
            if constexpr (Count == 4) {
                const AnyIn<Form> d(op, block, 3, s.value[2]);
                loop(b, c, d);
            } else {
                loop(b, c, 0);
            }
        }
    };
};

template <template <class> class K, int Kept>
struct Chooser {
    static void start(const Op& op, Block& block) {
        keep_inputs<Kept>(op, block, 1);
        K<Scalar>::compute(op, block, 1);
    }
    static constexpr Kernel audio = any_rate_kernel<K, Stateless>(true, start);
    static constexpr Kernel ramped = any_rate_kernel<K, Previous<Kept>::template State>(true, start);
    static constexpr Kernel control = any_rate_kernel<K, Stateless>(false, start);

    static const Kernel* choose(const Signature& s) {
        if (s.rate == Rate::demand || (s.rate == Rate::audio && !s.audio(0)))
            return nullptr;
        if (s.rate != Rate::audio)
            return &control;
        for (const Signature::Input& one : s.inputs)
            if (one.rate == Rate::control)
                return &ramped;
        return &audio;
    }
};

constexpr NativeUgen list[] = {
    {"MulAdd", Chooser<MulAdd, 2>::choose},
    {"Sum3", Chooser<Sum<3>::Kernels, 2>::choose},
    {"Sum4", Chooser<Sum<4>::Kernels, 3>::choose},
};

} // namespace

const std::span<const NativeUgen> sums = list;

} // namespace scs::SCS_SIMD
