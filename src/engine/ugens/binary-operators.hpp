// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Makes the kernels of a BinaryOpUGen from an operator of two numbers. As in SuperCollider, an input at control rate
// becomes a ramp if the other one is audio.

#include "engine/simd/math.hpp"
#include "engine/ugens/any-input.hpp"
#include "engine/ugens/each-step.hpp"

namespace scs::SCS_SIMD {

/// The defaults for an operator: of(a, b) is all that it needs.
struct PlainOperator {
    /// Whether a control input that stays zero, with the other one audio, needs special treatment of infinity and NaN:
    /// first_zero(result, b), second_zero(result, a).
    static constexpr bool has_first_zero = false, has_second_zero = false;
    /// Whether the result jumps by b.
    static constexpr bool wraps = false;
    /// Whether the operator is common and quick enough for kernels by the inputs' rates.
    static constexpr bool quick = false;
    static constexpr Role role = Role::other;
};

/// A control that stays zero silences even infinity.
template <class Base>
struct SilencedByZero : Base {
    static constexpr bool has_first_zero = true, has_second_zero = true;
    template <class V>
    SCS_INLINE static V first_zero(V, V) {
        return V(0.f);
    }
    template <class V>
    SCS_INLINE static V second_zero(V, V) {
        return V(0.f);
    }
};

constexpr Kernel with_role(Kernel made, Role role) {
    made.role = role;
    return made;
}

template <class Operator>
struct Binary {
    template <class Form>
    struct Kernels {
        using F = typename Form::F;
        static void run(const Op& op, Block& block) SCS_NONBLOCKING { compute(op, block, own_steps<Form>(op, block)); }

        SCS_INLINE static void compute(const Op& op, const Block& block, int steps) {
            // Only one of them can be a ramp.
            auto* previous = state<Previous<1>::State<Form::state_lanes>>(op, block).value[0];
            const AnyIn<Form> a(op, block, 0, previous), b(op, block, 1, previous);
            float* out = output(op, block);
            if constexpr (Operator::has_first_zero || Operator::has_second_zero)
                if (bitmask(a.zero | b.zero) & block.live) {
#pragma GCC unroll 1
                    for (int i = 0; i < steps; ++i) {
                        const F x = a.at(i), y = b.at(i);
                        F made = Operator::of(x, y);
                        if constexpr (Operator::has_first_zero)
                            made = select(a.zero, Operator::first_zero(made, y), made);
                        if constexpr (Operator::has_second_zero)
                            made = select(b.zero, Operator::second_zero(made, x), made);
                        Form::put(out, i, made);
                    }
                    return;
                }
                // For ramps and rare operators unrolled loops aren't worth their size.
#pragma GCC unroll 1
            for (int i = 0; i < steps; ++i)
                Form::put(out, i, Operator::of(a.at(i), b.at(i)));
        }
    };

    /// For quick operators without an input at control rate.
    template <class Form>
    struct Steady {
        using F = typename Form::F;
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            const AudioIn<Form> a{input(op, block, 0)}, b{input(op, block, 1)};
            if (!is_audio(op, 0))
                loop(op, block, HeldIn<Form>{flushed(Form::control(a.wire))}, b);
            else if (!is_audio(op, 1))
                loop(op, block, a, HeldIn<Form>{flushed(Form::control(b.wire))});
            else
                loop(op, block, a, b);
        }
        template <class A, class B>
        SCS_INLINE static void loop(const Op& op, const Block& block, A a, B b) {
            float* out = output(op, block);
            each_step<Form>(block, [&](int i) SCS_INLINE_LAMBDA { Form::put(out, i, Operator::of(a.at(i), b.at(i))); });
        }
    };

