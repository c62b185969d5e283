// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/buses.hpp"
#include "engine/ugens/each-step.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/memory.hpp"
#include "engine/ugens/rows.hpp"

namespace scs::SCS_SIMD {
namespace {

using Rows = F32<lanes>[lanes];

/// Transposes a wire in squares of `lanes` frames and `lanes` voices. Calls f(frame, rows) for each: rows[l] has the
/// samples of lane l from that frame on.
template <class F>
SCS_INLINE void each_square(const Block& block, const float* wire, F&& f) {
    for (int frame = 0, end = whole_steps(block.frames, 1); frame < end; frame += lanes) {
        Rows rows;
        for (int i = 0; i < lanes; ++i)
            rows[i] = F32<lanes>::load(wire + (frame + i) * lanes);
        transpose(rows);
        f(frame, rows);
    }
}

// Ways of writing a voice's row of samples to a bus. Plain lanes only add, and keep nothing. If all lanes of a batch
// are plain and write to the same bus, each frame is summed over the lanes in the order of their turns. other() returns
// a bit for each lane that isn't plain.

struct Add {
    static constexpr int first_channel = 1; ///< index of the input with the first channel
    template <int L>
    SCS_INLINE static uint32_t other(const Op&, const Block&) {
        return 0;
    }
    template <int L>
    SCS_INLINE static void write(const Op&, Block& block, int, int, int32_t bus, const float* row) {
        float* to = audio_bus(*block.space, bus);
        const bool touched = touch(*block.space, bus);
        if (touched)
            each_step<Timewise>(block, [&](int i) SCS_INLINE_LAMBDA {
                Timewise::put(to, i, Timewise::audio(to, i) + Timewise::audio(row, i));
            });
        else
            each_step<Timewise>(block, [&](int i) SCS_INLINE_LAMBDA { Timewise::put(to, i, Timewise::audio(row, i)); });
    }
};

template <int N>
struct OffsetState {
    static constexpr size_t items64 = 1;
    float* saved[N]; ///< the last block's end, still to be written: saved_frames() a channel; null without an offset
    int32_t offset[N], bus[N]; ///< bus: that of the last block; -1: there was none, or it isn't one
};

/// Frames to allocate for `offset` saved ones: whole vectors of every instruction set.
SCS_INLINE int saved_frames(int offset) {
    return (offset + 15) & ~15;
}

/// Delays a voice's output by the frame of its start in its first block.
struct AddMoved {
    static constexpr int first_channel = 1;
    template <int L>
    SCS_INLINE static uint32_t other(const Op& op, const Block& block) {
        return bitmask(I32<L>::load(state<OffsetState<L>>(op, block).offset) != I32<L>(0));
    }
    template <int L>
    SCS_INLINE static void write(const Op& op, Block& block, int lane, int channel, int32_t bus, const float* row) {
        auto& s = state<OffsetState<L>>(op, block);
        const int offset = s.offset[lane];
        // In the first block the saved samples are zeros.
        const float* saved = s.saved[lane] + channel * saved_frames(offset);
        float* to = audio_bus(*block.space, bus);
        if (touch(*block.space, bus))
            each_moved(saved, row, offset, block.frames, [&](int i, auto samples) SCS_INLINE_LAMBDA {
                (decltype(samples)::load(to + i) + samples).store(to + i);
            });
        else
            each_moved(saved, row, offset, block.frames,
                       [&](int i, auto samples) SCS_INLINE_LAMBDA { samples.store(to + i); });
    }
    /// Calls f(frame, samples) for all vectors of a block that begins with the `offset` saved samples, followed by the
    /// row.
    template <class F>
    SCS_INLINE static void each_moved(const float* saved, const float* row, int offset, int frames, F&& f) {
        using Samples = F32<lanes>;
        int i = 0;
        // Not unrolled, as it runs only a few times.
#pragma GCC unroll 1
        for (; i + lanes <= offset; i += lanes)
            f(i, Samples::load(saved + i));
        if (i < offset) {
            float both[2 * lanes];
            Samples::load(saved + i).store(both);
            Samples::load(row).store(both + (offset - i));
            f(i, Samples::load(both));
            i += lanes;
        }
#pragma GCC unroll 1
        for (; i < frames; i += lanes)
            f(i, Samples::load(row + (i - offset)));
    }
    template <int L>
    SCS_INLINE static void after(const Op& op, Block& block, int lane, int channel, const float* row) {
        auto& s = state<OffsetState<L>>(op, block);
        const int offset = s.offset[lane];
        if (offset)
            copy(s.saved[lane] + channel * saved_frames(offset), row + block.frames - offset, offset);
    }
    template <int L>
    SCS_INLINE static void finish(const Op& op, Block& block, int lane, int32_t first) {
        state<OffsetState<L>>(op, block).bus[lane] = first;
    }
    template <int L>
    SCS_INLINE static void finish_all(const Op& op, Block& block, int32_t first) {
        // What is over keeps its -1.
        auto& bus = state<OffsetState<L>>(op, block).bus;
        if (block.live == (1u << L) - 1)
            I32<L>(first).store(bus);
        else
            each_lane<L>(block, [&](int lane) { bus[lane] = first; });
    }
    /// Writes a lane's saved samples, the end of its sound.
    template <int L>
    static void tail(const Op& op, Block& block, int lane) {
        auto& s = state<OffsetState<L>>(op, block);
        const int32_t first = s.bus[lane], offset = s.offset[lane];
        s.bus[lane] = -1;
        for (int c = 0; s.saved[lane] && c < op.inputs - 1 && first >= 0 && first + c < block.space->audio_buses; ++c) {
            float* to = audio_bus(*block.space, first + c);
            const bool touched = touch(*block.space, first + c);
            mix(to, s.saved[lane] + c * saved_frames(offset), offset, touched);
            if (!touched)
                clear(to + offset, block.frames - offset);
        }
    }
    static void lone_tail(const Op& op, Block& block) SCS_NONBLOCKING {
        tail<1>(op, block, 0);
    }
    static void batch_tail(const Op& op, Block& block) SCS_NONBLOCKING {
        for (uint32_t left = block.tails; left; left &= left - 1)
            tail<lanes>(op, block, __builtin_ctz(left));
    }
    /// Adds a channel of all lanes to one bus. Each lane's samples are put after its saved ones, in the space's rows.
    /// The first `frames` of these are added to the bus; the rest is saved.
    SCS_INLINE static void together(const Op& op, Block& block, int channel, int32_t bus, const float* wire) {
        using F = F32<lanes>;
        auto& s = state<OffsetState<lanes>>(op, block);
        const int frames = block.frames;
        float *lines[lanes], *to_save[lanes];
        const auto move = [](float* to, const float* from, int offset) SCS_INLINE_LAMBDA {
#pragma GCC unroll 1
            for (int i = 0; i < offset; i += lanes)
                F::load(from + i).store(to + i);
        };
        for (int i = 0; i < lanes; ++i)
            lines[i] = block.space->rows + i * 2 * frames;
        each_lane<lanes>(block, [&](int lane) SCS_INLINE_LAMBDA {
            const int offset = s.offset[lane];
            float* const saved = to_save[lane] = s.saved[lane] + channel * saved_frames(offset);
            move(lines[lane], saved, offset);
            lines[lane] += offset;
        });
        each_square(block, wire, [&](int frame, Rows& rows) SCS_INLINE_LAMBDA {
            for (int i = 0; i < lanes; ++i)
                rows[i].store(lines[i] + frame);
        });
        float* to = audio_bus(*block.space, bus);
        const bool touched = touch(*block.space, bus);
        constexpr int most = 8, count = block_multiple / lanes < most ? block_multiple / lanes : most;
        for (int from = 0; from < frames; from += count * lanes) {
            F sums[count];
            for (int i = 0; i < count; ++i)
                sums[i] = touched ? F::load(to + from + i * lanes) : F(-0.f);
            each_lane<lanes>(block, [&](int lane) SCS_INLINE_LAMBDA {
                const float* samples = lines[lane] - s.offset[lane] + from;
                for (int i = 0; i < count; ++i)
                    sums[i] += F::load(samples + i * lanes);
            });
            for (int i = 0; i < count; ++i)
                sums[i].store(to + from + i * lanes);
        }
        each_lane<lanes>(block, [&](int lane) SCS_INLINE_LAMBDA {
            const int offset = s.offset[lane];
            move(to_save[lane], lines[lane] - offset + frames, offset);
        });
    }
};

struct Replace {
    static constexpr int first_channel = 1;
    template <int L>
    SCS_INLINE static uint32_t other(const Op&, const Block&) {
        return ~0u;
    }
    template <int L>
    SCS_INLINE static void write(const Op&, Block& block, int, int, int32_t bus, const float* row) {
        touch(*block.space, bus);
        copy(audio_bus(*block.space, bus), row, block.frames);
    }
};

template <int N>
struct FadeState {
    static constexpr size_t items64 = 0;
    float level[N]; ///< level at the end of the last block
};

/// Fades from the bus's content to the input; input 1 is the level, 0 to 1.
struct CrossFade {
    static constexpr int first_channel = 2;
    template <int L>
    SCS_INLINE static uint32_t other(const Op&, const Block&) {
        return ~0u;
    }
    template <int L>
    SCS_INLINE static void write(const Op& op, Block& block, int lane, int, int32_t bus, const float* row) {
        const float from = state<FadeState<L>>(op, block).level[lane], next = input(op, block, 1)[lane];
        const int frames = block.frames;
        float* to = audio_bus(*block.space, bus);
        if (from == next && from == 0.f)
            return;
        const bool touched = touch(*block.space, bus);
        if (from == next && from == 1.f)
            return copy(to, row, frames);
        using F = F32<lanes>;
        // The level is summed up frame by frame, as in SuperCollider: when a bus is faded out, the remainder shows a
        // difference.
        const float slope = float(double(next - from) * (1.0 / frames));
        float now = from, levels[lanes];
        for (int i = 0; i < frames; i += lanes) {
            for (float& level : levels) {
                level = now;
                now += slope;
            }
            const F level = F::load(levels), in = F::load(row + i), old = F::load(to + i);
            (touched ? old + level * (in - old) : level * in).store(to + i);
        }
    }
    template <int L>
    SCS_INLINE static void finish(const Op& op, Block& block, int lane, int32_t) {
        state<FadeState<L>>(op, block).level[lane] = input(op, block, 1)[lane];
    }
};

template <class Way>
struct Output {
    static constexpr bool keeps = requires(Op op, Block block) { Way::template after<1>(op, block, 0, 0, nullptr); };
    static constexpr bool moves = requires(Op op, Block block) { Way::together(op, block, 0, 0, nullptr); };
    static constexpr bool finishes = requires(Op op, Block block) { Way::template finish<1>(op, block, 0, 0); };
    static constexpr bool has_tails = requires(Op op, Block block) { Way::template tail<1>(op, block, 0); };

