// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recursive filters: each frame is computed from an input sample, a few numbers that are kept, and coefficients that
// are computed from parameters. As in SuperCollider, parameters are read once a block. When one changes, the
// coefficients move to their new values over the block. A Kind describes a filter:
//
//   parameters     how many inputs, from 1 on
//   coefficients   how many
//   memories       numbers that are kept
//   zapped         how many of these, the first ones, are cleaned of denormals and of what has blown up
//   derived        numbers that are computed from those at the start of a block, after them in m
//   moves          how the coefficients go to their new values
//   at_once        at control rate, whether the new coefficients are used for the sample of the block that has them
//   design()       coefficients from parameters
//   step()         a frame
//   derive()       the derived numbers
//   begin()        the first sample, which SuperCollider's constructors compute, and what is kept after it
//   steps_back     whether since 3.14 nothing is kept after it
//
// or, in place of step(), the functions of Poles, which make lone voices faster: everything but the poles is computed
// for several frames at once.

#include "engine/simd/math.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/kernel-pairs.hpp"

#include <utility>

namespace scs::SCS_SIMD {

enum class Moves {
    by_thirds, ///< in steps of three frames; remaining frames use the last step's values
    before,    ///< a step before each frame: the last has the new values
    after,     ///< a step after each frame: the first has the old values
};

/// Calls f(0), f(1) … f(Count - 1).
template <int Count, class F>
SCS_INLINE void repeat(F&& f) {
    [&]<int... I>(std::integer_sequence<int, I...>) SCS_INLINE_LAMBDA {
        (f(I), ...);
    }
    (std::make_integer_sequence<int, Count>());
}

/// Zeroes denormals and numbers that have blown up.
template <int N>
SCS_INLINE F64<N> zap(F64<N> x) {
    const F64<N> size = abs(x);
    return select((size > F64<N>(1e-15)) & (size < F64<N>(1e15)), x, 0.0);
}

constexpr double log_of_thousandth = -6.907755278982137;

/// The factor a sample for a decay by 60 dB in `time` seconds.
template <int N>
SCS_INLINE F64<N> decay_factor(F32<N> time, const UnitRate& rate) {
    const F64<N> samples = convert<double>(time) * F64<N>(rate.samples);
    return select(widen_mask(time == F32<N>(0.f)), 0.0, exp(F64<N>(log_of_thousandth) / samples));
}

/// The angle by which a frequency in Hz advances in a sample.
template <int N>
SCS_INLINE F64<N> angle(F32<N> freq, const UnitRate& rate) {
    return convert<double>(freq) * F64<N>(rate.radians);
}
/// The same of the frequency without its sign, and below half the sample rate: in SuperCollider filters become unstable
/// from there on, and below 0.
template <int N>
SCS_INLINE F64<N> stable_angle(F32<N> frequency, const UnitRate& rate) {
    const F64<N> most(0.999 * 3.14159265358979323846), w = abs(angle(frequency, rate));
    return select(w > most, most, w);
}

/// y0 = x + b1 y1 + b2 y2 with m = {y1, y2}; returns y0. The older terms are added first, so that only one product and
/// one sum wait for the previous frame.
template <int N>
SCS_INLINE F64<N> poles(F64<N> x, F64<N> b1, F64<N> b2, F64<N>* m) {
    const F64<N> y0 = x + b2 * m[1] + b1 * m[0];
    m[1] = m[0];
    m[0] = y0;
    return y0;
}

/// The defaults of a Kind.
struct Filter {
    static constexpr int derived = 0;
    static constexpr bool at_once = true;
    /// Whether step() needs the position of the frame in its step of three.
    static constexpr bool phased = false;
    static constexpr bool steps_back = false;
    template <int N>
    SCS_INLINE static void derive(F64<N>*) {}
    /// Computes the first sample with the coefficients of the first parameters.
    template <class Kind>
    SCS_INLINE static F64<1> begin(F64<1> x, const F64<1>* c, F64<1>* m) {
        return Kind::step(x, c, m);
    }
};

/// begin() for Kinds whose first sample is computed with all coefficients 0.
struct StartsWithoutCoefficients : Filter {
    static constexpr bool at_once = false;
    template <class Kind>
    SCS_INLINE static F64<1> begin(F64<1> x, const F64<1>*, F64<1>* m) {
        F64<1> none[Kind::coefficients];
        repeat<Kind::coefficients>([&](int k) { none[k] = F64<1>(0.0); });
        return Kind::step(x, none, m);
    }
};

/// A Kind made of two poles, y0 = before(x) + b1 y1 + b2 y2, and of after(), which computes the output from x, y0, y1
/// and y2. Its coefficients b1 and b2 are c[b] and the next; memories y1, y2.
template <class Kind, class Base = Filter>
struct Poles : Base {
    static constexpr int memories = 2, zapped = 2;
    static constexpr Moves moves = Moves::by_thirds;
    template <int N>
    SCS_INLINE static F64<N> before(F64<N> x, const F64<N>*) {
        return x;
    }
    template <int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        const F64<N> y1 = m[0], y2 = m[1];
        const F64<N> y0 = poles(Kind::before(x, c), c[Kind::b], c[Kind::b + 1], m);
        return Kind::after(x, y0, y1, y2, c);
    }
};

