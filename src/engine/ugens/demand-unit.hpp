// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A unit at demand rate that isn't an operator: a struct of the numbers that it keeps, all doubles or none, with
// begin() and next(), which are given its inputs (Asking).

#include "engine/ugens/demand.hpp"
#include "engine/ugens/taus88.hpp"

namespace scs::SCS_SIMD {

template <class Unit>
constexpr size_t items_of = __is_empty(Unit) ? 0 : sizeof(Unit) / sizeof(double);

template <class Unit>
struct Kept {
    template <int N>
    struct State {
        static constexpr size_t items64 = items_of<Unit>;
        double items[items_of<Unit>][N];
    };
};

/// A voice's Unit, which is put back into its state at the end.
template <class Unit, int L>
class Loaded {
public:
    using Items = double[items_of<Unit>][L];

    SCS_INLINE Loaded(Items& items, int lane) : items_(items), lane_(lane) {
        double numbers[items_of<Unit>];
        for (size_t i = 0; i < items_of<Unit>; ++i)
            numbers[i] = items_[i][lane_];
        __builtin_memcpy(&unit, numbers, sizeof unit);
    }
    SCS_INLINE ~Loaded() {
        double numbers[items_of<Unit>];
        __builtin_memcpy(numbers, &unit, sizeof unit);
        for (size_t i = 0; i < items_of<Unit>; ++i)
            items_[i][lane_] = numbers[i];
    }
    Loaded(const Loaded&) = delete;
    Loaded& operator=(const Loaded&) = delete;

    Unit unit;

private:
    Items& items_;
    const int lane_;
};

template <class Unit, int L>
SCS_INLINE Loaded<Unit, L> load(const Op& op, const Pull& pull) {
    return {state<typename Kept<Unit>::template State<L>>(op, pull.block).items, pull.lane};
}

template <class Unit, int L>
float give(const Op& op, Pull& pull) SCS_NONBLOCKING {
    const Asking<L> in(op, pull);
    const auto next = [&](auto& unit) {
        if (pull.frame > 0)
            return unit.next(in);
        unit.begin(in);
        return 0.f;
    };
    if constexpr (items_of<Unit> == 0) {
        Unit unit;
        return next(unit);
    } else {
        auto kept = load<Unit, L>(op, pull);
        return next(kept.unit);
    }
}

template <class Unit>
void start(const Op& op, Block& block) SCS_NONBLOCKING {
    Pull pull = pull_for(block, 0, -1);
    (void)give<Unit, 1>(op, pull);
}

template <class Unit>
constexpr Kernel demand_kernel(KernelFunction starts = start<Unit>) {
    Kernel made;
    made.start = starts;
    made.pull = give<Unit, 1>;
    made.pull_of_lane = give<Unit, lanes>;
    made.state64 = items_of<Unit>;
    made.pulls = true;
    return made;
}

template <class Unit>
constexpr Kernel drawing_demand_kernel() {
    Kernel made = demand_kernel<Unit>();
    made.effect = Effect::draws;
    return made;
}

template <const Kernel& kernel, size_t fewest = 2>
const Kernel* choose_demand_kernel(const Signature& s) {
    return s.rate == Rate::demand && s.outputs == 1 && s.inputs.size() >= fewest ? &kernel : nullptr;
}

SCS_INLINE int32_t rounded(float x) {
    return int_of(floor(F32<1>(x + 0.5f))[0]);
}

/// 0 to range - 1; what the generator makes of other ranges.
SCS_INLINE int32_t whole_below(const Block& block, int32_t range) {
    return int_of(floor(F64<1>(double(range) * Taus88(block).fine()))[0]);
}

/// How many values, or repeats, there are, and were. Input 0 is asked for that when the first one is.
struct Counted {
    double repeats, count;

    SCS_INLINE void begin() {
        repeats = -1;
        count = 0;
    }
    /// Whether the first one is asked for now.
    template <class In>
    SCS_INLINE bool is_first(const In& in) {
        const bool first = repeats < 0;
        if (first)
            repeats = in.repeats(0);
        return first;
    }
    SCS_INLINE bool is_over() const { return count >= repeats; }
};

} // namespace scs::SCS_SIMD
