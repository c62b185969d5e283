// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/demand-unit.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/memory.hpp"

// Units at demand rate that give what their inputs are or give: one after the other (Dseq, Dser, Dshuf), one that is
// drawn (Drand, Dxrand, Dwrand), one that is selected (Dswitch, Dswitch1), or the same in another way (Ddup, Dreset,
// Dconst).

namespace scs::SCS_SIMD {
namespace {

// ---- one input after the other

/// Of Dseq, Dshuf: `place(index)` is the input of an index from 0 to `count` - 1, and all of them are a repeat.
struct Sequence {
    Counted counted;
    double index, restarts, last; ///< last: what it gave last

    void begin() {
        counted.begin();
        index = 0;
        restarts = 1;
    }
    template <class In, class Place>
    float next(const In& in, size_t count, size_t attempts, Place&& place) {
        (void)counted.is_first(in);
        for (; in.goes_on() && attempts > 0; --attempts) {
            if (index >= double(count)) {
                index = 0;
                ++counted.count;
            }
            if (counted.is_over()) {
                index = 0;
                return give(no_more);
            }
            const size_t input = place(size_t(index));
            const bool is_demand = in.is_demand(input);
            if (is_demand && restarts != 0) {
                restarts = 0;
                in.restart(input);
            }
            const float x = in.next(input);
            if (is_demand && !is_no_number(x))
                return give(x);
            ++index;
            restarts = 1;
            if (!is_demand)
                return give(x);
        }
        return in.goes_on() ? float(last) : no_more; // all are empty
    }

private:
    float give(float x) {
        last = double(x);
        return x;
    }
};

struct Dseq {
    Sequence sequence;

    template <class In>
    void begin(const In&) {
        sequence.begin();
    }
    template <class In>
    float next(const In& in) {
        return sequence.next(in, in.inputs() - 1, in.inputs() + 2, [](size_t index) { return index + 1; });
    }
};

/// One input a time, which `Choice` chooses anew when it has ended.
template <class Choice>
struct Choosing {
    Counted counted;
    double index, restarts;

