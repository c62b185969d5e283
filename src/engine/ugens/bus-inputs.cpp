// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/buses.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/rows.hpp"

namespace scs::SCS_SIMD {
namespace {

SCS_INLINE bool written_now(const Space& space, int32_t bus) {
    return bus >= 0 && age(space, space.audio_touched[bus]) == 0;
}

// ---- In: what has been written in this block

struct In {
    /// The samples of a channel, or null for silence.
    template <int L>
    SCS_INLINE static const float* source(const Op&, Block& block, int, int32_t first, int channel) {
        const int32_t bus = bus_after(first, channel, block.space->audio_buses);
        return written_now(*block.space, bus) ? audio_bus(*block.space, bus) : nullptr;
    }
    template <int L>
    SCS_INLINE static void begin(const Op&, Block&, int, float) {}
};

// ---- InFeedback: also what was written in the block before, unless it was read in that block already

template <int N>
struct FeedbackState {
    static constexpr size_t items64 = 0;
    float number[N];    ///< the bus in the block before
    int32_t in_time[N]; ///< a bit for each channel: whether it was read in the block in which it was written
};
constexpr size_t most_channels = 32;

/// Until 3.13 all channels share one bit.
template <bool ByChannel>
struct InFeedback {
    template <int L>
    SCS_INLINE static void begin(const Op& op, Block& block, int lane, float number) {
        auto& s = state<FeedbackState<L>>(op, block);
        if (number != s.number[lane])
            s.in_time[lane] = 0;
        s.number[lane] = number;
    }
    template <int L>
    SCS_INLINE static const float* source(const Op& op, Block& block, int lane, int32_t first, int channel) {
        const Space& space = *block.space;
        int32_t& in_time = state<FeedbackState<L>>(op, block).in_time[lane];
        const int32_t bus = bus_after(first, channel, space.audio_buses);
        const uint32_t blocks = bus < 0 ? 2 : age(space, space.audio_touched[bus]);
        const int32_t bit = ByChannel ? int32_t(1u << channel) : 1;
        const bool heard = blocks == 0 || (blocks == 1 && !(in_time & bit));
        in_time = blocks == 0 ? in_time | bit : in_time & ~bit;
        return heard ? audio_bus(space, bus) : nullptr;
    }
};

// ---- both

template <class Kind>
struct Input {
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        const float number = *input(op, block, 0);
        const int32_t first = bus_of(number, block.space->audio_buses);
        Kind::template begin<1>(op, block, 0, number);
        for (int c = 0; c < op.outputs; ++c) {
            const float* from = Kind::template source<1>(op, block, 0, first, c);
            *output(op, block, size_t(c)) = from ? *from : 0.f;
        }
    }
    static void lone(const Op& op, Block& block) SCS_NONBLOCKING {
        const float number = *input(op, block, 0);
        const int32_t first = bus_of(number, block.space->audio_buses);
        Kind::template begin<1>(op, block, 0, number);
        for (int c = 0; c < op.outputs; ++c) {
            const float* from = Kind::template source<1>(op, block, 0, first, c);
            float* to = output(op, block, size_t(c));
            if (from)
                copy(to, from, block.frames);
            else
                clear(to, block.frames);
        }
    }
    static void batch(const Op& op, Block& block) SCS_NONBLOCKING {
        const float* numbers = input(op, block, 0);
        const int one = __builtin_ctz(block.live);
        int32_t first[lanes];
        each_lane<lanes>(block, [&](int lane) {
            const float number = numbers[lane];
            first[lane] = bus_of(number, block.space->audio_buses);
            Kind::template begin<lanes>(op, block, lane, number);
        });
        for (int c = 0; c < op.outputs; ++c) {
            const float* from[lanes] = {};
            bool same = true;
            each_lane<lanes>(block, [&](int lane) {
                from[lane] = Kind::template source<lanes>(op, block, lane, first[lane], c);
                same &= from[lane] == from[one];
            });
            float* to = output(op, block, size_t(c));
            if (!same)
                weave(block, from, to);
            else if (!from[one])
                clear(to, block.frames * lanes);
            else
                for (int i = 0, n = block.frames; i < n; ++i)
                    F32<lanes>(from[one][i]).store(to + i * lanes);
        }
    }
};

template <class Kind, template <int> class State>
constexpr Kernel reader(bool looks_back = false) {
    Kernel made;
    made.start = Input<Kind>::start;
    made.lone = Input<Kind>::lone;
    made.batch = Input<Kind>::batch;
    made.state64 = state64<State>();
    made.state32 = state32<State>();
    made.effect = Effect::reads_audio;
    made.looks_back = looks_back;
    return made;
}

constexpr Kernel in = reader<In, Stateless>();
constexpr Kernel in_feedback = reader<InFeedback<false>, FeedbackState>(true);
constexpr Kernel in_feedback_by_channel = reader<InFeedback<true>, FeedbackState>(true);

const Kernel* choose_in_feedback(const Signature& s) {
    if (s.rate != Rate::audio || s.audio(0) || s.own_rate)
        return nullptr;
    if (s.release < Release::v3_14)
        return &in_feedback;
    return s.outputs <= most_channels ? &in_feedback_by_channel : nullptr;
}

constexpr NativeUgen list[] = {
    {"In", [](const Signature& s) { return s.rate == Rate::audio && !s.audio(0) && !s.own_rate ? &in : nullptr; }},
    {"InFeedback", choose_in_feedback},
};

} // namespace

SCS_FAMILY(bus_inputs)

} // namespace scs::SCS_SIMD
