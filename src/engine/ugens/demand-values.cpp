// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/demand.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/memory.hpp"
#include "engine/ugens/taus88.hpp"
#include "engine/ugens/wrapping.hpp"

// The units at demand rate but for operators. A unit is a struct of the numbers that it keeps, all doubles, with
// begin() and next().

namespace scs::SCS_SIMD {
namespace {

template <class Unit>
constexpr size_t items_of = sizeof(Unit) / sizeof(double);

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
    SCS_INLINE Loaded(const Op& op, const Pull& pull)
        : state_(state<typename Kept<Unit>::template State<L>>(op, pull.block)), lane_(pull.lane) {
        double numbers[items_of<Unit>];
        for (size_t i = 0; i < items_of<Unit>; ++i)
            numbers[i] = state_.items[i][lane_];
        __builtin_memcpy(&unit, numbers, sizeof unit);
    }
    SCS_INLINE ~Loaded() {
        double numbers[items_of<Unit>];
        __builtin_memcpy(numbers, &unit, sizeof unit);
        for (size_t i = 0; i < items_of<Unit>; ++i)
            state_.items[i][lane_] = numbers[i];
    }
    Loaded(const Loaded&) = delete;
    Loaded& operator=(const Loaded&) = delete;

    Unit unit;

private:
    typename Kept<Unit>::template State<L>& state_;
    const int lane_;
};

template <class Unit, int L>
float give(const Op& op, Pull& pull) SCS_NONBLOCKING {
    Loaded<Unit, L> kept(op, pull);
    const Asking<L> in(op, pull);
    if (pull.frame > 0)
        return kept.unit.next(in);
    kept.unit.begin(in);
    return 0.f;
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

SCS_INLINE int32_t plus(int32_t a, int32_t b) {
    return int32_t(uint32_t(a) + uint32_t(b));
}
SCS_INLINE int32_t minus(int32_t a, int32_t b) {
    return int32_t(uint32_t(a) - uint32_t(b));
}

/// 0 to range - 1; what the generator makes of other ranges.
SCS_INLINE int32_t whole_below(const Block& block, int32_t range) {
    return int_of(floor(F64<1>(double(range) * Taus88(block).fine()))[0]);
}

SCS_INLINE int32_t rounded(float x) {
    return int_of(floor(F32<1>(x + 0.5f))[0]);
}

/// The input that an index selects, of those from 1 to `count`.
SCS_INLINE size_t wrapped_input(int32_t index, size_t count) {
    const int64_t n = int64_t(count), rest = int64_t(index) % n;
    return size_t(rest < 0 ? rest + n : rest) + 1;
}

// ---- numbers: input 0 says how many

struct Counted {
    double repeats, count;

    void begin() {
        repeats = -1;
        count = 0;
    }
    template <class In>
    bool is_over(const In& in) {
        if (repeats < 0)
            repeats = in.repeats(0);
        return count >= repeats;
    }
};

template <class Grow>
struct Progression {
    Counted counted;
    double value, step;

    template <class In>
    void begin(const In&) {
        counted.begin();
    }
    template <class In>
    float next(const In& in) {
        if (const float by = in.next(2); !is_no_number(by))
            step = double(by);
        if (counted.repeats < 0) {
            counted.repeats = in.repeats(0);
            value = double(in.next(1));
        }
        if (counted.count >= counted.repeats)
            return no_more;
        const auto now = float(value);
        value = Grow::of(value, step);
        ++counted.count;
        return now;
    }
};
struct Plus {
    static double of(double a, double b) { return a + b; }
};
struct Times {
    static double of(double a, double b) { return a * b; }
};

struct Dwhite {
    Counted counted;
    double low, range;

    template <class In>
    void begin(const In&) {
        counted.begin();
    }
    template <class In>
    float next(const In& in) {
        if (counted.is_over(in))
            return no_more;
        ++counted.count;
        const float from = in.next(1), to = in.next(2);
        if (!is_no_number(from))
            low = double(from);
        if (!is_no_number(to))
            range = double(to - from);
        return Taus88(in.block()).unipolar() * float(range) + float(low);
    }
};

struct Diwhite {
    Counted counted;
    double low, range;

    template <class In>
    void begin(const In&) {
        counted.begin();
    }
    template <class In>
    float next(const In& in) {
        const float from = in.next(1), to = in.next(2);
        // As in SuperCollider, it is the next one that counts.
        if (!is_no_number(from))
            low = rounded(in.next(1));
        if (!is_no_number(to))
            range = plus(minus(rounded(in.next(2)), int32_t(low)), 1);
        if (counted.is_over(in))
            return no_more;
        ++counted.count;
        return float(plus(whole_below(in.block(), int32_t(range)), int32_t(low)));
    }
};

struct Dbrown {
    Counted counted;
    double low, high, step, value;

    template <class In>
    void begin(const In&) {
        counted.begin();
    }
    template <class In>
    float next(const In& in) {
        double* const bounds[] = {&low, &high, &step};
        for (size_t i = 0; i < 3; ++i)
            if (const float x = in.next(i + 1); !is_no_number(x))
                *bounds[i] = double(x);
        const auto l = float(low), h = float(high);
        if (counted.repeats < 0) {
            counted.repeats = in.repeats(0);
            value = double(Taus88(in.block()).unipolar() * (h - l) + l);
        }
        if (counted.count >= counted.repeats)
            return no_more;
        ++counted.count;
        const auto now = float(value);
        value = double(folded(F32<1>(now + Taus88(in.block()).bipolar() * float(step)), F32<1>(l), F32<1>(h))[0]);
        return now;
    }
};

/// As in SuperCollider, also where the range ends below 0: x is brought into it by one step, or else by a division.
SCS_INLINE int32_t modulo(int32_t x, int32_t end) {
    if (x >= end) {
        x = minus(x, end);
        if (x < end)
            return x;
    } else if (x < 0) {
        x = plus(x, end);
        if (x >= 0)
            return x;
    } else {
        return x;
    }
    if (end == 0)
        return 0;
    const auto rest = int32_t(int64_t(x) % end);
    return rest < 0 ? plus(rest, end) : rest;
}

/// Into [low, high], mirrored at its ends.
SCS_INLINE int32_t mirrored(int32_t x, int32_t low, int32_t high) {
    const int32_t range = minus(high, low), twice = plus(range, range);
    const int32_t offset = modulo(minus(x, low), twice);
    return plus(offset > range ? minus(twice, offset) : offset, low);
}

struct Dibrown {
    Counted counted;
    double low, high, step, value;

    template <class In>
    void begin(const In&) {
        counted.begin();
    }
    template <class In>
    float next(const In& in) {
        double* const bounds[] = {&low, &high, &step};
        for (size_t i = 0; i < 3; ++i)
            if (const float x = in.next(i + 1); !is_no_number(x))
                *bounds[i] = double(int_of(x));
        const auto l = int32_t(low), h = int32_t(high), s = int32_t(step);
        if (counted.repeats < 0) {
            counted.repeats = in.repeats(0);
            value = plus(whole_below(in.block(), plus(minus(h, l), 1)), l);
        }
        if (counted.count >= counted.repeats)
            return no_more;
        ++counted.count;
        const auto now = int32_t(value);
        const double drawn = (2. * double(s) + 1.) * Taus88(in.block()).fine() - double(s);
        value = mirrored(plus(now, int_of(floor(F64<1>(drawn))[0])), l, h);
        return float(now);
    }
};

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
        if (counted.repeats < 0)
            counted.repeats = in.repeats(0);
        for (; in.goes_on() && attempts > 0; --attempts) {
            if (index >= double(count)) {
                index = 0;
                ++counted.count;
            }
            if (counted.count >= counted.repeats) {
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
        if (counted.repeats < 0)
            counted.repeats = in.repeats(0);
        while (in.goes_on()) {
            if (index >= double(in.inputs()))
                index = 1;
            if (counted.count >= counted.repeats)
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
    double numbers[items_of<Sequence>];
    for (size_t i = 0; i < items_of<Sequence>; ++i)
        numbers[i] = s.items[i][pull.lane];
    Sequence sequence;
    __builtin_memcpy(&sequence, numbers, sizeof sequence);
    float given = 0.f;
    if (pull.frame > 0) {
        given = sequence.next(Asking<L>(op, pull), size_t(count), SIZE_MAX,
                              [order](size_t index) { return size_t(order[index]); });
    } else {
        sequence.begin();
        Asking<L>(op, pull).spend(op.inputs);
        Taus88 random(pull.block);
        for (int32_t i = 0; i < count - 1; ++i) {
            const int32_t other = i + int_of(floor(F64<1>(double(count - i) * random.fine()))[0]);
            const int32_t moved = order[i];
            order[i] = order[other];
            order[other] = moved;
        }
    }
    __builtin_memcpy(numbers, &sequence, sizeof sequence);
    for (size_t i = 0; i < items_of<Sequence>; ++i)
        s.items[i][pull.lane] = numbers[i];
    return given;
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

// ---- units that pass on what others give

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
        Loaded<Dswitch, 1> kept(op, pull);
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

// ---- the list

template <const Kernel& kernel, size_t fewest = 2>
const Kernel* choose(const Signature& s) {
    return s.rate == Rate::demand && s.outputs == 1 && s.inputs.size() >= fewest ? &kernel : nullptr;
}

/// 3.14's gives other values where steps are wider than its range.
template <const Kernel& kernel>
const Kernel* choose_until_3_13(const Signature& s) {
    return s.release >= Release::v3_14 ? nullptr : choose<kernel, 4>(s);
}

constexpr Kernel series = demand_kernel<Progression<Plus>>();
constexpr Kernel geometric = demand_kernel<Progression<Times>>();
constexpr Kernel white = drawing_demand_kernel<Dwhite>();
constexpr Kernel whole_white = drawing_demand_kernel<Diwhite>();
constexpr Kernel brown = drawing_demand_kernel<Dbrown>();
constexpr Kernel whole_brown = drawing_demand_kernel<Dibrown>();
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
    return choose<by_weight>(s);
}

constexpr NativeUgen list[] = {
    {"Dbrown", choose<brown, 4>},
    {"Dconst", choose<limited, 3>},
    {"Ddup", choose<repeating>},
    {"Dgeom", choose<geometric, 3>},
    {"Dibrown", choose_until_3_13<whole_brown>},
    {"Diwhite", choose<whole_white, 3>},
    {"Drand", choose<at_random>},
    {"Dreset", choose<resetting>},
    {"Dseq", choose<sequence>},
    {"Dser", choose<some_of_sequence>},
    {"Dseries", choose<series, 3>},
    {"Dshuf", choose<shuffled>},
    {"Dswitch", choose<switching>},
    {"Dswitch1", choose<selecting>},
    {"Dwhite", choose<white, 3>},
    {"Dwrand", choose_by_weight},
    {"Dxrand", choose<another_at_random>},
};

} // namespace

SCS_FAMILY(demand_values)

} // namespace scs::SCS_SIMD