    SCS_INLINE static int channels(const Op& op) { return op.inputs - Way::first_channel; }
    SCS_INLINE static const float* wire(const Op& op, const Block& block, int channel) {
        return input(op, block, size_t(Way::first_channel + channel));
    }

    /// Writes a channel of one voice.
    template <int L>
    SCS_INLINE static void channel(const Op& op, Block& block, int lane, int number, int32_t first, const float* row) {
        const int32_t bus = bus_after(first, number, block.space->audio_buses);
        if (bus >= 0) {
            if (!(Way::template other<L>(op, block) >> lane & 1))
                Add::write<L>(op, block, lane, number, bus, row);
            else
                Way::template write<L>(op, block, lane, number, bus, row);
        }
        if constexpr (keeps)
            Way::template after<L>(op, block, lane, number, row);
    }

    static void lone(const Op& op, Block& block) SCS_NONBLOCKING {
        const int32_t buses = block.space->audio_buses, first = bus_of(*input(op, block, 0), buses);
        const int n = channels(op);
        if (!(Way::template other<1>(op, block) & 1)) {
            for (int c = 0; c < n; ++c)
                if (const int32_t bus = bus_after(first, c, buses); bus >= 0)
                    Add::write<1>(op, block, 0, c, bus, wire(op, block, c));
        } else {
            for (int c = 0; c < n; ++c)
                channel<1>(op, block, 0, c, first, wire(op, block, c));
        }
        if constexpr (finishes)
            Way::template finish<1>(op, block, 0, first);
    }

