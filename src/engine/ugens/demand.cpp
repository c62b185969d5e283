// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/demand.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"

// Demand, Duty, TDuty: what asks units at demand rate for values.

namespace scs::SCS_SIMD {
namespace {

// ---- Demand: trigger, reset, what is asked for a value at each trigger

constexpr size_t most_values = 32;

/// Two items, and one for each output.
enum Item { trigger_before, reset_before, values };

template <int L>
SCS_INLINE float* item(const Op& op, const Block& block, size_t which, int lane) {
    return reinterpret_cast<float*>(block.bases[size_t(Base::record)] + op.state) + which * L + size_t(lane);
}

template <int L>
struct Demand {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        const int n = own_frames(op, block);
        each_lane<L>(block, [&](int lane) {
            const LaneIn<L> trigger(op, block, 0, lane), reset(op, block, 1, lane);
            float &kept_trigger = *item<L>(op, block, trigger_before, lane),
                  &kept_reset = *item<L>(op, block, reset_before, lane);
            float before = kept_trigger, reset_until_now = kept_reset;
            Pull pull = pull_for(block, lane, 0);
            int filled = 0;
            for (int i = 0; i < n; ++i) {
                const float now = trigger.at(i), anew = reset.at(i);
                const bool restarts = anew > 0.f && reset_until_now <= 0.f, triggered = now > 0.f && before <= 0.f;
                if (restarts || triggered) {
                    fill(op, block, lane, filled, i);
                    filled = i;
                    pull.frame = i + 1;
                    ask(op, pull, restarts, triggered);
                }
                before = now;
                reset_until_now = anew;
            }
            fill(op, block, lane, filled, n);
            kept_trigger = before;
            kept_reset = reset_until_now;
        });
    }

private:
    /// Puts the last values out.
    SCS_INLINE static void fill(const Op& op, const Block& block, int lane, int from, int to) {
        for (size_t k = 0; k < op.outputs; ++k) {
            const float value = *item<L>(op, block, values + k, lane);
            float* out = output(op, block, k) + lane;
            for (int i = from; i < to; ++i)
                out[i * L] = value;
        }
    }
    [[gnu::noinline]] static void ask(const Op& op, Pull& pull, bool restarts, bool triggered) {
        const Asking<L> in(op, pull);
        if (restarts)
            for (size_t k = 2; k < op.inputs; ++k)
                in.restart(k);
        for (size_t k = 2; triggered && k < op.inputs; ++k) {
            if (const float x = in.next(k); is_no_number(x))
                done_flag(op, pull.block, pull.lane) = true;
            else
                *item<L>(op, pull.block, values + k - 2, pull.lane) = x;
        }
    }
};

/// A kernel for each number of outputs.
struct DemandKernels {
    Kernel of[most_values + 1];
    constexpr DemandKernels() {
        for (size_t outputs = 0; outputs <= most_values; ++outputs) {
            of[outputs].start = start;
            of[outputs].lone = Demand<1>::run;
            of[outputs].batch = Demand<lanes>::run;
            of[outputs].state32 = uint16_t(values + outputs);
            of[outputs].acts_when_done = true;
            of[outputs].reads_after_writing = true;
            of[outputs].pulls = true;
            of[outputs].takes_long = true;
        }
    }
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        for (size_t k = 0; k < op.outputs; ++k)
            *output(op, block, k) = 0.f;
    }
};
constexpr DemandKernels demand_kernels;

const Kernel* choose_demand(const Signature& s) {
    // SuperCollider's at audio rate reads beyond a trigger that isn't audio: that stays its own.
    if ((s.rate != Rate::audio && s.rate != Rate::control) || is_demand(s, 0) || is_demand(s, 1) ||
        (s.rate == Rate::audio && !s.audio(0)) || s.outputs > most_values || s.inputs.size() != s.outputs + 2)
        return nullptr;
    return &demand_kernels.of[s.outputs];
}

// ---- Duty, TDuty: duration, reset, done action, value; TDuty: whether it waits for the first duration

enum { duration, reset, action, value, waits };

template <int N>
struct DutyState {
    static constexpr size_t items64 = 0;
    float count[N], reset[N], held[N]; ///< reset: its last value, or what is left until the next one
};

/// `Values`: whether the value stays until the next one; else it is there for one frame.
template <bool Values>
struct Lasting {
    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<DutyState<L>>(op, block);
            const int n = own_frames(op, block);
            const auto rate = float(own_rate(op, block).samples);
            const bool timed = op.operands[reset].rate == Rate::demand;
            each_lane<L>(block, [&](int lane) {
                Pull pull = pull_for(block, lane, 0);
                const Asking<L> in(op, pull);
                float* out = output(op, block) + lane;
                float count = s.count[lane], before = s.reset[lane], held = s.held[lane];
                for (int i = 0; i < n; ++i) {
                    pull.frame = i + 1;
                    const float now = timed ? 0.f : in.next(reset);
                    if (timed ? before <= 0.f : now > 0.f && before <= 0.f) {
                        in.restart(value);
                        in.restart(duration);
                        count = 0.f;
                        if (timed)
                            before = in.next(reset) * rate + before;
                    } else if (timed) {
                        --before;
                    }
                    float made = Values ? held : 0.f;
                    if (count <= 0.f) {
                        count = in.next(duration) * rate + count;
                        if (is_no_number(count))
                            act(block, lane, in.held(action));
                        const float x = in.next(value);
                        if (!is_no_number(x))
                            made = held = x;
                        else if (Values)
                            act(block, lane, in.held(action));
                    }
                    out[i * L] = made;
                    --count;
                    if (!timed)
                        before = now;
                }
                s.count[lane] = count;
                s.reset[lane] = before;
                s.held[lane] = held;
            });
        }
    };

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<DutyState<1>>(op, block);
        const double rate = own_rate(op, block).samples;
        Pull pull = pull_for(block, 0, 0);
        const Asking<1> in(op, pull);
        if (in.is_demand(reset))
            s.reset[0] = float(double(in.next(reset)) * rate);
        if (Values || in.held(waits) != 0.f)
            s.count[0] = float(double(in.next(duration)) * rate);
        if (Values)
            s.held[0] = in.next(value);
        *output(op, block) = Values ? s.held[0] : 0.f;
    }

    static constexpr Kernel kernel = [] {
        Kernel made = lane_kernel<Run, DutyState>(start);
        made.acts_when_done = true;
        made.reads_after_writing = true;
        made.pulls = true;
        made.takes_long = true;
        return made;
    }();

    static const Kernel* choose(const Signature& s) {
        if ((s.rate != Rate::audio && s.rate != Rate::control) || s.outputs != 1 ||
            s.inputs.size() != (Values ? waits : waits + 1) || is_demand(s, action) || (!Values && is_demand(s, waits)))
            return nullptr;
        return &kernel;
    }
};

constexpr NativeUgen list[] = {
    {"Demand", choose_demand},
    {"Duty", Lasting<true>::choose},
    {"TDuty", Lasting<false>::choose},
};

} // namespace

SCS_FAMILY(demand)

} // namespace scs::SCS_SIMD
