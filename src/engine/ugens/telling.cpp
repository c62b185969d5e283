// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/demand.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/synth-listener.hpp"

// SendTrig, SendReply, Poll: units that tell clients, bindings or the log of something at triggers, and Dpoll, which
// does so when it is asked for a value. A trigger is a sample of input 0 above 0 after one that wasn't; at control rate
// there is one in a block, at its first frame.

namespace scs::SCS_SIMD {
namespace {

constexpr size_t most_text = 255, most_values = 1024;

template <int N>
struct TriggerState {
    static constexpr size_t items64 = 0;
    float before[N];
};

/// `Unit::tell(op, block, lane, frame)` tells what there is to tell at a trigger.
template <class Unit>
struct AtTriggers {
    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<TriggerState<L>>(op, block);
            const int n = is_audio(op, 0) ? block.frames : 1;
            each_lane<L>(block, [&](int lane) {
                const LaneIn<L> trigger(op, block, 0, lane);
                float before = s.before[lane];
                for (int i = 0; i < n; ++i) {
                    const float now = trigger.at(i);
                    if (now > 0.f && before <= 0.f)
                        Unit::template tell<L>(op, block, lane, i);
                    before = now;
                }
                s.before[lane] = before;
            });
            for (size_t out = 0; out < op.outputs; ++out) {
                float* to = output(op, block, out);
                for (int i = 0, frames = is_audio(op, op.inputs + out) ? block.frames : 1; i < frames * L; ++i)
                    to[i] = 0.f;
            }
        }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        for (size_t out = 0; out < op.outputs; ++out)
            *output(op, block, out) = 0.f;
    }
    static constexpr Kernel made() {
        Kernel kernel = lane_kernel<Run, TriggerState>(start);
        kernel.sends = true;
        return kernel;
    }
    static constexpr Kernel kernel = made();
};

template <int L>
SCS_INLINE float value_at(const Op& op, const Block& block, size_t index, int lane, int frame) {
    return LaneIn<L>(op, block, index, lane).at(frame);
}

/// The text whose length is input `length_input`; the inputs after that are its characters.
struct Text {
    char characters[most_text];
    size_t length;

    Text(const Op& op, const Block& block, size_t length_input) : length(size_t(*input(op, block, length_input))) {
        for (size_t i = 0; i < length; ++i)
            characters[i] = char(int_of(*input(op, block, length_input + 1 + i)));
    }
    std::string_view view() const { return {characters, length}; }
};

/// Whether input `length_input` is a constant, and as many constants come after it, which are the text.
bool has_text(const Signature& s, size_t length_input) {
    if (s.inputs.size() <= length_input || !s.inputs[length_input].constant)
        return false;
    const float length = s.inputs[length_input].value;
    if (!(length >= 0.f && length <= float(most_text)) || s.inputs.size() - length_input - 1 < size_t(length))
        return false;
    for (size_t i = 0; i < size_t(length); ++i)
        if (!s.inputs[length_input + 1 + i].constant)
            return false;
    return true;
}

bool is_called(const Signature& s) {
    return s.rate == Rate::audio || s.rate == Rate::control;
}

// ---- SendTrig: trigger, ID, value

struct SendTrig {
    template <int L>
    static void tell(const Op& op, const Block& block, int lane, int frame) {
        block.space->listener->trigger(*block.synths[lane], frame, int_of(value_at<L>(op, block, 1, lane, 0)),
                                       value_at<L>(op, block, 2, lane, frame));
    }
    static const Kernel* choose(const Signature& s) {
        return is_called(s) && s.inputs.size() == 3 ? &AtTriggers<SendTrig>::kernel : nullptr;
    }
};

// ---- SendReply: trigger, ID, length of the path, its characters, values

struct SendReply {
    static constexpr size_t length_input = 2;

    template <int L>
    [[gnu::noinline]] static void tell(const Op& op, const Block& block, int lane, int frame) {
        const Text path(op, block, length_input);
        float values[most_values];
        const size_t first = length_input + 1 + path.length, count = op.inputs - first;
        for (size_t i = 0; i < count; ++i)
            values[i] = value_at<L>(op, block, first + i, lane, frame);
        block.space->listener->reply(*block.synths[lane], frame, int_of(value_at<L>(op, block, 1, lane, 0)),
                                     path.view(), {values, count});
    }
    static const Kernel* choose(const Signature& s) {
        return is_called(s) && has_text(s, length_input) && s.inputs.size() <= most_values
                   ? &AtTriggers<SendReply>::kernel
                   : nullptr;
    }
};

// ---- Poll: trigger, value, ID of a trigger or a number below 0, length of the label, its characters

struct Poll {
    static constexpr size_t length_input = 3;

    template <int L>
    [[gnu::noinline]] static void tell(const Op& op, const Block& block, int lane, int frame) {
        const float value = value_at<L>(op, block, 1, lane, frame), id = value_at<L>(op, block, 2, lane, 0);
        block.space->listener->poll(Text(op, block, length_input).view(), value, -1);
        if (id >= 0.f)
            block.space->listener->trigger(*block.synths[lane], frame, int_of(id), value);
    }
    static const Kernel* choose(const Signature& s) {
        return is_called(s) && has_text(s, length_input) ? &AtTriggers<Poll>::kernel : nullptr;
    }
};

// ---- Dpoll: value, ID as Poll's, whether to print, length of the label, its characters

struct Dpoll {
    enum { value, id, runs, length_input };
    static constexpr size_t as_many_inputs = 256; ///< to tell of a value takes as long as to ask a unit with those

    template <int L>
    static float give(const Op& op, Pull& pull) SCS_NONBLOCKING {
        const Asking<L> in(op, pull);
        if (pull.frame == 0) {
            in.restart(value);
            return 0.f;
        }
        const float x = in.next(value);
        in.spend(as_many_inputs);
        tell(op, pull, x, in.next(runs) > 0.f, in.held(id));
        return x;
    }
    static const Kernel* choose(const Signature& s) {
        return s.rate == Rate::demand && s.outputs == 1 && has_text(s, length_input) && !is_demand(s, id) ? &kernel
                                                                                                          : nullptr;
    }

private:
    [[gnu::noinline]] static void tell(const Op& op, const Pull& pull, float x, bool prints, float id) {
        SynthListener& listener = *pull.block.space->listener;
        if (prints)
            listener.poll(Text(op, pull.block, length_input).view(), x, pull.frame - 1);
        if (id >= 0.f)
            listener.trigger(*pull.block.synths[pull.lane], pull.frame - 1, int_of(id), x);
    }
    static const Kernel kernel;
};

constinit const Kernel Dpoll::kernel = [] {
    Kernel made;
    made.pull = give<1>;
    made.pull_of_lane = give<lanes>;
    made.pulls = true;
    made.sends = true;
    return made;
}();

constexpr NativeUgen list[] = {
    {"Dpoll", Dpoll::choose},
    {"Poll", Poll::choose},
    {"SendReply", SendReply::choose},
    {"SendTrig", SendTrig::choose},
};

} // namespace

SCS_FAMILY(telling)

} // namespace scs::SCS_SIMD