    static void add_all(Block& block, float* to, bool touched, const float* wire) {
        each_square(block, wire, [&](int frame, Rows& rows) SCS_INLINE_LAMBDA {
            auto sum = touched ? F32<lanes>::load(to + frame) + rows[0] : rows[0];
#pragma GCC unroll 16
            for (int i = 1; i < lanes; ++i)
                sum += rows[i];
            sum.store(to + frame);
        });
    }
    static void add_some(Block& block, float* to, bool touched, const float* wire) {
        int32_t there[lanes];
        for (int i = 0; i < lanes; ++i)
            there[i] = -int32_t(block.live >> i & 1);
        // Adding minus zero changes nothing.
        const F32<lanes> none(-0.f);
        each_square(block, wire, [&](int frame, Rows& rows) SCS_INLINE_LAMBDA {
            F32<lanes> sum = touched ? F32<lanes>::load(to + frame) : none;
#pragma GCC unroll 16
            for (int i = 0; i < lanes; ++i)
                sum += select(I32<lanes>(there[i]), rows[i], none);
            sum.store(to + frame);
        });
    }
    /// Adds all lanes to one bus, without offsets.
    SCS_INLINE static void together(Block& block, int32_t bus, const float* wire) {
        float* to = audio_bus(*block.space, bus);
        const bool touched = touch(*block.space, bus);
        constexpr uint32_t every = (1u << lanes) - 1;
        block.live == every ? add_all(block, to, touched, wire) : add_some(block, to, touched, wire);
    }

