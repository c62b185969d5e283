// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/binary-operators.hpp"
#include "engine/ugens/fine-arithmetic.hpp"
#include "engine/ugens/wrapping.hpp"

namespace scs::SCS_SIMD {
namespace {

#define SCS_OPERATOR(Name, expression)                                                                                 \
    struct Name : PlainOperator {                                                                                      \
        template <class V>                                                                                             \
        SCS_INLINE static V of(V a, V b) {                                                                             \
            return expression;                                                                                         \
        }                                                                                                              \
    };

/// (If the divisor is at control rate and doesn't change, SuperCollider computes only the first frame of the block.)
struct FloorDivide : PlainOperator {
    static constexpr bool has_first_zero = true;
    template <class V>
    SCS_INLINE static V of(V a, V b) {
        return floor(a / b);
    }
    template <class V>
    SCS_INLINE static V first_zero(V, V) {
        return V(0.f);
    }
};

struct Modulo : PlainOperator {
    static constexpr bool has_first_zero = true, has_second_zero = true, wraps = true;
    template <class V>
    SCS_INLINE static V of(V a, V b) {
        return wrapped(a, V(0.f), b);
    }
    template <class V>
    SCS_INLINE static V first_zero(V, V) {
        return V(0.f);
    }
    template <class V>
    SCS_INLINE static V second_zero(V, V a) {
        return a;
    }
};

/// Products of three factors that are zero if the control input is zero.
using Product = SilencedByZero<PlainOperator>;
struct Ring3 : Product {
    template <class V>
    SCS_INLINE static V of(V a, V b) {
        return a * a * b;
    }
};
struct Ring4 : Product {
    template <class V>
    SCS_INLINE static V of(V a, V b) {
        return a * a * b - a * b * b;
    }
};

template <class V>
SCS_INLINE V signed_power(V a, V b) {
    const V power = pow(abs(a), b);
    return select(a >= V(0.f), power, -power);
}

/// As in SuperCollider's loops for audio: a power of zero is zero, and results larger than the largest number become
/// that number. Here, also NaN does.
template <class V>
SCS_INLINE V audio_power(V a, V b) {
    const V base = select(abs(a) <= V(largest), abs(a), V(largest));
    const V power = copysign(min(V(largest), pow(base, b)), a);
    return select(a == V(0.f), 0.f, power);
}

template <int N>
SCS_INLINE F32<N> hypotenuse(F32<N> a, F32<N> b) {
    const F64<N> x = convert<double>(a), y = convert<double>(b);
    return convert<float>(sqrt(x * x + y * y));
}

/// `multiple`, a rounded to a multiple of b; if b is zero, a.
template <class V>
SCS_INLINE V unless_zero(V a, V b, V multiple) {
    return select(b == V(0.f), a, multiple);
}

SCS_OPERATOR(Equal, select(a == b, V(1.f), 0.f))
SCS_OPERATOR(NotEqual, select(a != b, V(1.f), 0.f))
SCS_OPERATOR(Round, unless_zero(a, b, floor(a / b + V(0.5f)) * b))
SCS_OPERATOR(RoundUp, unless_zero(a, b, ceil(a / b) * b))
SCS_OPERATOR(Truncate, unless_zero(a, b, floor(a / b) * b))
SCS_OPERATOR(Atan2, atan2(a, b))
SCS_OPERATOR(Hypot, hypotenuse(a, b))
/// SuperCollider's approximation: the sum of both sides less (sqrt(2) - 1) times the shorter one.
SCS_OPERATOR(HypotApprox, abs(a) + abs(b) - V(0.41421356f) * min(abs(a), abs(b)))
SCS_OPERATOR(Power, signed_power(a, b))
SCS_OPERATOR(AudioPower, audio_power(a, b))
SCS_OPERATOR(Ring1, a* b + a)
SCS_OPERATOR(Ring2, a* b + a + b)
SCS_OPERATOR(DifSqr, a* a - b * b)
SCS_OPERATOR(SumSqr, a* a + b * b)
SCS_OPERATOR(SqrSum, (a + b) * (a + b))
SCS_OPERATOR(SqrDif, (a - b) * (a - b))
SCS_OPERATOR(AbsDif, abs(a - b))
SCS_OPERATOR(Threshold, select(a < b, 0.f, a))
SCS_OPERATOR(AmClip, select(b > V(0.f), a* b, 0.f))
SCS_OPERATOR(ScaleNeg, select(a >= V(0.f), a, a* b))
SCS_OPERATOR(Excess, select(a > b, a - b, select(a < -b, a + b, 0.f)))
SCS_OPERATOR(Fold2, folded(a, -b, b))
SCS_OPERATOR(Wrap2, wrapped(a, -b, b))
SCS_OPERATOR(FirstArgument, (static_cast<void>(b), a))
#undef SCS_OPERATOR

// ---- integer operators

enum Whole { bit_and = 14, bit_or, bit_xor, lcm, gcd, shift_left = 26, shift_right };

/// Converts with truncation. Numbers that don't fit, and NaN, give the lowest integer, as on x86.
SCS_INLINE int64_t long_of(float x) {
    return x >= -0x1p63f && x < 0x1p63f ? int64_t(x) : INT64_MIN;
}

/// Greatest common divisor, negative if both numbers are, as in SuperCollider. (For the lowest integer, SuperCollider's
/// result depends on the compiler.)
SCS_INLINE int64_t divisor(int64_t a, int64_t b) {
    if (a == 0 || b == 0)
        return a == 0 ? b : a;
    const int64_t sign = a < 0 && b < 0 ? -1 : 1;
    uint64_t x = a < 0 ? 0 - uint64_t(a) : uint64_t(a), y = b < 0 ? 0 - uint64_t(b) : uint64_t(b);
    while (y != 0) {
        const uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return sign * int64_t(x);
}

SCS_INLINE int64_t multiple(int64_t a, int64_t b) {
    if (a == 0 || b == 0)
        return 0;
    const auto product = int64_t(uint64_t(a) * uint64_t(b));
    const int64_t by = divisor(a, b);
    return by == -1 ? int64_t(0 - uint64_t(product)) : product / by;
}

SCS_INLINE float whole(int operation, float a, float b) {
    const int32_t x = int_of(a), y = int_of(b);
    switch (operation) {
    case bit_and: return float(x & y);
    case bit_or: return float(x | y);
    case bit_xor: return float(x ^ y);
    // x86 uses the lowest five bits of the shift.
    case shift_left: return float(int32_t(uint32_t(x) << (y & 31)));
    case shift_right: return float(x >> (y & 31));
    case gcd: return float(divisor(long_of(a), long_of(b)));
    default: return float(multiple(long_of(a), long_of(b)));
    }
}

template <int L>
struct WholeOperator {
    SCS_INLINE static void compute(const Op& op, const Block& block, int frames) {
        auto* previous = state<Previous<1>::State<L>>(op, block).value[0];
        each_lane<L>(block, [&](int lane) {
            const LaneAnyIn<L> a(op, block, 0, lane, previous + lane);
            const LaneAnyIn<L> b(op, block, 1, lane, previous + lane);
            float* out = output(op, block) + lane;
            for (int i = 0; i < frames; ++i)
                out[i * L] = whole(op.special_index, a.at(i), b.at(i));
        });
    }
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { compute(op, block, own_frames(op, block)); }
};

void start_whole(const Op& op, Block& block) SCS_NONBLOCKING {
    keep_inputs<1>(op, block, is_ramped(op, 0) ? 0 : 1);
    WholeOperator<1>::compute(op, block, 1);
}

constexpr Kernel whole_operator = lane_kernel<WholeOperator, Previous<1>::State>(start_whole);

} // namespace

const Kernel* choose_rare_binary(const Signature& s) {
    switch (s.special_index) {
    case 3: return Binary<FloorDivide>::choose(s);
    case 5: return is_fine(s, 2) ? &FineBinary<Modulo>::kernel : Binary<Modulo>::choose(s);
    case 6: return Binary<Equal>::choose(s);
    case 7: return Binary<NotEqual>::choose(s);
    case bit_and:
    case bit_or:
    case bit_xor:
    case lcm:
    case gcd:
    case shift_left:
    case shift_right: return &whole_operator;
    case 19: return Binary<Round>::choose(s);
    case 20: return Binary<RoundUp>::choose(s);
    case 21: return Binary<Truncate>::choose(s);
    case 22: return Binary<Atan2>::choose(s);
    case 23: return Binary<Hypot>::choose(s);
    case 24: return Binary<HypotApprox>::choose(s);
    case 25:
        return s.rate == Rate::audio     ? Binary<AudioPower>::choose(s)
               : s.rate == Rate::control ? &Remembered<Power, 2>::kernel
                                         : &Binary<Power>::control;
    case 30: return Binary<Ring1>::choose(s);
    case 31: return Binary<Ring2>::choose(s);
    case 32: return Binary<Ring3>::choose(s);
    case 33: return Binary<Ring4>::choose(s);
    case 34: return Binary<DifSqr>::choose(s);
    case 35: return Binary<SumSqr>::choose(s);
    case 36: return Binary<SqrSum>::choose(s);
    case 37: return Binary<SqrDif>::choose(s);
    case 38: return Binary<AbsDif>::choose(s);
    case 39: return Binary<Threshold>::choose(s);
    case 40: return Binary<AmClip>::choose(s);
    case 41: return Binary<ScaleNeg>::choose(s);
    case 43: return Binary<Excess>::choose(s);
    case 44: return Binary<Fold2>::choose(s);
    case 45: return Binary<Wrap2>::choose(s);
    // In audio units SuperCollider has this only for a first input at audio rate.
    case 46: return s.rate != Rate::audio || s.audio(0) ? Binary<FirstArgument>::choose(s) : nullptr;
    default: return nullptr;
    }
}

} // namespace scs::SCS_SIMD
