// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/demand-unit.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/wrapping.hpp"

// Units at demand rate whose values are computed or drawn: Dseries, Dgeom, Dwhite, Diwhite, Dbrown, Dibrown. Input 0
// says how many values there are.

namespace scs::SCS_SIMD {
namespace {

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
        if (counted.is_first(in))
            value = double(in.next(1));
        if (counted.is_over())
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
        (void)counted.is_first(in);
        if (counted.is_over())
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
        (void)counted.is_first(in);
        if (counted.is_over())
            return no_more;
        ++counted.count;
        return float(plus(whole_below(in.block(), int32_t(range)), int32_t(low)));
    }
};

// ---- Dbrown, Dibrown: low, high, step

struct Fractions {
    using Number = float;
    static Number of(float x) { return x; }
    static Number first(const Block& block, float low, float high) {
        return Taus88(block).unipolar() * (high - low) + low;
    }
    static Number after(const Block& block, float value, float step, float low, float high) {
        return folded(F32<1>(value + Taus88(block).bipolar() * step), F32<1>(low), F32<1>(high))[0];
    }
};

/// What SuperCollider makes of x modulo `end`, also where that is negative: until 3.13 it is x's rest then, if need be
/// brought up by `end`.
template <Release release>
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
    const bool up = release >= Release::v3_14 ? rest != 0 && (rest < 0) != (end < 0) : rest < 0;
    return up ? plus(rest, end) : rest;
}

template <Release release>
struct Integers {
    using Number = int32_t;
    static Number of(float x) { return int_of(x); }
    static Number first(const Block& block, int32_t low, int32_t high) {
        return plus(whole_below(block, plus(minus(high, low), 1)), low);
    }
    static Number after(const Block& block, int32_t value, int32_t step, int32_t low, int32_t high) {
        const double drawn = (2. * double(step) + 1.) * Taus88(block).fine() - double(step);
        return mirrored(plus(value, int_of(floor(F64<1>(drawn))[0])), low, high);
    }

private:
    /// Into [low, high], mirrored at its ends.
    static Number mirrored(int32_t x, int32_t low, int32_t high) {
        const int32_t range = minus(high, low), twice = plus(range, range);
        const int32_t offset = modulo<release>(minus(x, low), twice);
        return plus(offset > range ? minus(twice, offset) : offset, low);
    }
};

template <class Kind>
struct Walk {
    Counted counted;
    double low, high, step, value;

    template <class In>
    void begin(const In&) {
        counted.begin();
    }
    template <class In>
    float next(const In& in) {
        using Number = typename Kind::Number;
        double* const bounds[] = {&low, &high, &step};
        for (size_t i = 0; i < 3; ++i)
            if (const float x = in.next(i + 1); !is_no_number(x))
                *bounds[i] = double(Kind::of(x));
        const auto l = Number(low), h = Number(high);
        if (counted.is_first(in))
            value = double(Kind::first(in.block(), l, h));
        if (counted.is_over())
            return no_more;
        ++counted.count;
        const auto now = Number(value);
        value = double(Kind::after(in.block(), now, Number(step), l, h));
        return float(now);
    }
};

constexpr Kernel series = demand_kernel<Progression<Plus>>();
constexpr Kernel geometric = demand_kernel<Progression<Times>>();
constexpr Kernel white = drawing_demand_kernel<Dwhite>();
constexpr Kernel whole_white = drawing_demand_kernel<Diwhite>();
constexpr Kernel brown = drawing_demand_kernel<Walk<Fractions>>();
constexpr Kernel whole_brown = drawing_demand_kernel<Walk<Integers<Release::v3_13>>>();
constexpr Kernel whole_brown_of_3_14 = drawing_demand_kernel<Walk<Integers<Release::v3_14>>>();

const Kernel* choose_whole_brown(const Signature& s) {
    return s.release >= Release::v3_14 ? choose_demand_kernel<whole_brown_of_3_14, 4>(s)
                                       : choose_demand_kernel<whole_brown, 4>(s);
}

constexpr NativeUgen list[] = {
    {"Dbrown", choose_demand_kernel<brown, 4>},
    {"Dgeom", choose_demand_kernel<geometric, 3>},
    {"Dibrown", choose_whole_brown},
    {"Diwhite", choose_demand_kernel<whole_white, 3>},
    {"Dseries", choose_demand_kernel<series, 3>},
    {"Dwhite", choose_demand_kernel<white, 3>},
};

} // namespace

SCS_FAMILY(demand_numbers)

} // namespace scs::SCS_SIMD