    /// For quick operators with one input at control rate, which seldom changes.
    template <class Form>
    struct Ramped {
        using F = typename Form::F;
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            const bool second = is_audio(op, 0);
            const AudioIn<Form> audio{input(op, block, !second)};
            const float* wire = input(op, block, second);
            const auto next = Form::by_voice(wire);
            float* previous = state<Previous<1>::State<Form::state_lanes>>(op, block).value[0];
            if (any(next != Form::by_voice(previous)))
                return move(op, block);
            next.store(previous); // a zero may have another sign
            const bool any_zero = any(next == F32<Form::state_lanes>(0.f));
            const F held = flushed(Form::control(wire));
            const auto zero = held == F(0.f);
            if (second) {
                if constexpr (Operator::has_second_zero)
                    if (any_zero)
                        return each(op, block, [&](int i) SCS_INLINE_LAMBDA {
                            const F x = audio.at(i), made = Operator::of(x, held);
                            return select(zero, Operator::second_zero(made, x), made);
                        });
                each(op, block, [&](int i) SCS_INLINE_LAMBDA { return Operator::of(audio.at(i), held); });
            } else {
                if constexpr (Operator::has_first_zero)
                    if (any_zero)
                        return each(op, block, [&](int i) SCS_INLINE_LAMBDA {
                            const F x = audio.at(i), made = Operator::of(held, x);
                            return select(zero, Operator::first_zero(made, x), made);
                        });
                each(op, block, [&](int i) SCS_INLINE_LAMBDA { return Operator::of(held, audio.at(i)); });
            }
        }
        [[gnu::noinline]] static void move(const Op& op, Block& block) SCS_NONBLOCKING {
            Kernels<Form>::compute(op, block, Form::steps(block));
        }
        template <class Step>
        SCS_INLINE static void each(const Op& op, const Block& block, Step&& step) {
            float* out = output(op, block);
            each_step<Form>(block, [&](int i) SCS_INLINE_LAMBDA { Form::put(out, i, step(i)); });
        }
    };

    /// For control units, the most frequent ones in real pieces: one value a block, without looking at rates.
    template <class Form>
    struct AtControlRate {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            // Quick operators are arithmetic, which treats denormals as zero by itself.
            const auto in = [&](size_t i) SCS_INLINE_LAMBDA {
                const auto x = Form::control(input(op, block, i));
                return Operator::quick ? x : flushed(x);
            };
            Form::put(output(op, block), 0, Operator::of(in(0), in(1)));
        }
    };

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        keep_inputs<1>(op, block, is_ramped(op, 0) ? 0 : 1);
        // The same as Kernels computes if nothing has changed; a note has many of these.
        const auto in = [&](size_t i) {
            const F32<1> x(*input(op, block, i));
            return is_audio(op, i) ? x : flushed(x);
        };
        const auto zero = [&](size_t i, F32<1> x) { return is_ramped(op, i) && x[0] == 0.f; };
        const F32<1> a = in(0), b = in(1);
        F32<1> made = Operator::of(a, b);
        if constexpr (Operator::has_first_zero)
            if (zero(0, a))
                made = Operator::first_zero(made, b);
        if constexpr (Operator::has_second_zero)
            if (zero(1, b))
                made = Operator::second_zero(made, a);
        made.store(output(op, block));
    }

    static constexpr Kernel audio = [] {
        if constexpr (Operator::quick)
            return with_role(any_rate_kernel<Steady, Stateless>(true, start), Operator::role);
        else
            return with_role(any_rate_kernel<Kernels, Stateless>(true, start), Operator::role);
    }();
    static constexpr Kernel ramped = [] {
        if constexpr (Operator::quick)
            return with_role(any_rate_kernel<Ramped, Previous<1>::State>(true, start), Operator::role);
        else
            return with_role(any_rate_kernel<Kernels, Previous<1>::State>(true, start), Operator::role);
    }();
    static constexpr Kernel control =
        with_role(any_rate_kernel<AtControlRate, Stateless>(false, start), Operator::role);

    static const Kernel* choose(const Signature& s) {
        if (s.rate != Rate::audio)
            return &control;
        return s.inputs[0].rate == Rate::control || s.inputs[1].rate == Rate::control ? &ramped : &audio;
    }
};

/// The kernel of a BinaryOpUGen, null if there is none.
const Kernel* choose_binary(const Signature&);
/// The same of a UnaryOpUGen.
const Kernel* choose_unary(const Signature&);
/// The kernel of an operator that isn't in binary-operators.cpp; null if SuperCollider hasn't got it either. If the
/// unit is audio, at least one input is.
const Kernel* choose_rare_binary(const Signature&);
/// The kernel of an operator that draws random numbers, null for others.
const Kernel* choose_random_binary(const Signature&);
const Kernel* choose_random_unary(const Signature&);

} // namespace scs::SCS_SIMD