    /// Writes all channels of one voice of a batch.
    template <class RowOf>
    SCS_INLINE static void turn(const Op& op, Block& block, int lane, int32_t first, RowOf&& row_of) {
        for (int c = 0; c < channels(op); ++c)
            channel<lanes>(op, block, lane, c, first, row_of(lane, c));
        if constexpr (finishes)
            Way::template finish<lanes>(op, block, lane, first);
    }

    /// Voice by voice, so that sums keep their order when the voices' buses overlap. `row_of` finds a lane's samples of
    /// a channel.
    template <class RowOf>
    SCS_INLINE static void apart(const Op& op, Block& block, const int32_t* buses, RowOf&& row_of) {
        if constexpr (has_tails)
            if (block.tails)
                return apart_with_tails(op, block, buses, row_of);
        each_lane<lanes>(block, [&](int lane) { turn(op, block, lane, buses[lane], row_of); });
    }
    template <class RowOf>
    static void apart_with_tails(const Op& op, Block& block, const int32_t* buses, RowOf& row_of) {
        for (uint32_t left = block.live | block.tails; left; left &= left - 1) {
            const int lane = __builtin_ctz(left);
            if (block.tails >> lane & 1u)
                Way::template tail<lanes>(op, block, lane);
            else
                turn(op, block, lane, buses[lane], row_of);
        }
    }
    SCS_INLINE static bool any_tails(const Block& block) {
        return has_tails && block.tails;
    }

    static void batch(const Op& op, Block& block) SCS_NONBLOCKING {
        Space& space = *block.space;
        const auto numbers = F32<lanes>::load(input(op, block, 0));
        const float one = numbers[__builtin_ctz(block.live)];
        if (!(bitmask(numbers != F32<lanes>(one)) & block.live) && !any_tails(block)) {
            const int32_t first = bus_of(one, space.audio_buses);
            const bool plain = !(Way::template other<lanes>(op, block) & block.live);
            const bool all_there = bus_after(first, channels(op) - 1, space.audio_buses) >= 0;
            if (plain || (moves && all_there)) {
                for (int c = 0; c < channels(op); ++c)
                    if (const int32_t bus = bus_after(first, c, space.audio_buses); bus >= 0) {
                        if (plain)
                            together(block, bus, wire(op, block, c));
                        else if constexpr (moves)
                            Way::together(op, block, c, bus, wire(op, block, c));
                    }
                if constexpr (requires { Way::template finish_all<lanes>(op, block, first); })
                    Way::template finish_all<lanes>(op, block, first);
                return;
            }
        }
        int32_t buses[lanes];
        each_lane<lanes>(block, [&](int lane) { buses[lane] = bus_of(numbers[lane], space.audio_buses); });
        if (channels(op) <= row_sets) {
            for (int c = 0; c < channels(op); ++c)
                unweave(block, wire(op, block, c), c);
            apart(op, block, buses, [&](int lane, int c) { return row(block, c, lane); });
        } else {
            apart(op, block, buses, [&](int lane, int c) {
                const float* from = wire(op, block, c) + lane;
                for (int i = 0, n = block.frames; i < n; ++i)
                    space.rows[i] = from[i * lanes];
                return space.rows;
            });
        }
    }
};

/// Adds hold() and hand_over(), for ways that only add.
template <class Way>
struct Held : Output<Way> {
    using Output<Way>::channels, Output<Way>::wire;

