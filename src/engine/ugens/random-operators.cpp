// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/binary-operators.hpp"
#include "engine/ugens/taus88.hpp"

// Operators that draw a random number for each frame or value, voice by voice. As in SuperCollider, they also draw once
// when they start.

namespace scs::SCS_SIMD {
namespace {

template <template <int> class K, template <int> class State>
constexpr Kernel drawing_kernel(KernelFunction start) {
    Kernel made = lane_kernel<K, State>(start);
    made.effect = Effect::draws;
    return made;
}

// ---- unary operators

enum Unary { rand = 37, rand2, linrand, bilinrand, sum3rand, coin = 44 };

SCS_INLINE float drawn(int operation, float x, Taus88& random) {
    switch (operation) {
    case rand: return random.unipolar() * x;
    case rand2: return random.bipolar() * x;
    case linrand: {
        const float a = random.unipolar(), b = random.unipolar();
        return (a < b ? a : b) * x;
    }
    case bilinrand: {
        const float a = random.unipolar(), b = random.unipolar();
        return (a - b) * x;
    }
    case sum3rand: {
        const float a = random.unipolar(), b = random.unipolar(), c = random.unipolar();
        return float((double(a + b + c) - 1.5) * 0.666666667) * x;
    }
    default: return random.unipolar() < x ? 1.f : 0.f;
    }
}

template <int L>
struct DrawnOfOne {
    SCS_INLINE static void compute(const Op& op, const Block& block, int frames) {
        Taus88 random(block);
        each_lane<L>(block, [&](int lane) {
            const LaneIn<L> in(op, block, 0, lane);
            float* out = output(op, block) + lane;
            for (int i = 0; i < frames; ++i)
                out[i * L] = drawn(op.special_index, in.at(i), random);
        });
    }
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { compute(op, block, own_frames(op, block)); }
};

void start_one(const Op& op, Block& block) SCS_NONBLOCKING {
    DrawnOfOne<1>::compute(op, block, 1);
}

constexpr Kernel of_one = drawing_kernel<DrawnOfOne, Stateless>(start_one);

// ---- binary operators: between two bounds

enum Between { between = 47, exponentially_between };

SCS_INLINE float drawn(int operation, bool audio, float a, float b, Taus88& random) {
    const float low = b > a ? a : b, high = b > a ? b : a;
    if (operation == between) // as in SuperCollider, at audio rate the range reaches as far below
        return low + (audio ? random.bipolar() : random.unipolar()) * (high - low);
    const double part = double(random.draw()) * 0x1p-32;
    const double from = low, to = high;
    return float(from * exp(log(F64<1>(to / from)) * F64<1>(part))[0]);
}

template <int L>
struct DrawnBetween {
    SCS_INLINE static void compute(const Op& op, const Block& block, int frames) {
        auto* previous = state<Previous<1>::State<L>>(op, block).value[0];
        const bool audio = at_audio_rate(op);
        Taus88 random(block);
        each_lane<L>(block, [&](int lane) {
            const LaneAnyIn<L> a(op, block, 0, lane, previous + lane);
            const LaneAnyIn<L> b(op, block, 1, lane, previous + lane);
            float* out = output(op, block) + lane;
            for (int i = 0; i < frames; ++i)
                out[i * L] = drawn(op.special_index, audio, a.at(i), b.at(i), random);
        });
    }
    static void run(const Op& op, Block& block) SCS_NONBLOCKING { compute(op, block, own_frames(op, block)); }
};

void start_between(const Op& op, Block& block) SCS_NONBLOCKING {
    keep_inputs<1>(op, block, is_ramped(op, 0) ? 0 : 1);
    DrawnBetween<1>::compute(op, block, 1);
}

constexpr Kernel of_two = drawing_kernel<DrawnBetween, Previous<1>::State>(start_between);

} // namespace

const Kernel* choose_random_unary(const Signature& s) {
    return (s.special_index >= rand && s.special_index <= sum3rand) || s.special_index == coin ? &of_one : nullptr;
}

const Kernel* choose_random_binary(const Signature& s) {
    return s.special_index == between || s.special_index == exponentially_between ? &of_two : nullptr;
}

} // namespace scs::SCS_SIMD
