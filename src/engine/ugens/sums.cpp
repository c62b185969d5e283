// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/any-input.hpp"
#include "engine/ugens/each-step.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/fine-arithmetic.hpp"

#include <array>
#include <utility>

namespace scs::SCS_SIMD {
namespace {

// ---- MulAdd

enum { in, factor, addend };

template <class Form>
struct MulAdd {
    using F = typename Form::F;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        if (moves(op, block, factor) || moves(op, block, addend) || any(silent_voices(op, block)))
            return any_way(op, block);
        if (is_audio(op, factor))
            with_addend(op, block, AudioIn<Form>{input(op, block, factor)});
        else
            with_addend(op, block, held(op, block, factor));
    }

    SCS_INLINE static auto held(const Op& op, const Block& block, size_t index) {
        return HeldIn<Form>{flushed(Form::control(input(op, block, index)))};
    }
    template <class Factor>
    SCS_INLINE static void with_addend(const Op& op, const Block& block, Factor times) {
        const float* from = input(op, block, in);
        float* out = output(op, block);
        const auto loop = [&](auto plus) SCS_INLINE_LAMBDA {
            each_step<Form>(block, [&](int i) SCS_INLINE_LAMBDA {
                Form::put(out, i, Form::audio(from, i) * times.at(i) + plus.at(i));
            });
        };
        if (is_audio(op, addend))
            loop(AudioIn<Form>{input(op, block, addend)});
        else
            loop(held(op, block, addend));
    }
    /// Whether a control input differs from its value in the previous block.
    SCS_INLINE static bool moves(const Op& op, const Block& block, size_t index) {
        if (op.operands[index].rate != Rate::control)
            return false;
        float* previous =
            state<typename Previous<2>::template State<Form::state_lanes>>(op, block).value[index - factor];
        const auto now = Form::by_voice(input(op, block, index));
        const bool other = any(now != Form::by_voice(previous));
        if (!other)
            now.store(previous); // equal, but a zero may have another sign
        return other;
    }
    SCS_INLINE static auto silent_voices(const Op& op, const Block& block) {
        const F32<Form::state_lanes> zero(0.f);
        return is_audio(op, factor) ? I32<Form::state_lanes>(0) : Form::by_voice(input(op, block, factor)) == zero;
    }
    SCS_INLINE static void addend_alone(const Op& op, const Block& block) {
        float* out = output(op, block);
        const auto loop = [&](auto plus) SCS_INLINE_LAMBDA {
            each_step<Form>(block, [&](int i) SCS_INLINE_LAMBDA { Form::put(out, i, plus.at(i)); });
        };
        if (is_audio(op, addend))
            loop(AudioIn<Form>{input(op, block, addend)});
        else
            loop(held(op, block, addend));
    }
    [[gnu::noinline]] static void any_way(const Op& op, const Block& block) {
        if (all(silent_voices(op, block)) && !moves(op, block, factor) && !moves(op, block, addend))
            addend_alone(op, block);
        else
            compute(op, block, Form::steps(block));
    }

    SCS_INLINE static void compute(const Op& op, const Block& block, int steps) {
        auto& s = state<typename Previous<2>::template State<Form::state_lanes>>(op, block);
        const AnyIn<Form> mul(op, block, factor, s.value[0]), add(op, block, addend, s.value[1]);
        const float* from = input(op, block, in);
        float* out = output(op, block);
        const auto loop = [&](auto times, auto plus) __attribute__((always_inline)) {
            for (int i = 0; i < steps; ++i)
                Form::put(out, i, Form::audio(from, i) * times.at(i) + plus.at(i));
        };
        // A factor that stays zero silences even infinities and NaN.
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

/// Needs no flushed(): for arithmetic, denormals are zero anyway.
template <class Form>
struct MulAddValue {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        const auto value = [&](size_t i) SCS_INLINE_LAMBDA { return Form::control(input(op, block, i)); };
        Form::put(output(op, block), 0, value(in) * value(factor) + value(addend));
    }
};

// ---- Sum3, Sum4: every input but the first may have any rate

template <int Count>
struct Sum {
    static_assert(Count == 3 || Count == 4);

    template <class Form>
    struct Kernels {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
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

template <int Count>
struct SumOfValues {
    template <class Form>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto sum = Form::control(input(op, block, 0));
            for (size_t k = 1; k < Count; ++k)
                sum += Form::control(input(op, block, k));
            Form::put(output(op, block), 0, sum);
        }
    };
};

// ---- the same in fine arithmetic, see fine-arithmetic.hpp

template <class Form>
struct FineMulAdd {
    static constexpr int inputs = 3;
    using F = typename Form::F;
    SCS_INLINE static void compute(const Op& op, const Block& block, int steps) {
        auto& s = state<typename Previous<2>::template State<Form::state_lanes>>(op, block);
        const FineIn<Form> from(op, block, in, nullptr), mul(op, block, factor, s.value[0]),
            add(op, block, addend, s.value[1]);
        float* out = output(op, block);
        float* rests = output(op, block, 1);
        for (int i = 0; i < steps; ++i) {
            const F product = from.single.at(i) * mul.single.at(i), plus = add.single.at(i);
            const F made = select(mul.single.zero, plus, product + plus);
            const F rest = rest_of(from.at(i) * mul.at(i) + add.at(i), made);
            Form::put(out, i, made);
            Form::put(rests, i, rest);
        }
    }
};

template <int Count>
struct FineSum {
    template <class Form>
    struct Kernels {
        static constexpr int inputs = Count;
        using F = typename Form::F;
        SCS_INLINE static void compute(const Op& op, const Block& block, int steps) {
            auto& s = state<typename Previous<Count - 1>::template State<Form::state_lanes>>(op, block);
            const auto in = [&]<size_t... k>(std::index_sequence<k...>) SCS_INLINE_LAMBDA {
                return std::array{FineIn<Form>(op, block, k, k ? s.value[k - 1] : nullptr)...};
            }
            (std::make_index_sequence<Count>());
            float* out = output(op, block);
            float* rests = output(op, block, 1);
            for (int i = 0; i < steps; ++i) {
                F made = in[0].single.at(i);
                auto exact = in[0].at(i);
                for (size_t k = 1; k < Count; ++k) {
                    made = made + in[k].single.at(i);
                    exact = exact + in[k].at(i);
                }
                const F rest = rest_of(exact, made);
                Form::put(out, i, made);
                Form::put(rests, i, rest);
            }
        }
    };
};

template <template <class> class K, template <class> class OfValues, int Kept>
struct Chooser {
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        keep_inputs<Kept>(op, block, 1);
        K<Scalar>::compute(op, block, 1);
    }
    static constexpr Kernel audio = any_rate_kernel<K, Stateless>(true, start);
    static constexpr Kernel ramped = any_rate_kernel<K, Previous<Kept>::template State>(true, start);
    static constexpr Kernel control = any_rate_kernel<OfValues, Stateless>(false, start);

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
    {"MulAdd", FineChooser<FineMulAdd, 2>::choose},
    {"Sum3", FineChooser<FineSum<3>::Kernels, 2>::choose},
    {"Sum4", FineChooser<FineSum<4>::Kernels, 3>::choose},
    {"MulAdd", Chooser<MulAdd, MulAddValue, 2>::choose},
    {"Sum3", Chooser<Sum<3>::Kernels, SumOfValues<3>::Run, 2>::choose},
    {"Sum4", Chooser<Sum<4>::Kernels, SumOfValues<4>::Run, 3>::choose},
};

} // namespace

SCS_FAMILY(sums)

} // namespace scs::SCS_SIMD
