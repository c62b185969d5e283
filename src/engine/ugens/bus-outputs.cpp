// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/transpose.hpp"

namespace scs::SCS_SIMD {
namespace {

// The first writer of a block overwrites a bus, the next ones add, in the order of their turns: the sum's last bits
// depend on it. A batch adds its lanes to each frame in that order.

/// The first of the buses that input 0 names, or -1 if that isn't one.
SCS_INLINE int32_t bus_of(float number, int32_t count) {
    return number > -1.f && number < float(count) ? int32_t(number) : -1;
}

SCS_INLINE float* audio_bus(const Space& space, int32_t bus) {
    return space.audio_bus + int64_t(bus) * space.block_size;
}

/// Whether something is in the bus already, which from now on is the case.
SCS_INLINE bool touch(Space& space, int32_t bus) {
    const bool touched = space.audio_touched[bus] == space.block_number;
    space.audio_touched[bus] = space.block_number;
    return touched;
}

SCS_INLINE void copy(float* to, const float* from, int frames) {
    __builtin_memcpy(to, from, size_t(frames) * sizeof(float));
}
SCS_INLINE void accumulate(float* to, const float* from, int frames) {
    int i = 0;
    for (; i + lanes <= frames; i += lanes)
        (F32<lanes>::load(to + i) + F32<lanes>::load(from + i)).store(to + i);
    for (; i < frames; ++i)
        to[i] += from[i];
}
SCS_INLINE void clear(float* to, int frames) {
    __builtin_memset(to, 0, size_t(frames) * sizeof(float));
}

SCS_INLINE void mix(float* to, const float* from, int frames, bool touched) {
    if (touched)
        accumulate(to, from, frames);
    else
        copy(to, from, frames);
}

// ---- ways of writing one voice's row to a bus

struct Add {
    static constexpr bool sums = true;
    template <int L>
    using State = Stateless<L>;
    template <int L>
    SCS_INLINE static bool plain(const Op&, const Block&, int) {
        return true;
    }
    template <int L>
    SCS_INLINE static void write(const Op&, Block& block, int, int, int32_t bus, const float* row) {
        float* to = audio_bus(*block.space, bus);
        const bool touched = touch(*block.space, bus);
        const int n = Timewise::steps(block);
        if (touched)
            for (int i = 0; i < n; ++i)
                Timewise::put(to, i, Timewise::audio(to, i) + Timewise::audio(row, i));
        else
            for (int i = 0; i < n; ++i)
                Timewise::put(to, i, Timewise::audio(row, i));
    }
};

template <int N>
struct OffsetState {
    static constexpr size_t items64 = 1;
    float* saved[N]; ///< what stuck out of the last block, `offset` frames for each channel; null without an offset
    int32_t offset[N], bus[N]; ///< bus: that of the last block; -1: there was none, or it isn't one
};

/// What a voice computes is moved by the frame of its start.
struct AddMoved {
    static constexpr bool sums = true;
    template <int L>
    using State = OffsetState<L>;
    template <int L>
    SCS_INLINE static bool plain(const Op& op, const Block& block, int lane) {
        return state<OffsetState<L>>(op, block).offset[lane] == 0;
    }
    template <int L>
    SCS_INLINE static void write(const Op& op, Block& block, int lane, int channel, int32_t bus, const float* row) {
        auto& s = state<OffsetState<L>>(op, block);
        const int offset = s.offset[lane], rest = block.frames - offset;
        float* to = audio_bus(*block.space, bus);
        const bool touched = touch(*block.space, bus);
        float* saved = s.saved[lane] + channel * offset;
        // Before the first block zeros stick out.
        mix(to, saved, offset, touched);
        mix(to + offset, row, rest, touched);
    }
    template <int L>
    SCS_INLINE static void after(const Op& op, Block& block, int lane, int channel, const float* row) {
        auto& s = state<OffsetState<L>>(op, block);
        const int offset = s.offset[lane];
        if (offset)
            copy(s.saved[lane] + channel * offset, row + block.frames - offset, offset);
    }
};

template <class Way>
struct Output {
    static constexpr bool keeps = requires { Way::template after<1>; };

    /// One voice's channel.
    template <int L>
    SCS_INLINE static void channel(const Op& op, Block& block, int lane, int number, int32_t first, const float* row) {
        const int32_t bus = first < 0 ? -1 : first + number;
        if (bus >= 0 && bus < block.space->audio_buses) {
            if (Way::template plain<L>(op, block, lane))
                Add::write<L>(op, block, lane, number, bus, row);
            else
                Way::template write<L>(op, block, lane, number, bus, row);
        }
        if constexpr (keeps)
            Way::template after<L>(op, block, lane, number, row);
    }

    static void lone(const Op& op, Block& block) {
        const int32_t first = bus_of(*input(op, block, 0), block.space->audio_buses);
        for (int c = 0; c < op.inputs - 1; ++c)
            channel<1>(op, block, 0, c, first, input(op, block, size_t(c) + 1));
        if constexpr (keeps)
            state<OffsetState<1>>(op, block).bus[0] = first;
    }

