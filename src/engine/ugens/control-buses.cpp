// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/buses.hpp"
#include "engine/ugens/families.hpp"

namespace scs::SCS_SIMD {
namespace {

/// Calls f(channel, bus) for each channel of a voice; bus is -1 if there is no such bus.
template <class F>
SCS_INLINE void each_channel(const Op& op, const Block& block, int lane, int channels, F&& f) {
    const int32_t count = block.space->control_buses;
    const int32_t first = bus_of(input(op, block, 0)[lane], count);
    for (int c = 0; c < channels; ++c)
        f(c, bus_after(first, c, count));
}

// ---- writing

struct Add {
    static constexpr int first_channel = 1;
    SCS_INLINE static float mixed(const Op&, const Block&, int, bool touched, float old, float in) {
        return touched ? old + in : in;
    }
};
struct Replace {
    static constexpr int first_channel = 1;
    SCS_INLINE static float mixed(const Op&, const Block&, int, bool, float, float in) { return in; }
};
struct CrossFade {
    static constexpr int first_channel = 2;
    SCS_INLINE static float mixed(const Op& op, const Block& block, int lane, bool touched, float old, float in) {
        const float level = input(op, block, 1)[lane];
        return touched ? old + level * (in - old) : level * in;
    }
};

template <class Way>
struct Writer {
    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            Space& space = *block.space;
            each_lane<L>(block, [&](int lane) {
                each_channel(op, block, lane, op.inputs - Way::first_channel, [&](int c, int32_t bus) {
                    if (bus < 0)
                        return;
                    const float in = input(op, block, size_t(Way::first_channel + c))[lane];
                    float& to = space.control_bus[bus];
                    to = Way::mixed(op, block, lane, touch_control(space, bus), to, in);
                });
            });
        }
    };
    static constexpr Kernel kernel = [] {
        Kernel made = lane_kernel<Run, Stateless>(nullptr);
        made.effect = Effect::writes_control;
        made.first_channel = Way::first_channel;
        return made;
    }();
};

// ---- reading

template <int L>
struct In {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        each_lane<L>(block, [&](int lane) {
            each_channel(op, block, lane, op.outputs, [&](int c, int32_t bus) {
                output(op, block, size_t(c))[lane] = bus < 0 ? 0.f : block.space->control_bus[bus];
            });
        });
    }
};

/// The value if it was written in this block, else 0.
template <int L>
struct InTrig {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        const Space& space = *block.space;
        each_lane<L>(block, [&](int lane) {
            each_channel(op, block, lane, op.outputs, [&](int c, int32_t bus) {
                const bool now = bus >= 0 && age(space, space.control_touched[bus]) == 0;
                output(op, block, size_t(c))[lane] = now ? space.control_bus[bus] : 0.f;
            });
        });
    }
};

constexpr int most_lags = 16;

template <int N>
struct LagState {
    static constexpr size_t items64 = 0;
    float before[most_lags * N]; ///< channel c of lane l is at c * N + l
    float keep[N];
};

/// A one-pole lag. A difference falls to a thousandth within the time in input 1, which is read only at the start.
template <int L>
struct LagIn {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<LagState<L>>(op, block);
        each_lane<L>(block, [&](int lane) {
            each_channel(op, block, lane, op.outputs, [&](int c, int32_t bus) {
                const float in = bus < 0 ? 0.f : block.space->control_bus[bus];
                float& kept = s.before[c * L + lane];
                const float out = in + s.keep[lane] * (kept - in);
                const float size = out < 0.f ? -out : out;
                kept = size > 1e-15f && size < 1e15f ? out : 0.f;
                output(op, block, size_t(c))[lane] = kept;
            });
        });
    }
};

void start_lag_in(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<LagState<1>>(op, block);
    In<1>::run(op, block);
    for (int c = 0; c < op.outputs; ++c)
        s.before[c] = *output(op, block, size_t(c));
    constexpr double log001 = -6.907755278982137;
    const float lag = *input(op, block, 1);
    s.keep[0] = lag == 0.f ? 0.f : float(exp(F64<1>(log001 / (double(lag) * block.control->samples)))[0]);
}

template <template <int> class K, template <int> class State>
constexpr Kernel reader(KernelFunction start) {
    Kernel made = lane_kernel<K, State>(start);
    made.effect = Effect::reads_control;
    return made;
}

constexpr Kernel in = reader<In, Stateless>(In<1>::run);
constexpr Kernel in_trig = reader<InTrig, Stateless>(InTrig<1>::run);
constexpr Kernel lag_in = reader<LagIn, LagState>(start_lag_in);

const Kernel* at_control_rate(const Signature& s, const Kernel& kernel) {
    return s.rate == Rate::control ? &kernel : nullptr;
}

constexpr NativeUgen list[] = {
    {"In", [](const Signature& s) { return s.rate == Rate::audio ? nullptr : &in; }},
    {"InTrig", [](const Signature& s) { return at_control_rate(s, in_trig); }},
    {"LagIn", [](const Signature& s) { return s.outputs <= most_lags ? at_control_rate(s, lag_in) : nullptr; }},
    {"Out", [](const Signature& s) { return at_control_rate(s, Writer<Add>::kernel); }},
    {"ReplaceOut", [](const Signature& s) { return at_control_rate(s, Writer<Replace>::kernel); }},
    {"XOut", [](const Signature& s) { return at_control_rate(s, Writer<CrossFade>::kernel); }},
};

} // namespace

SCS_FAMILY(control_buses)

} // namespace scs::SCS_SIMD
