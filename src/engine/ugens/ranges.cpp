// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/any-input.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/fine-arithmetic.hpp"
#include "engine/ugens/wrapping.hpp"

namespace scs::SCS_SIMD {
namespace {

enum { in, low, high };

// ---- a signal and two bounds

/// For NaN, SuperCollider's loops for audio give other results than those for single values: hence Clip and ClipValue.
struct Clip {
    static constexpr bool ramped = true;
    template <class V>
    SCS_INLINE static V of(V x, V low, V high) {
        return max(min(x, high), low);
    }
};
struct ClipValue {
    static constexpr bool ramped = true;
    template <class V>
    SCS_INLINE static V of(V x, V low, V high) {
        return max(low, min(high, x));
    }
};
struct Wrap {
    static constexpr bool ramped = true;
    template <class V>
    SCS_INLINE static V of(V x, V low, V high) {
        return wrapped(x, low, high);
    }
};
struct Fold {
    static constexpr bool ramped = true;
    template <class V>
    SCS_INLINE static V of(V x, V low, V high) {
        return folded(x, low, high);
    }
};
struct InRange {
    static constexpr bool ramped = false;
    template <class V>
    SCS_INLINE static V of(V x, V low, V high) {
        return select((x >= low) & (x <= high), V(1.f), 0.f);
    }
};
/// The distance of x from the nearest of the numbers from + k * period, k an integer.
struct ModDif {
    static constexpr bool ramped = true;
    template <class V>
    SCS_INLINE static V of(V x, V from, V period) {
        const V half = period * V(0.5f);
        return half - abs(select(period == V(0.f), 0.f, fmod(abs(x - from), period)) - half);
    }
};

/// A bound that changes reaches its new value at the end of the block. This also holds for bounds that were infinite or
/// NaN; SuperCollider's Wrap and Fold never recover from these.
template <class Operator>
struct Ranged {
    template <class Form>
    struct Kernels {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING { compute(op, block, own_steps<Form>(op, block)); }

        SCS_INLINE static void compute(const Op& op, const Block& block, int steps) {
            const float* from = input(op, block, in);
            float* out = output(op, block);
            const auto loop = [&](auto first, auto second) __attribute__((always_inline)) {
                for (int i = 0; i < steps; ++i)
                    Form::put(out, i, Operator::of(Form::audio(from, i), first.at(i), second.at(i)));
            };
            if constexpr (Operator::ramped) {
                auto& s = state<typename Previous<2>::template State<Form::state_lanes>>(op, block);
                const AnyIn<Form> a(op, block, low, s.value[0]), b(op, block, high, s.value[1]);
                if (!a.held || !b.held)
                    return loop(a, b);
                loop(a.as_held(), b.as_held());
            } else {
                loop(HeldIn<Form>{Form::control(input(op, block, low))},
                     HeldIn<Form>{Form::control(input(op, block, high))});
            }
        }
    };
    template <class Form>
    struct AtControlRate {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            const auto bound = [&](size_t i) SCS_INLINE_LAMBDA {
                const auto value = Form::control(input(op, block, i));
                return Operator::ramped && !is_audio(op, i) ? flushed(value) : value;
            };
            Form::put(output(op, block), 0, Operator::of(Form::control(input(op, block, in)), bound(low), bound(high)));
        }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        if (Operator::ramped)
            keep_inputs<2>(op, block, low);
        Kernels<Scalar>::compute(op, block, 1);
    }

    static constexpr Kernel audio = any_rate_kernel<Kernels, Stateless>(true, start);
    static constexpr Kernel with_ramps = any_rate_kernel<Kernels, Previous<2>::State>(true, start);
    static constexpr Kernel control = any_rate_kernel<AtControlRate, Stateless>(false, start);

