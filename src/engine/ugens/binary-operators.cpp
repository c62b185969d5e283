// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/binary-operators.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/fine-arithmetic.hpp"

namespace scs::SCS_SIMD {
namespace {

struct Quick : PlainOperator {
    static constexpr bool quick = true;
};

#define SCS_OPERATOR(Name, Kind, expression)                                                                           \
    struct Name : Kind {                                                                                               \
        template <class V>                                                                                             \
        SCS_INLINE static V of(V a, V b) {                                                                             \
            return expression;                                                                                         \
        }                                                                                                              \
    };

using Silencing = SilencedByZero<Quick>;
/// The same for products. A finite product with zero is zero anyway, of either sign, as where an oscillator applies a
/// gain; so only NaN is replaced.
struct SilencingProduct : Silencing {
    static constexpr Role role = Role::product;
    template <class V>
    SCS_INLINE static V first_zero(V product, V) {
        return select(is_nan(product), 0.f, product);
    }
    template <class V>
    SCS_INLINE static V second_zero(V product, V) {
        return select(is_nan(product), 0.f, product);
    }
};

struct QuickGreater : Quick {
    static constexpr Role role = Role::greater;
};

SCS_OPERATOR(Add, Quick, a + b)
SCS_OPERATOR(Subtract, Quick, a - b)
SCS_OPERATOR(Multiply, SilencingProduct, a* b)
SCS_OPERATOR(Divide, Silencing, a / b)
SCS_OPERATOR(Less, Quick, select(a < b, V(1.f), 0.f))
SCS_OPERATOR(Greater, QuickGreater, select(a > b, V(1.f), 0.f))
SCS_OPERATOR(LessOrEqual, Quick, select(a <= b, V(1.f), 0.f))
SCS_OPERATOR(GreaterOrEqual, Quick, select(a >= b, V(1.f), 0.f))
SCS_OPERATOR(Min, Quick, min(a, b))
SCS_OPERATOR(Max, Quick, max(a, b))
SCS_OPERATOR(Clip2, Quick, max(-b, min(a, b)))
/// At control rate SuperCollider computes it this way. The result differs where b is negative or NaN.
SCS_OPERATOR(Clip2Value, PlainOperator, select(a > b, b, select(a < -b, -b, a)))
#undef SCS_OPERATOR

const Kernel* choose_fine(const Signature& s) {
    switch (s.special_index) {
    case 0: return &FineBinary<Add>::kernel;
    case 1: return &FineBinary<Subtract>::kernel;
    case 2: return &FineBinary<Multiply>::kernel;
    case 4: return &FineBinary<Divide>::kernel;
    default: return nullptr;
    }
}

} // namespace

const Kernel* choose_binary(const Signature& s) {
    if (is_fine(s, 2))
        if (const Kernel* fine = choose_fine(s))
            return fine;
    if (s.rate == Rate::demand || (s.rate == Rate::audio && !s.audio(0) && !s.audio(1)))
        return nullptr;
    switch (s.special_index) {
    case 0: return Binary<Add>::choose(s);
    case 1: return Binary<Subtract>::choose(s);
    case 2: return Binary<Multiply>::choose(s);
    case 4: return Binary<Divide>::choose(s);
    case 8: return Binary<Less>::choose(s);
    case 9: return Binary<Greater>::choose(s);
    case 10: return Binary<LessOrEqual>::choose(s);
    case 11: return Binary<GreaterOrEqual>::choose(s);
    case 12: return Binary<Min>::choose(s);
    case 13: return Binary<Max>::choose(s);
    case 42: return s.rate == Rate::audio ? Binary<Clip2>::choose(s) : &Binary<Clip2Value>::control;
    default: break;
    }
    if (const Kernel* random = choose_random_binary(s))
        return random;
    const Kernel* rare = choose_rare_binary(s);
    return rare ? rare : Binary<Add>::choose(s); // as in SuperCollider: an unknown operator adds
}

namespace {

constexpr NativeUgen list[] = {{"BinaryOpUGen", choose_binary}};

} // namespace

SCS_FAMILY(binary_operators)

} // namespace scs::SCS_SIMD