/// Loads frames and converts them to doubles.
SCS_INLINE F64<lanes> load_wide(const float* from) {
#if defined(__AVX2__)
    F64<lanes> made;
    for (int i = 0; i < made.parts; ++i, from += made.per_register)
#if defined(__AVX512F__)
        made.part[i] = _mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(from));
#else
        made.part[i] = _mm256_cvtps_pd(_mm_loadu_ps(from));
#endif
    return made;
#else
    return convert<double>(F32<lanes>::load(from));
#endif
}

template <class Kind>
concept HasPoles = requires {
    Kind::b;
};

/// with_gain() as a BinaryOpUGen multiplies: a factor at control rate that stays zero silences even NaN.
template <class Form, bool Scaled, class F>
SCS_INLINE void with_silencing_gain(const Op& op, const Block& block, F&& f) {
    using V = typename Form::F;
    if constexpr (Scaled)
        if (const Gain& gain = *op.gain; gain.ramped) {
            const float* wire =
                reinterpret_cast<const float*>(block.bases[size_t(gain.factor.base)] + gain.factor.offset);
            float* previous = reinterpret_cast<float*>(block.bases[size_t(Base::record)] + gain.state);
            const F32<Form::state_lanes> none(0.f);
            if (any((Form::by_voice(wire) == none) & (Form::by_voice(previous) == none))) {
                const auto zero = (Form::control(wire) == V(0.f)) & (Form::get(previous) == V(0.f));
                const RampIn<Form> ramp(wire, previous, block);
                return f([&](V value, int step) SCS_INLINE_LAMBDA {
                    const V product = value * ramp.at(step);
                    return select(zero & is_nan(product), 0.f, product);
                });
            }
        }
    with_gain<Form, Scaled>(op, block, f);
}

/// Multiplies a finished output by the operation's gain. For blocks rare enough to be processed in two passes.
template <class Form>
[[gnu::noinline, gnu::flatten]] void multiply_by_gain(const Op& op, Block& block) SCS_NONBLOCKING {
    float* out = output(op, block);
    with_silencing_gain<Form, true>(op, block, [&](auto scale) SCS_INLINE_LAMBDA {
#pragma GCC unroll 1
        for (int i = 0, n = Form::steps(block); i < n; ++i)
            Form::put(out, i, scale(Form::audio(out, i), i));
    });
}

template <class Kind>
struct Recursive {
    static constexpr int parameters = Kind::parameters, coefficients = Kind::coefficients, memories = Kind::memories;

    template <int N>
    struct State {
        static constexpr size_t items64 = memories + coefficients;
        double memory[memories][N], coefficient[coefficients][N];
        float parameter[parameters][N];
    };

    template <int Place, int N>
    SCS_INLINE static F64<N> step(F64<N> x, const F64<N>* c, F64<N>* m) {
        if constexpr (Kind::phased)
            return Kind::template step<Place>(x, c, m);
        else
            return Kind::step(x, c, m);
    }