    static void hold(const Op& op, Block& block) SCS_NONBLOCKING {
        for (int c = 0; c < channels(op); ++c)
            unweave(block, wire(op, block, c), c);
        each_lane<lanes>(block, [&](int lane) {
            block.space->held_buses[lane] = bus_of(input(op, block, 0)[lane], block.space->audio_buses);
        });
    }
    static void hand_over(const Op& op, Block& block) SCS_NONBLOCKING {
        const int lane = __builtin_ctz(block.live);
        Output<Way>::turn(op, block, lane, block.space->held_buses[lane],
                          [&](int, int c) { return row(block, c, lane); });
    }
};

void start_out(const Op&, Block&) SCS_NONBLOCKING {}

void start_offset_out(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<OffsetState<1>>(op, block);
    const int offset = block.space->sample_offset;
    if (offset > 0)
        s.saved[0] = claim<float>(block, size_t(saved_frames(offset)) * (op.inputs - 1u));
    // If there is no memory, the voice isn't delayed.
    s.offset[0] = s.saved[0] ? offset : 0;
    s.bus[0] = -1;
    if (s.saved[0])
        clear(s.saved[0], saved_frames(offset) * (op.inputs - 1));
}

void stop_offset_out(const Op& op, Block& block) SCS_NONBLOCKING {
    AddMoved::lone_tail(op, block);
    give_back<&OffsetState<1>::saved>(op, block);
}

void start_cross_fade(const Op& op, Block& block) SCS_NONBLOCKING {
    state<FadeState<1>>(op, block).level[0] = *input(op, block, 1);
}

template <class Way, template <int> class State>
constexpr Kernel writer(KernelFunction start) {
    Kernel made;
    made.start = start;
    made.lone = Output<Way>::lone;
    made.batch = Output<Way>::batch;
    made.state64 = state64<State>();
    made.state32 = state32<State>();
    made.effect = Effect::writes_audio;
    made.first_channel = Way::first_channel;
    return made;
}

template <class Way, template <int> class State>
constexpr Kernel adder(KernelFunction start) {
    Kernel made = writer<Way, State>(start);
    made.hold = Held<Way>::hold;
    made.hand_over = Held<Way>::hand_over;
    return made;
}

constexpr Kernel out = adder<Add, Stateless>(start_out);
constexpr Kernel replace_out = writer<Replace, Stateless>(start_out);
constexpr Kernel cross_fade = writer<CrossFade, FadeState>(start_cross_fade);
constexpr Kernel offset_out = [] {
    Kernel made = adder<AddMoved, OffsetState>(start_offset_out);
    made.stop = stop_offset_out;
    made.lone_tail = AddMoved::lone_tail;
    made.batch_tail = AddMoved::batch_tail;
    return made;
}();

/// Whether all channels are audio. A control input has only one value, and would be read beyond it.
bool audio_from(const Signature& s, size_t first_channel) {
    if (s.rate != Rate::audio || s.own_rate)
        return false;
    for (size_t i = first_channel; i < s.inputs.size(); ++i)
        if (!s.audio(i))
            return false;
    return true;
}

constexpr NativeUgen list[] = {
    {"Out", [](const Signature& s) -> const Kernel* { return audio_from(s, 1) ? &out : nullptr; }},
    {"OffsetOut", [](const Signature& s) -> const Kernel* { return audio_from(s, 1) ? &offset_out : nullptr; }},
    {"ReplaceOut", [](const Signature& s) -> const Kernel* { return audio_from(s, 1) ? &replace_out : nullptr; }},
    {"XOut", [](const Signature& s) -> const Kernel* { return audio_from(s, 2) ? &cross_fade : nullptr; }},
};

} // namespace

SCS_FAMILY(bus_outputs)

} // namespace scs::SCS_SIMD
