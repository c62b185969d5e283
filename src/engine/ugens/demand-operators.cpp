// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/binary-operators.hpp"
#include "engine/ugens/demand.hpp"
#include "engine/ugens/families.hpp"

// Operators at demand rate. What they compute of the values that they are given is what the operator's kernel for
// controls computes when it starts.

namespace scs::SCS_SIMD {
namespace {

constexpr size_t most_state = 64; // bytes that such a kernel has

/// `inputs`: how many the operator has.
template <size_t inputs>
SCS_INLINE const Kernel* of_values(int special_index, Release release) {
    constexpr Signature::Input control{Rate::control, false, 0.f, false};
    constexpr Signature::Input both[2] = {control, control};
    const Signature s{Rate::control, special_index, std::span(both, inputs), 1, release};
    return inputs == 2 ? choose_binary(s) : choose_unary(s);
}

template <size_t inputs>
struct Operator {
    template <int L>
    static float give(const Op& op, Pull& pull) SCS_NONBLOCKING {
        const Asking<L> in(op, pull);
        if (pull.frame == 0) {
            for (size_t i = 0; i < inputs; ++i)
                in.restart(i);
            return 0.f;
        }
        float numbers[inputs + 1] = {};
        bool all = true;
        for (size_t i = 0; i < inputs; ++i) {
            numbers[i] = in.next(i);
            all = all && !is_no_number(numbers[i]);
        }
        return all ? of(op, pull.block, numbers) : no_more;
    }

private:
    [[gnu::noinline]] static float of(const Op& op, const Block& from, float* numbers) SCS_NONBLOCKING {
        Operand operands[inputs + 1];
        for (size_t i = 0; i <= inputs; ++i)
            operands[i] = {reinterpret_cast<uintptr_t>(numbers + i), Base::fixed, Rate::control};
        alignas(64) char state[most_state] = {};
        Block block = from;
        block.bases[size_t(Base::record)] = reinterpret_cast<uintptr_t>(state);
        block.live = 1;
        Op one = op;
        one.operands = operands;
        one.state = 0;
        SCS_UNPROVEN_BEGIN // it looks up a kernel among constants
        const Kernel* const kernel = of_values<inputs>(op.special_index, from.space->release);
        SCS_UNPROVEN_END
        kernel->start(one, block);
        return numbers[inputs];
    }
};

template <size_t inputs>
constexpr Kernel operator_kernel(Effect effect) {
    Kernel made;
    made.pull = Operator<inputs>::template give<1>;
    made.pull_of_lane = Operator<inputs>::template give<lanes>;
    made.pulls = true;
    made.effect = effect;
    return made;
}

template <size_t inputs>
constexpr Kernel kernel = operator_kernel<inputs>(Effect::none);
template <size_t inputs>
constexpr Kernel drawing_kernel = operator_kernel<inputs>(Effect::draws);

template <size_t inputs>
const Kernel* choose(const Signature& s) {
    if (s.rate != Rate::demand || s.inputs.size() != inputs || s.outputs != 1)
        return nullptr;
    const Kernel* computes = of_values<inputs>(s.special_index, s.release);
    if (!computes || !computes->start || computes->state64 * 8u + computes->state32 * 4u > most_state)
        return nullptr;
    return computes->effect == Effect::draws ? &drawing_kernel<inputs> : &kernel<inputs>;
}

constexpr NativeUgen list[] = {
    {"BinaryOpUGen", choose<2>},
    {"UnaryOpUGen", choose<1>},
};

} // namespace

SCS_FAMILY(demand_operators)

} // namespace scs::SCS_SIMD