    /// Computes coefficients for new parameters. Not inlined: it is rare, and elementary functions, copied into each
    /// kernel, would be most of a filter's code to compile.
    template <int N>
    [[gnu::noinline, gnu::flatten]] static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        Kind::design(p, rate, c);
    }

    /// What blocks at both rates have in common.
    template <class Form>
    struct Turn {
        static constexpr int N = Form::width;
        State<N>& state;
        F32<N> p[parameters];
        F64<N> c[coefficients], m[memories + Kind::derived];
        typename F32<N>::Mask changed;

        SCS_INLINE Turn(const Op& op, Block& block) : state(SCS_SIMD::state<State<N>>(op, block)) {
            repeat<parameters>([&](int k) {
                p[k] = Form::control(input(op, block, size_t(k + 1)));
                const auto other = p[k] != Form::get(state.parameter[k]);
                changed = k == 0 ? other : changed | other;
            });
            repeat<coefficients>([&](int k) { c[k] = Form::get(state.coefficient[k]); });
            repeat<memories>([&](int k) { m[k] = Form::get(state.memory[k]); });
            Kind::derive(m);
        }
        /// Computes new coefficients in lanes with new parameters, and keeps those parameters.
        SCS_INLINE void design(const UnitRate& rate, F64<N>* next) {
            // Copies, because variables that a call can reach wouldn't stay in registers.
            F32<N> now[parameters];
            F64<N> made[coefficients];
            repeat<parameters>([&](int k) { now[k] = p[k]; });
            Recursive::design<N>(now, rate, made);
            const auto wide = widen_mask(changed);
            repeat<coefficients>([&](int k) {
                next[k] = select(wide, made[k], c[k]);
                Form::keep(state.coefficient[k], next[k]);
            });
            repeat<parameters>([&](int k) { Form::keep(state.parameter[k], p[k]); });
        }
        SCS_INLINE void keep() const {
            repeat<memories>([&](int k) { Form::keep(state.memory[k], k < Kind::zapped ? zap(m[k]) : m[k]); });
        }
    };

    template <class Form>
    struct Audio {
        static constexpr int N = Form::width;
        template <int Place>
        SCS_INLINE static F32<N> frame(const float* in, int i, const F64<N>* c, F64<N>* m) {
            if constexpr (N == lanes)
                return convert<float>(step<Place>(load_wide(in + i * N), c, m));
            else
                return convert<float>(step<Place>(convert<double>(Form::audio(in, i)), c, m));
        }
        [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            Turn<Form> turn(op, block);
            if (any(turn.changed))
                move(op, block);
            else
                hold<false>(op, block, turn);
        }
        /// A block with constant coefficients and, if Scaled, the operation's gain.
        template <bool Scaled>
        SCS_INLINE static void hold(const Op& op, Block& block, Turn<Form>& turn) {
            const float* in = input(op, block, 0);
            float* out = output(op, block);
            const int n = block.frames;
            F64<N> c[coefficients], m[memories + Kind::derived];
            repeat<coefficients>([&](int k) { c[k] = turn.c[k]; });
            repeat<memories + Kind::derived>([&](int k) { m[k] = turn.m[k]; });
            with_silencing_gain<Form, Scaled>(op, block, [&](auto scale) SCS_INLINE_LAMBDA {
                int i = 0;
                for (; i + 3 <= n; i += 3) {
                    Form::put(out, i, scale(frame<0>(in, i, c, m), i));
                    Form::put(out, i + 1, scale(frame<1>(in, i + 1, c, m), i + 1));
                    Form::put(out, i + 2, scale(frame<2>(in, i + 2, c, m), i + 2));
                }
                for (; i < n; ++i)
                    Form::put(out, i, scale(frame<0>(in, i, c, m), i));
            });
            repeat<memories>([&](int k) { turn.m[k] = m[k]; });
            turn.keep();
        }
        /// A block in which some lanes' coefficients move to new values, without a gain.
        [[gnu::noinline, gnu::flatten]] static void move(const Op& op, Block& block) SCS_NONBLOCKING {
            Turn<Form> turn(op, block);
            const float* in = input(op, block, 0);
            float* out = output(op, block);
            const int n = block.frames;
            F64<N> c[coefficients], m[memories + Kind::derived], slope[coefficients];
            repeat<coefficients>([&](int k) { c[k] = turn.c[k]; });
            repeat<memories + Kind::derived>([&](int k) { m[k] = turn.m[k]; });
            turn.design(*block.audio, slope);
            const F64<N> each(1.0 / (Kind::moves == Moves::by_thirds ? n / 3 : n));
            const auto wide = widen_mask(turn.changed);
            // Adding minus zero changes nothing, not even the sign of a zero.
            repeat<coefficients>([&](int k) { slope[k] = select(wide, (slope[k] - c[k]) * each, -0.0); });
            const auto advance = [&] { repeat<coefficients>([&](int k) { c[k] += slope[k]; }); };
            if constexpr (Kind::moves == Moves::by_thirds) {
                int i = 0;
                for (; i + 3 <= n; i += 3) {
                    Form::put(out, i, frame<0>(in, i, c, m));
                    Form::put(out, i + 1, frame<1>(in, i + 1, c, m));
                    Form::put(out, i + 2, frame<2>(in, i + 2, c, m));
                    advance();
                }
                for (; i < n; ++i)
                    Form::put(out, i, frame<0>(in, i, c, m));
            } else {
                for (int i = 0; i < n; ++i) {
                    if constexpr (Kind::moves == Moves::before)
                        advance();
                    Form::put(out, i, frame<0>(in, i, c, m));
                    if constexpr (Kind::moves == Moves::after)
                        advance();
                }
            }
            repeat<memories>([&](int k) { turn.m[k] = m[k]; });
            turn.keep();
        }
    };

    struct ScaledBatch {
        [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            Turn<Batch> turn(op, block);
            if (any(turn.changed)) {
                Audio<Batch>::move(op, block);
                multiply_by_gain<Batch>(op, block);
            } else {
                Audio<Batch>::template hold<true>(op, block, turn);
            }
        }
    };

    /// What a lone voice's unit with poles does in `chunk` frames: everything but the poles for several frames at once.
    static constexpr int chunk = block_multiple;
    SCS_INLINE static void before_poles(const float* in, const F64<lanes>* c, double* x) {
        for (int i = 0; i < chunk; i += lanes)
            Kind::before(load_wide(in + i), c).store(x + i);
    }
    /// y: two frames more, those before the first. scale: as with_gain() calls it, in the chunk from this step on.
    template <class Scale>
    SCS_INLINE static void after_poles(const float* in, float* out, const F64<lanes>* c, const double* y, int step,
                                       Scale&& scale) {
        for (int i = 0; i < chunk / lanes; ++i) {
            const double* at = y + i * lanes;
            const auto made = Kind::after(load_wide(in + i * lanes), F64<lanes>::load(at + 2), F64<lanes>::load(at + 1),
                                          F64<lanes>::load(at), c);
            Timewise::put(out, i, scale(convert<float>(made), step + i));
        }
    }

    /// A lone voice's audio unit for a Kind with poles; with the operation's gain if Scaled.
    template <bool Scaled>
    struct Lone {
        [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            Turn<Scalar> turn(op, block);
            if (any(turn.changed)) {
                Audio<Scalar>::move(op, block);
                if constexpr (Scaled)
                    multiply_by_gain<Timewise>(op, block);
            } else {
                hold(op, block, turn);
            }
        }
        SCS_INLINE static void hold(const Op& op, Block& block, Turn<Scalar>& turn) {
            const float* in = input(op, block, 0);
            float* out = output(op, block);
            F64<lanes> c[coefficients];
            repeat<coefficients>([&](int k) { c[k] = F64<lanes>(turn.c[k][0]); });
            const double b1 = turn.c[Kind::b][0], b2 = turn.c[Kind::b + 1][0];
            alignas(64) double x[chunk], y[2 + chunk];
            y[0] = turn.m[1][0];
            y[1] = turn.m[0][0];
            with_silencing_gain<Timewise, Scaled>(op, block, [&](auto scale) SCS_INLINE_LAMBDA {
                for (int from = 0, n = Timewise::steps(block); from < n; from += chunk / lanes) {
                    before_poles(in + from * lanes, c, x);
                    double y1 = y[1], y2 = y[0];
#pragma GCC unroll 16
                    for (int i = 0; i < chunk; ++i) {
                        const double y0 = x[i] + b2 * y2 + b1 * y1;
                        y[2 + i] = y0;
                        y2 = y1;
                        y1 = y0;
                    }
                    after_poles(in + from * lanes, out + from * lanes, c, y, from, scale);
                    y[0] = y2;
                    y[1] = y1;
                }
            });
            turn.m[0] = F64<1>(y[1]);
            turn.m[1] = F64<1>(y[0]);
            turn.keep();
        }
    };

    // ---- a lone voice's unit and the next operation, which is one of the same kernel: each frame waits for the one
    // before it, and meanwhile the other unit's is computed

    /// The two where coefficients move, or the block is longer than a chunk.
    [[gnu::noinline]] static void one_by_one(const Op& op, Block& block) SCS_NONBLOCKING {
        for (const Op* each = &op; each != &op + 2; ++each)
            (each->gain ? audio.lone_scaled : audio.lone)(*each, block);
    }

    struct PolesPair {
        [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            Turn<Scalar> turn(op, block), other((&op)[1], block);
            if (block.frames != chunk || any(turn.changed | other.changed))
                return one_by_one(op, block);
            alignas(64) double x[2][chunk], y[2][2 + chunk];
            begin(op, block, turn, x[0], y[0]);
            begin((&op)[1], block, other, x[1], y[1]);
            const double a1 = turn.c[Kind::b][0], a2 = turn.c[Kind::b + 1][0];
            const double b1 = other.c[Kind::b][0], b2 = other.c[Kind::b + 1][0];
#pragma GCC unroll 16
            for (int i = 0; i < chunk; ++i) {
                y[0][2 + i] = x[0][i] + a2 * y[0][i] + a1 * y[0][1 + i];
                y[1][2 + i] = x[1][i] + b2 * y[1][i] + b1 * y[1][1 + i];
            }
            end(op, block, turn, y[0]);
            end((&op)[1], block, other, y[1]);
        }
        SCS_INLINE static void spread(const Turn<Scalar>& turn, F64<lanes>* c) {
            repeat<coefficients>([&](int k) { c[k] = F64<lanes>(turn.c[k][0]); });
        }
        SCS_INLINE static void begin(const Op& op, Block& block, const Turn<Scalar>& turn, double* x, double* y) {
            F64<lanes> c[coefficients];
            spread(turn, c);
            before_poles(input(op, block, 0), c, x);
            y[0] = turn.m[1][0];
            y[1] = turn.m[0][0];
        }
        SCS_INLINE static void end(const Op& op, Block& block, Turn<Scalar>& turn, const double* y) {
            F64<lanes> c[coefficients];
            spread(turn, c);
            after_poles(input(op, block, 0), output(op, block), c, y, 0,
                        [](F32<lanes> value, int) SCS_INLINE_LAMBDA { return value; });
            if (op.gain)
                multiply_by_gain<Timewise>(op, block);
            turn.m[0] = F64<1>(y[chunk + 1]);
            turn.m[1] = F64<1>(y[chunk]);
            turn.keep();
        }
    };

    /// The same for a Kind that hasn't just two poles, by frames.
    struct FramesPair {
        struct Unit {
            const float* in;
            float* out;
            F64<1> c[coefficients], m[memories + Kind::derived];
            SCS_INLINE Unit(const Op& op, const Block& block, const Turn<Scalar>& turn)
                : in(input(op, block, 0)), out(output(op, block)) {
                repeat<coefficients>([&](int k) { c[k] = turn.c[k]; });
                repeat<memories + Kind::derived>([&](int k) { m[k] = turn.m[k]; });
            }
            template <int Place>
            SCS_INLINE void frame(int i) {
                Scalar::put(out, i, Audio<Scalar>::template frame<Place>(in, i, c, m));
            }
            SCS_INLINE void keep(Turn<Scalar>& turn) const {
                repeat<memories>([&](int k) { turn.m[k] = m[k]; });
                turn.keep();
            }
        };
        [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            Turn<Scalar> turn(op, block), other((&op)[1], block);
            if (any(turn.changed | other.changed))
                return one_by_one(op, block);
            Unit a(op, block, turn), b((&op)[1], block, other);
            int i = 0;
            for (; i + 3 <= block.frames; i += 3)
                repeat_places([&]<int Place>() SCS_INLINE_LAMBDA {
                    a.template frame<Place>(i + Place);
                    b.template frame<Place>(i + Place);
                });
            for (; i < block.frames; ++i) {
                a.template frame<0>(i);
                b.template frame<0>(i);
            }
            a.keep(turn);
            b.keep(other);
        }
        template <class F>
        SCS_INLINE static void repeat_places(F&& f) {
            f.template operator()<0>();
            f.template operator()<1>();
            f.template operator()<2>();
        }
    };

    template <class Form>
    struct Control {
        [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            constexpr int N = Form::width;
            Turn<Form> turn(op, block);
            const F64<N> x = convert<double>(Form::control(input(op, block, 0)));
            F64<N> y, next[coefficients];
            if (any(turn.changed)) {
                turn.design(*block.control, next);
                y = step<0>(x, Kind::at_once ? next : turn.c, turn.m);
            } else {
                y = step<0>(x, turn.c, turn.m);
            }
            convert<float>(y).store(output(op, block));
            turn.keep();
        }
    };

    static void start(const Op& op, Block& block, const UnitRate& rate) {
        auto& s = state<State<1>>(op, block);
        F32<1> p[parameters];
        F64<1> c[coefficients], m[memories + Kind::derived];
        repeat<parameters>([&](int k) {
            p[k] = F32<1>(*input(op, block, size_t(k + 1)));
            p[k].store(s.parameter[k]);
        });
        design<1>(p, rate, c);
        repeat<coefficients>([&](int k) { c[k].store(s.coefficient[k]); });
        repeat<memories + Kind::derived>([&](int k) { m[k] = F64<1>(0.0); });
        const F64<1> x(double(*input(op, block, 0)));
        *output(op, block) = convert<float>(Kind::template begin<Kind>(x, c, m))[0];
        if (Kind::steps_back && block.space->release >= Release::v3_14)
            return;
        repeat<memories>([&](int k) { (k < Kind::zapped ? zap(m[k]) : m[k]).store(s.memory[k]); });
    }
    static void start_audio(const Op& op, Block& block) SCS_NONBLOCKING {
        start(op, block, *block.audio);
    }
    static void start_control(const Op& op, Block& block) SCS_NONBLOCKING {
        start(op, block, *block.control);
    }

    static constexpr Kernel audio = [] {
        Kernel made = vector_kernel<Audio, State, Scalar>(start_audio);
        made.batch_scaled = ScaledBatch::run;
        if constexpr (HasPoles<Kind>) {
            made.lone = Lone<false>::run;
            made.lone_scaled = Lone<true>::run;
        }
        return made;
    }();
    static constexpr Kernel control = vector_kernel<Control, State, Scalar>(start_control);
    static constexpr KernelPair pair = [] {
        if constexpr (HasPoles<Kind>)
            return KernelPair{&audio, PolesPair::run};
        else
            return KernelPair{&audio, FramesPair::run};
    }();

    static const Kernel* choose(const Signature& s) {
        if (s.rate != Rate::audio)
            return &control;
        return s.audio(0) ? &audio : nullptr;
    }
};

