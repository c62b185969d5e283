// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/binary-operators.hpp"
#include "engine/ugens/families.hpp"

namespace scs::SCS_SIMD {
namespace {

template <class Operator>
struct Unary {
    template <class Form>
    struct Kernels {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING { compute(op, block, own_steps<Form>(op, block)); }

        SCS_INLINE static void compute(const Op& op, const Block& block, int steps) {
            const float* in = input(op, block, 0);
            float* out = output(op, block);
            for (int i = 0; i < steps; ++i)
                Form::put(out, i, Operator::of(Form::audio(in, i)));
        }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING { Kernels<Scalar>::compute(op, block, 1); }

    static constexpr Kernel audio = any_rate_kernel<Kernels, Stateless>(true, start);
    static constexpr Kernel control = any_rate_kernel<OfOneValue<Operator>::template Run, Stateless>(false, start);

    static const Kernel* choose(const Signature& s) { return s.rate == Rate::audio ? &audio : &control; }
};

#define SCS_OPERATOR(Name, expression)                                                                                 \
    struct Name {                                                                                                      \
        template <class V>                                                                                             \
        SCS_INLINE static V of(V x) {                                                                                  \
            return expression;                                                                                         \
        }                                                                                                              \
    };

/// Windows are zero outside 0 … 1.
template <class V>
SCS_INLINE V windowed(V x, V inside) {
    return select((x < V(0.f)) | (x > V(1.f)), 0.f, inside);
}

/// As in C on x86: numbers that an int can't hold become the lowest int.
template <int N>
SCS_INLINE F32<N> bits_flipped(F32<N> x) {
    const auto holds = (x >= F32<N>(-0x1p31f)) & (x < F32<N>(0x1p31f));
    return select(holds, convert<float>(~convert<int32_t>(select(holds, x, 0.f))), 0x1p31f);
}

template <int N>
SCS_INLINE F32<N> half_sine(F32<N> x) {
    return convert<float>(sin(convert<double>(x) * 3.14159265358979323846));
}

/// A logarithm of x at control rate. The processor takes denormals for zero; their logarithm is C's of 2^-150.
template <class V>
SCS_INLINE V value_log(V x, V log, float of_two) {
    const auto digits = bits<int32_t>(x);
    using I = decltype(digits + digits);
    return select((digits > I(0)) & (digits < I(0x00800000)), V(-150.f * of_two), log);
}

// Where a function is undefined, SuperCollider's loops for audio, unlike those for single values, return the following.

/// A logarithm of x with the value `zero` at 1 and `zero + of_two` at 2. NaN counts as 1.5 * 2^128. (For negative
/// numbers SuperCollider's values have no meaning.)
template <class V>
SCS_INLINE V audio_log(V x, V log, float of_two, float zero = 0.f) {
    const V lowest(zero - 127.f * of_two), highest(zero + 128.f * of_two);
    const V bounded = select(x > V(0.f), min(max(log, lowest), highest), lowest);
    return select(is_nan(x), V(zero + 128.5849625f * of_two), bounded);
}
template <class V>
SCS_INLINE V finite(V x) {
    return min(V(3.40282347e38f), x);
}
template <class V>
SCS_INLINE V within_one(V x, V y) {
    return select(abs(x) > V(1.f), 0.f, y);
}

SCS_OPERATOR(Negative, -x)
SCS_OPERATOR(Not, select(x > V(0.f), 0.f, V(1.f)))
SCS_OPERATOR(BitNot, bits_flipped(x))
SCS_OPERATOR(Absolute, abs(x))
SCS_OPERATOR(Ceiling, ceil(x))
SCS_OPERATOR(Floor, floor(x))
SCS_OPERATOR(Fraction, frac(x))
SCS_OPERATOR(Sign, select(x < V(0.f), V(-1.f), select(x > V(0.f), V(1.f), 0.f)))
SCS_OPERATOR(AudioSign, select(x == V(0.f), 0.f, copysign(V(1.f), x)))
SCS_OPERATOR(Squared, x* x)
SCS_OPERATOR(Cubed, x* x* x)
SCS_OPERATOR(SquareRoot, copysign(sqrt(abs(x)), x))
SCS_OPERATOR(Exponential, exp(x))
SCS_OPERATOR(AudioExponential, finite(exp(x)))
SCS_OPERATOR(Reciprocal, V(1.f) / x)
SCS_OPERATOR(MidiCps, midicps(x))
// Since 3.14 divided, not multiplied with a rounded twelfth.
SCS_OPERATOR(DividedMidiCps, V(440.f) * detail::exp2_of((x - V(69.f)) / V(12.f)))
SCS_OPERATOR(DividedMidiRatio, detail::exp2_of(x / V(12.f)))
SCS_OPERATOR(AudioDividedMidiRatio, finite(detail::exp2_of(x / V(12.f))))
SCS_OPERATOR(CpsMidi, cpsmidi(x))
SCS_OPERATOR(AudioCpsMidi, audio_log(abs(x), cpsmidi(abs(x)), 12.f, 69.f))
SCS_OPERATOR(MidiRatio, midiratio(x))
SCS_OPERATOR(AudioMidiRatio, finite(midiratio(x)))
SCS_OPERATOR(RatioMidi, value_log(x, ratiomidi(x), 12.f))
SCS_OPERATOR(AudioRatioMidi, audio_log(x, ratiomidi(x), 12.f))
SCS_OPERATOR(DbAmp, dbamp(x))
SCS_OPERATOR(AudioDbAmp, finite(dbamp(x)))
SCS_OPERATOR(AmpDb, ampdb(x))
SCS_OPERATOR(AudioAmpDb, audio_log(abs(x), ampdb(abs(x)), 6.0206f))
SCS_OPERATOR(OctCps, octcps(x))
SCS_OPERATOR(CpsOct, cpsoct(x))
SCS_OPERATOR(AudioCpsOct, audio_log(abs(x), cpsoct(abs(x)), 1.f, 4.75f))
SCS_OPERATOR(Log, value_log(x, log(x), 0.69314718f))
SCS_OPERATOR(AudioLog, audio_log(x, log(x), 0.69314718f))
SCS_OPERATOR(Log2, value_log(x, log2(x), 1.f))
SCS_OPERATOR(AudioLog2, audio_log(x, log2(x), 1.f))
SCS_OPERATOR(Log10, log10(abs(x)))
SCS_OPERATOR(AudioLog10, audio_log(x, log10(x), 0.30103f))
// These are accurate far from zero, too, where SuperCollider's loops for audio aren't.
SCS_OPERATOR(Sine, sin(x))
SCS_OPERATOR(Cosine, cos(x))
SCS_OPERATOR(Tangent, tan(x))
SCS_OPERATOR(ArcSine, asin(x))
SCS_OPERATOR(AudioArcSine, within_one(x, asin(x)))
SCS_OPERATOR(ArcCosine, acos(x))
SCS_OPERATOR(AudioArcCosine, within_one(x, acos(x)))
SCS_OPERATOR(ArcTangent, atan(x))
SCS_OPERATOR(SineH, sinh(x))
SCS_OPERATOR(CosineH, cosh(x))
SCS_OPERATOR(TangentH, tanh(x))
SCS_OPERATOR(Distort, x / (V(1.f) + abs(x)))
SCS_OPERATOR(SoftClip, select(abs(x) <= V(0.5f), x, (abs(x) - V(0.25f)) / x))
SCS_OPERATOR(Silence, (static_cast<void>(x), V(0.f)))
SCS_OPERATOR(Through, x)
SCS_OPERATOR(RectWindow, windowed(x, V(1.f)))
SCS_OPERATOR(HanWindow, windowed(x, V(0.5f) - V(0.5f) * cos(x * V(6.28318530717958647692f))))
SCS_OPERATOR(WelchWindow, windowed(x, half_sine(x)))
SCS_OPERATOR(TriWindow, windowed(x, select(x < V(0.5f), V(2.f) * x, V(-2.f) * x + V(2.f))))
SCS_OPERATOR(Ramp, max(min(x, V(1.f)), V(0.f)))
SCS_OPERATOR(SCurve, select(x <= V(0.f), 0.f, select(x >= V(1.f), V(1.f), x* x*(V(3.f) - V(2.f) * x))))
#undef SCS_OPERATOR

template <class OfValues, class OfAudio>
const Kernel* of_rate(const Signature& s) {
    return s.rate == Rate::audio ? &Unary<OfAudio>::audio : &Unary<OfValues>::control;
}
/// For functions that are expensive to compute: at control rate the last result is remembered.
template <class OfValues, class OfAudio = OfValues>
const Kernel* dear(const Signature& s) {
    return s.rate == Rate::control ? &Remembered<OfValues, 1>::kernel : of_rate<OfValues, OfAudio>(s);
}

constexpr Kernel absolute_value = with_role(Unary<Absolute>::control, Role::absolute);

} // namespace

const Kernel* choose_unary(const Signature& s) {
    if (s.rate == Rate::demand || (s.rate == Rate::audio && !s.audio(0)))
        return nullptr;
    const bool divides = s.release >= Release::v3_14;
    switch (s.special_index) {
    case 0: return Unary<Negative>::choose(s);
    case 1: return Unary<Not>::choose(s);
    case 4: return Unary<BitNot>::choose(s);
    case 5: return s.rate == Rate::audio ? &Unary<Absolute>::audio : &absolute_value;
    case 8: return Unary<Ceiling>::choose(s);
    case 9: return Unary<Floor>::choose(s);
    case 10: return Unary<Fraction>::choose(s);
    case 11: return of_rate<Sign, AudioSign>(s);
    case 12: return Unary<Squared>::choose(s);
    case 13: return Unary<Cubed>::choose(s);
    case 14: return Unary<SquareRoot>::choose(s);
    case 15: return dear<Exponential, AudioExponential>(s);
    case 16: return Unary<Reciprocal>::choose(s);
    case 17: return divides ? dear<DividedMidiCps>(s) : dear<MidiCps>(s);
    case 18: return dear<CpsMidi, AudioCpsMidi>(s);
    case 19: return divides ? dear<DividedMidiRatio, AudioDividedMidiRatio>(s) : dear<MidiRatio, AudioMidiRatio>(s);
    case 20: return dear<RatioMidi, AudioRatioMidi>(s);
    case 21: return dear<DbAmp, AudioDbAmp>(s);
    case 22: return dear<AmpDb, AudioAmpDb>(s);
    case 23: return dear<OctCps>(s);
    case 24: return dear<CpsOct, AudioCpsOct>(s);
    case 25: return dear<Log, AudioLog>(s);
    case 26: return dear<Log2, AudioLog2>(s);
    case 27: return dear<Log10, AudioLog10>(s);
    case 28: return dear<Sine>(s);
    case 29: return dear<Cosine>(s);
    case 30: return dear<Tangent>(s);
    case 31: return dear<ArcSine, AudioArcSine>(s);
    case 32: return dear<ArcCosine, AudioArcCosine>(s);
    case 33: return dear<ArcTangent>(s);
    case 34: return dear<SineH>(s);
    case 35: return dear<CosineH>(s);
    case 36: return dear<TangentH>(s);
    case 42: return Unary<Distort>::choose(s);
    case 43: return Unary<SoftClip>::choose(s);
    case 46: return Unary<Silence>::choose(s);
    case 48: return Unary<RectWindow>::choose(s);
    case 49: return Unary<HanWindow>::choose(s);
    case 50: return Unary<WelchWindow>::choose(s);
    case 51: return Unary<TriWindow>::choose(s);
    case 52: return Unary<Ramp>::choose(s);
    case 53: return Unary<SCurve>::choose(s);
    default: break;
    }
    const Kernel* random = choose_random_unary(s);
    return random ? random : Unary<Through>::choose(s); // as in SuperCollider: an unknown operator passes its input
}

namespace {

constexpr NativeUgen list[] = {{"UnaryOpUGen", choose_unary}};

} // namespace

SCS_FAMILY(unary_operators)

} // namespace scs::SCS_SIMD