    static const Kernel* choose(const Signature& s) {
        if (s.rate == Rate::demand || (s.rate == Rate::audio && !s.audio(in)))
            return nullptr;
        if (s.rate != Rate::audio)
            return &control;
        const auto moves = [&](size_t input) { return s.inputs[input].rate == Rate::control; };
        return Operator::ramped && (moves(low) || moves(high)) ? &with_ramps : &audio;
    }
};

template <class V>
SCS_INLINE bool lies_in(V x, V low, V high) {
    return all((x >= low) & (x < high));
}

/// Wrap of the phase of a long buffer: see fine-arithmetic.hpp.
template <class Form>
struct FineWrap {
    static constexpr int inputs = 3;
    SCS_INLINE static void compute(const Op& op, const Block& block, int steps) {
        auto& s = state<typename Previous<2>::template State<Form::state_lanes>>(op, block);
        const FineIn<Form> x(op, block, in, nullptr), a(op, block, low, s.value[0]), b(op, block, high, s.value[1]);
        float* out = output(op, block);
        float* rests = output(op, block, 1);
        const bool held = a.single.held && b.single.held;
        for (int i = 0; i < steps; ++i) {
            const auto least = a.at(i), most = b.at(i);
            auto exact = x.at(i);
            auto near = x.single.at(i);
            if (!(held && lies_in(exact, least, most) && lies_in(near, a.single.line.from, b.single.line.from))) {
                exact = wrapped(exact, least, most);
                near = wrapped(near, a.single.at(i), b.single.at(i));
            }
            const auto made = on_that_side(exact, most - least, near), rest = rest_of(exact, made);
            Form::put(out, i, made);
            Form::put(rests, i, rest);
        }
    }
};

// ---- LinExp: its inputs are never ramped

enum { from_low = 1, from_high, to_low, to_high };

/// to_low * (to_high / to_low) ^ ((x - from_low) / (from_high - from_low)). Divisions are rounded correctly, where
/// SuperCollider uses the processor's estimates, so we are nearer to the exact result.
template <int N>
struct LinExpMap {
    F32<N> scale, offset; ///< from x to the exponent
    F32<N> low;
    F64<N> log; ///< base-2 logarithm of the range's ratio

    SCS_INLINE LinExpMap(F32<N> a, F32<N> b, F32<N> c, F32<N> d)
        : scale(F32<N>(1.f) / (b - a)), offset(scale * -a), low(c) {
        // A negative ratio has no logarithm. As in SuperCollider's loops for audio, such a ratio counts as tiny, an
        // infinite one as the largest number, and NaN as 1.5 * 2^128.
        const F64<N> ratio = convert<double>(d) / convert<double>(c), exact = log2(ratio);
        const F64<N> finite = select(is_nan(exact), -1e300, select(exact > F64<N>(128.0), 128.0, exact));
        log = select(is_nan(ratio), 128.5849625007212, finite);
    }
    SCS_INLINE F32<N> operator()(F32<N> x) const {
        const F64<N> exponent = convert<double>(x * scale + offset);
        const F64<N> power = detail::exp2<detail::Short>(log * exponent);
        // As in C's pow(): 1 to any power and anything to the power 0 are 1. And zero times any power is zero.
        const auto one = (log == F64<N>(0.0)) | (exponent == F64<N>(0.0)) | widen_mask(low == F32<N>(0.f));
        return low * min(F32<N>(largest), convert<float>(select(one, 1.0, power)));
    }
};

template <class Form>
struct LinExp {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { compute(op, block, own_steps<Form>(op, block)); }

    SCS_INLINE static void compute(const Op& op, const Block& block, int steps) {
        const float* from = input(op, block, in);
        float* out = output(op, block);
        const auto ends = [&](int step) {
            const auto at = [&](size_t index) {
                const float* wire = input(op, block, index);
                return is_audio(op, index) ? Form::audio(wire, step) : Form::control(wire);
            };
            return LinExpMap<N>(at(from_low), at(from_high), at(to_low), at(to_high));
        };
        const bool moving =
            is_audio(op, from_low) || is_audio(op, from_high) || is_audio(op, to_low) || is_audio(op, to_high);
        if (moving && at_audio_rate(op)) {
            for (int i = 0; i < steps; ++i)
                Form::put(out, i, ends(i)(Form::audio(from, i)));
            return;
        }
        const LinExpMap<N> map = ends(0);
        for (int i = 0; i < steps; ++i)
            Form::put(out, i, map(Form::audio(from, i)));
    }
};

void start_lin_exp(const Op& op, Block& block) SCS_NONBLOCKING {
    LinExp<Scalar>::compute(op, block, 1);
}

constexpr Kernel lin_exp_audio = any_rate_kernel<LinExp, Stateless>(true, start_lin_exp);
constexpr Kernel lin_exp_control = any_rate_kernel<LinExp, Stateless>(false, start_lin_exp);

constexpr NativeUgen list[] = {
    {"Clip",
     [](const Signature& s) { return s.rate == Rate::audio ? Ranged<Clip>::choose(s) : Ranged<ClipValue>::choose(s); }},
    {"Fold", Ranged<Fold>::choose},
    {"InRange", Ranged<InRange>::choose},
    {"LinExp",
     [](const Signature& s) -> const Kernel* {
         if (s.rate == Rate::demand || (s.rate == Rate::audio && !s.audio(in)))
             return nullptr;
         return s.rate == Rate::audio ? &lin_exp_audio : &lin_exp_control;
     }},
    {"ModDif", Ranged<ModDif>::choose},
    {"Wrap", FineChooser<FineWrap, 2>::choose},
    {"Wrap", Ranged<Wrap>::choose},
};

} // namespace

SCS_FAMILY(ranges)

} // namespace scs::SCS_SIMD