/// For parameters that are all at audio rate: coefficients are designed for each frame.
template <class Kind>
struct Modulated {
    template <int N>
    struct State {
        static constexpr size_t items64 = Kind::memories;
        double memory[Kind::memories][N];
    };
    template <class Form>
    struct Run {
        [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            constexpr int N = Form::width;
            auto& s = state<State<N>>(op, block);
            const float *in = input(op, block, 0), *wires[Kind::parameters];
            float* out = output(op, block);
            F64<N> m[Kind::memories];
            repeat<Kind::parameters>([&](int k) { wires[k] = input(op, block, size_t(k + 1)); });
            repeat<Kind::memories>([&](int k) { m[k] = Form::get(s.memory[k]); });
            for (int i = 0, n = block.frames; i < n; ++i) {
                F32<N> p[Kind::parameters];
                F64<N> c[Kind::coefficients];
                repeat<Kind::parameters>([&](int k) { p[k] = Form::audio(wires[k], i); });
                Kind::design(p, *block.audio, c);
                Form::put(out, i, convert<float>(Kind::step(convert<double>(Form::audio(in, i)), c, m)));
            }
            repeat<Kind::memories>([&](int k) { Form::keep(s.memory[k], k < Kind::zapped ? zap(m[k]) : m[k]); });
        }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<State<1>>(op, block);
        F32<1> p[Kind::parameters];
        F64<1> c[Kind::coefficients], m[Kind::memories];
        repeat<Kind::parameters>([&](int k) { p[k] = F32<1>(*input(op, block, size_t(k + 1))); });
        Kind::design(p, *block.audio, c);
        repeat<Kind::memories>([&](int k) { m[k] = F64<1>(0.0); });
        const F64<1> x(double(*input(op, block, 0)));
        *output(op, block) = convert<float>(Kind::step(x, c, m))[0];
        repeat<Kind::memories>([&](int k) { (k < Kind::zapped ? zap(m[k]) : m[k]).store(s.memory[k]); });
    }
    static constexpr Kernel kernel = vector_kernel<Run, State, Scalar>(start);
};

/// Whether the inputs 1 … count are all at audio rate.
inline bool all_audio(const Signature& s, size_t count) {
    for (size_t k = 1; k <= count; ++k)
        if (!s.audio(k))
            return false;
    return true;
}

} // namespace scs::SCS_SIMD