    template <class In>
    void begin(const In& in) {
        counted.begin();
        restarts = 1;
        index = Choice::first(in, index);
    }
    template <class In>
    float next(const In& in) {
        (void)counted.is_first(in);
        while (in.goes_on()) {
            if (index >= double(in.inputs()))
                index = 1;
            if (counted.is_over())
                return no_more;
            const auto chosen = size_t(index);
            const bool is_demand = in.is_demand(chosen);
            if (is_demand && restarts != 0) {
                restarts = 0;
                in.restart(chosen);
            }
            const float x = is_demand ? in.next(chosen) : Choice::value(in, chosen);
            if (is_demand && !is_no_number(x))
                return x;
            index = Choice::after(in, index);
            ++counted.count;
            restarts = 1;
            if (!is_demand)
                return x;
        }
        return no_more;
    }
};

struct InOrder {
    template <class In>
    static double first(const In&, double) {
        return 1;
    }
    template <class In>
    static double after(const In&, double index) {
        return index + 1;
    }
    template <class In>
    static float value(const In& in, size_t index) {
        return in.held(index);
    }
};

struct AtFrame {
    template <class In>
    static float value(const In& in, size_t index) {
        return in.next(index);
    }
};

struct AtRandom : AtFrame {
    template <class In>
    static double first(const In& in, double) {
        return whole_below(in.block(), int32_t(in.inputs()) - 1) + 1;
    }
    template <class In>
    static double after(const In& in, double index) {
        return first(in, index);
    }
};

struct AnotherAtRandom : AtFrame {
    template <class In>
    static double first(const In& in, double index) {
        const int32_t drawn = whole_below(in.block(), int32_t(in.inputs()) - 2) + 1;
        return drawn < index ? drawn : drawn + 1;
    }
    template <class In>
    static double after(const In& in, double index) {
        return first(in, index);
    }
};

/// Inputs: repeats, how many weights, the weights, as many inputs.
struct ByWeight : AtFrame {
    template <class In>
    static double first(const In& in, double index) {
        const float given = in.held(1);
        const auto weights = size_t(given > 0.f ? int_of(given) : 0), offset = weights + 2;
        const float drawn = Taus88(in.block()).unipolar();
        in.spend(in.inputs());
        float sum = 0.f;
        for (size_t i = 0; i + offset < in.inputs(); ++i) {
            sum += in.held(2 + i);
            if (sum >= drawn)
                return double(i + offset);
        }
        return index;
    }
    template <class In>
    static double after(const In& in, double index) {
        return first(in, index);
    }
};

// ---- Dshuf: the inputs in an order that is drawn

template <int N>
struct ShuffledState {
    static constexpr size_t items64 = 1 + items_of<Sequence>;
    int32_t* order[N]; ///< null: there was no memory for it
    double items[items_of<Sequence>][N];
};

template <int L>
float give_shuffled(const Op& op, Pull& pull) SCS_NONBLOCKING {
    auto& s = state<ShuffledState<L>>(op, pull.block);
    int32_t* const order = s.order[pull.lane];
    if (!order)
        return 0.f;
    const auto count = int32_t(op.inputs) - 1;
    Loaded<Sequence, L> kept(s.items, pull.lane);
    const Asking<L> in(op, pull);
    if (pull.frame > 0)
        return kept.unit.next(in, size_t(count), SIZE_MAX, [order](size_t index) { return size_t(order[index]); });
    kept.unit.begin();
    in.spend(op.inputs);
    Taus88 random(pull.block);
    for (int32_t i = 0; i < count - 1; ++i) {
        const int32_t other = i + int_of(floor(F64<1>(double(count - i) * random.fine()))[0]);
        const int32_t moved = order[i];
        order[i] = order[other];
        order[other] = moved;
    }
    return 0.f;
}

void start_shuffled(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<ShuffledState<1>>(op, block);
    int32_t* const order = claim<int32_t>(block, size_t(op.inputs) - 1);
    s.order[0] = order;
    if (!order)
        return complain_of_memory(op, block);
    for (int32_t i = 0; i < int32_t(op.inputs) - 1; ++i)
        order[i] = i + 1;
    Pull pull = pull_for(block, 0, -1);
    (void)give_shuffled<1>(op, pull);
}

constexpr Kernel shuffled = [] {
    Kernel made;
    made.start = start_shuffled;
    made.pull = give_shuffled<1>;
    made.pull_of_lane = give_shuffled<lanes>;
    made.stop = give_back<&ShuffledState<1>::order>;
    made.state64 = state64<ShuffledState>();
    made.pulls = true;
    made.effect = Effect::draws;
    return made;
}();

// ---- selected

/// The input that an index selects, of those from 1 to `count`.
SCS_INLINE size_t wrapped_input(int32_t index, size_t count) {
    const int64_t n = int64_t(count), rest = int64_t(index) % n;
    return size_t(rest < 0 ? rest + n : rest) + 1;
}

/// Inputs: index, what it selects.
struct Dswitch1 {
    double unused;

    template <class In>
    void begin(const In& in) {
        in.spend(in.inputs());
        for (size_t i = 0; i < in.inputs(); ++i)
            in.restart(i);
    }
    template <class In>
    float next(const In& in) {
        const float index = in.next(0);
        return is_no_number(index) ? index : in.next(wrapped_input(rounded(index), in.inputs() - 1));
    }
};

/// The same, but an input stays selected until it has ended.
struct Dswitch {
    double index;

    template <class In>
    void begin(const In& in) {
        in.spend(in.inputs());
        for (size_t i = 0; i < in.inputs(); ++i)
            in.restart(i);
        choose_first(in);
    }
    template <class In>
    float next(const In& in) {
        const auto last = size_t(index);
        const bool there = last < in.inputs();
        if (const float x = there ? in.next(last) : no_more; !is_no_number(x))
            return x;
        const float wanted = in.next(0);
        if (is_no_number(wanted))
            return wanted;
        const size_t chosen = wrapped_input(rounded(wanted), in.inputs() - 1);
        const float x = in.next(chosen);
        if (there)
            in.restart(last);
        index = double(chosen);
        return x;
    }
    /// As in SuperCollider, it may be one too far at first.
    template <class In>
    void choose_first(const In& in) {
        in.pull().frame = 1;
        index = double(wrapped_input(rounded(in.next(0)), in.inputs()));
        in.pull().frame = 0;
    }
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        Pull pull = pull_for(block, 0, -1);
        auto kept = load<Dswitch, 1>(op, pull);
        kept.unit.choose_first(Asking<1>(op, pull));
    }
};

/// Inputs: how often, what.
struct Ddup {
    double repeats, count, value;