    /// All lanes to one bus, from the first frame on.
    SCS_INLINE static void together(Block& block, int32_t bus, const float* wire) {
        float* to = audio_bus(*block.space, bus);
        const bool touched = touch(*block.space, bus);
        constexpr uint32_t every = lanes == 32 ? ~0u : (1u << lanes) - 1;
        const uint32_t live = block.live;
        const uint32_t first = live & -live;
        for (int frame = 0, end = block.frames; frame < end; frame += lanes) {
            F32<lanes> rows[lanes];
            for (int i = 0; i < lanes; ++i)
                rows[i] = F32<lanes>::load(wire + (frame + i) * lanes);
            transpose(rows);
            F32<lanes> sum(0.f);
            if (live == every) {
                sum = touched ? F32<lanes>::load(to + frame) + rows[0] : rows[0];
#pragma GCC unroll 16
                for (int i = 1; i < lanes; ++i)
                    sum += rows[i];
            } else {
                if (touched)
                    sum = F32<lanes>::load(to + frame);
#pragma GCC unroll 16
                for (int i = 0; i < lanes; ++i)
                    if (live >> i & 1)
                        sum = !touched && (first >> i & 1) ? rows[i] : sum + rows[i];
            }
            sum.store(to + frame);
        }
    }

    /// Each lane's samples in a row of their own.
    SCS_INLINE static void unweave(const Block& block, const float* wire, float* to) {
        for (int frame = 0, end = block.frames; frame < end; frame += lanes) {
            F32<lanes> rows[lanes];
            for (int i = 0; i < lanes; ++i)
                rows[i] = F32<lanes>::load(wire + (frame + i) * lanes);
            transpose(rows);
            for (int i = 0; i < lanes; ++i)
                rows[i].store(to + i * end + frame);
        }
    }

    /// Voice after voice, so that sums keep their order when one's bus is another's, too. `row` finds a lane's
    /// samples of a channel.
    template <class Row>
    SCS_INLINE static void apart(const Op& op, Block& block, const int32_t* buses, Row&& row) {
        each_lane<lanes>(block, [&](int lane) {
            for (int c = 0; c < op.inputs - 1; ++c)
                channel<lanes>(op, block, lane, c, buses[lane], row(lane, c));
        });
    }

    static void batch(const Op& op, Block& block) {
        Space& space = *block.space;
        const float* numbers = input(op, block, 0);
        const int channels = op.inputs - 1;
        const int one = __builtin_ctz(block.live);
        int32_t buses[lanes];
        bool same = true, plain = true;
        each_lane<lanes>(block, [&](int lane) {
            buses[lane] = bus_of(numbers[lane], space.audio_buses);
            same &= buses[lane] == buses[one];
            plain &= Way::template plain<lanes>(op, block, lane);
            if constexpr (keeps)
                state<OffsetState<lanes>>(op, block).bus[lane] = buses[lane];
        });
        const int32_t first = buses[one];
        if (same && plain) {
            for (int c = 0; c < channels && first >= 0 && first + c < space.audio_buses; ++c)
                together(block, first + c, input(op, block, size_t(c) + 1));
        } else if (channels <= row_sets) {
            for (int c = 0; c < channels; ++c)
                unweave(block, input(op, block, size_t(c) + 1), space.rows + c * lanes * block.frames);
            apart(op, block, buses, [&](int lane, int c) { return space.rows + (c * lanes + lane) * block.frames; });
        } else {
            apart(op, block, buses, [&](int lane, int c) {
                const float* wire = input(op, block, size_t(c) + 1) + lane;
                for (int i = 0, n = block.frames; i < n; ++i)
                    space.rows[i] = wire[i * lanes];
                return space.rows;
            });
        }
    }
};

void start_out(const Op&, Block&) {}

void start_offset_out(const Op& op, Block& block) {
    auto& s = state<OffsetState<1>>(op, block);
    const int offset = block.space->sample_offset;
    if (offset > 0)
        s.saved[0] = static_cast<float*>(
            block.space->allocate(block.space->allocator, size_t(offset) * (op.inputs - 1u) * sizeof(float)));
    // Without memory for it the voice isn't moved.
    s.offset[0] = s.saved[0] ? offset : 0;
    s.bus[0] = -1;
    if (s.saved[0])
        clear(s.saved[0], offset * (op.inputs - 1));
}

/// What still stuck out is heard.
void stop_offset_out(const Op& op, Block& block) {
    auto& s = state<OffsetState<1>>(op, block);
    if (!s.saved[0])
        return;
    const int32_t first = s.bus[0];
    for (int c = 0; c < op.inputs - 1 && first >= 0 && first + c < block.space->audio_buses; ++c) {
        float* to = audio_bus(*block.space, first + c);
        const bool touched = touch(*block.space, first + c);
        mix(to, s.saved[0] + c * s.offset[0], s.offset[0], touched);
        if (!touched)
            clear(to + s.offset[0], block.frames - s.offset[0]);
    }
    block.space->free(block.space->allocator, s.saved[0]);
}

constexpr Kernel out = [] {
    Kernel made;
    made.start = start_out;
    made.lone = Output<Add>::lone;
    made.batch = Output<Add>::batch;
    made.effect = Effect::writes_audio;
    return made;
}();

constexpr Kernel offset_out = [] {
    Kernel made;
    made.start = start_offset_out;
    made.lone = Output<AddMoved>::lone;
    made.batch = Output<AddMoved>::batch;
    made.stop = stop_offset_out;
    made.state64 = state64<OffsetState>();
    made.state32 = state32<OffsetState>();
    made.effect = Effect::writes_audio;
    return made;
}();

bool all_audio(const Signature& s) {
    if (s.rate != Rate::audio || s.audio(0))
        return false;
    for (size_t i = 1; i < s.inputs.size(); ++i)
        if (!s.audio(i))
            return false;
    return true;
}

constexpr NativeUgen list[] = {
    {"Out", [](const Signature& s) -> const Kernel* { return all_audio(s) ? &out : nullptr; }},
    {"OffsetOut", [](const Signature& s) -> const Kernel* { return all_audio(s) ? &offset_out : nullptr; }},
};

} // namespace

const std::span<const NativeUgen> bus_outputs = list;

} // namespace scs::SCS_SIMD
