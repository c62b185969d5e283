// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {
namespace {

// Units that end or pause their own synth, on a trigger or when another UGen is done.

enum Action : int { pause = 1, end = 2 };

template <int N>
struct TriggerState {
    static constexpr size_t items64 = 0;
    float previous[N];
};

template <Action What>
struct OnTrigger {
    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<TriggerState<L>>(op, block);
            each_lane<L>(block, [&](int lane) {
                const float now = input(op, block, 0)[lane];
                if (now > 0.f && s.previous[lane] <= 0.f)
                    act(block, lane, What);
                s.previous[lane] = now;
                if (op.outputs) // the unit may have no output
                    output(op, block)[lane] = 0.f;
            });
        }
    };
    /// A trigger in the start is seen again in the first block.
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        Run<1>::run(op, block);
        state<TriggerState<1>>(op, block).previous[0] = 0.f;
    }
    static constexpr Kernel kernel = lane_kernel<Run, TriggerState>(start);
    static const Kernel* choose(const Signature& s) { return s.rate == Rate::audio ? nullptr : &kernel; }
};

constexpr Kernel waiting(Kernel made) {
    made.waits_for_done = true;
    return made;
}

template <int N>
struct WaitState {
    static constexpr size_t items64 = 0;
    int32_t acted[N];
};

/// Passes on its input until the UGen that computes it is done.
template <Action What>
struct WhenDone {
    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<WaitState<L>>(op, block);
            each_lane<L>(block, [&](int lane) {
                output(op, block)[lane] = s.acted[lane] ? 0.f : input(op, block, 0)[lane];
                if (s.acted[lane] || !done_flag(op, block, lane))
                    return;
                s.acted[lane] = true;
                act(block, lane, What);
            });
        }
    };
    static constexpr Kernel kernel = waiting(lane_kernel<Run, WaitState>(Run<1>::run));
    static const Kernel* choose(const Signature& s) {
        return s.rate == Rate::audio || s.inputs[0].constant ? nullptr : &kernel;
    }
};

template <int L>
struct Done {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        each_lane<L>(block, [&](int lane) { output(op, block)[lane] = done_flag(op, block, lane) ? 1.f : 0.f; });
    }
};

constexpr Kernel done_kernel = waiting(lane_kernel<Done, Stateless>(Done<1>::run));

constexpr NativeUgen list[] = {
    {"Done", [](const Signature& s) -> const Kernel* { return s.rate == Rate::audio ? nullptr : &done_kernel; }},
    {"FreeSelf", OnTrigger<end>::choose},
    {"FreeSelfWhenDone", WhenDone<end>::choose},
    {"PauseSelf", OnTrigger<pause>::choose},
    {"PauseSelfWhenDone", WhenDone<pause>::choose},
};

} // namespace

SCS_FAMILY(when_done)

} // namespace scs::SCS_SIMD