    template <class In>
    void begin(const In& in) {
        repeats = -1;
        count = 0;
        in.restart(0);
        in.restart(1);
    }
    template <class In>
    float next(const In& in) {
        if (count >= repeats) {
            const float x = in.next(1), often = in.next(0);
            if (is_no_number(often) || is_no_number(x))
                return no_more;
            value = double(x);
            repeats = double(floor(F32<1>(often + 0.5f))[0]);
            count = 0;
        }
        ++count;
        return float(value);
    }
};

/// Inputs: what, a trigger that has it begin anew.
struct Dreset {
    double before;

    template <class In>
    void begin(const In& in) {
        in.restart(0);
    }
    template <class In>
    float next(const In& in) {
        const float x = in.next(0), trigger = in.next(1);
        if (is_no_number(x))
            return no_more;
        if (trigger > 0.f && before <= 0)
            in.restart(0);
        before = double(trigger);
        return x;
    }
};

/// Inputs: the sum at which it ends, what, how far below that counts as the sum.
struct Dconst {
    double total, sum, tolerance;

    template <class In>
    void begin(const In& in) {
        total = -1;
        sum = 0;
        for (size_t i = 0; i < 3; ++i)
            in.restart(i);
    }
    template <class In>
    float next(const In& in) {
        if (sum != sum)
            return no_more;
        if (total < 0) {
            const float wanted = in.next(0), near = in.next(2);
            if (is_no_number(wanted) || is_no_number(near))
                return no_more;
            total = double(wanted);
            tolerance = double(near);
        }
        const float x = in.next(1);
        if (is_no_number(x))
            return no_more;
        const float before = float(sum), reached = before + x, all = float(total), left = all - reached;
        if (reached > all || (left < 0.f ? -left : left) <= float(tolerance)) {
            sum = double(no_more);
            return all - before;
        }
        sum = double(reached);
        return x;
    }
};

constexpr Kernel sequence = demand_kernel<Dseq>();
constexpr Kernel some_of_sequence = demand_kernel<Choosing<InOrder>>();
constexpr Kernel at_random = drawing_demand_kernel<Choosing<AtRandom>>();
constexpr Kernel another_at_random = drawing_demand_kernel<Choosing<AnotherAtRandom>>();
constexpr Kernel by_weight = drawing_demand_kernel<Choosing<ByWeight>>();
constexpr Kernel selecting = [] {
    Kernel made = demand_kernel<Dswitch1>();
    made.start = nullptr;
    return made;
}();
constexpr Kernel switching = demand_kernel<Dswitch>(Dswitch::start);
constexpr Kernel repeating = demand_kernel<Ddup>();
constexpr Kernel resetting = demand_kernel<Dreset>();
constexpr Kernel limited = demand_kernel<Dconst>();

const Kernel* choose_by_weight(const Signature& s) {
    if (s.inputs.size() < 3 || !s.inputs[1].constant)
        return nullptr;
    const float weights = s.inputs[1].value;
    if (!(weights >= 1.f) || float(s.inputs.size()) < 2.f * weights + 2.f)
        return nullptr;
    for (size_t i = 0; i < size_t(weights); ++i)
        if (is_demand(s, 2 + i))
            return nullptr;
    return choose_demand_kernel<by_weight>(s);
}

constexpr NativeUgen list[] = {
    {"Dconst", choose_demand_kernel<limited, 3>},
    {"Ddup", choose_demand_kernel<repeating>},
    {"Drand", choose_demand_kernel<at_random>},
    {"Dreset", choose_demand_kernel<resetting>},
    {"Dseq", choose_demand_kernel<sequence>},
    {"Dser", choose_demand_kernel<some_of_sequence>},
    {"Dshuf", choose_demand_kernel<shuffled>},
    {"Dswitch", choose_demand_kernel<switching>},
    {"Dswitch1", choose_demand_kernel<selecting>},
    {"Dwrand", choose_by_weight},
    {"Dxrand", choose_demand_kernel<another_at_random>},
};

} // namespace

SCS_FAMILY(demand_inputs)

} // namespace scs::SCS_SIMD
