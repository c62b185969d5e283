// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/memory.hpp"
#include "engine/ugens/rate-buses.hpp"
#include "engine/ugens/rows.hpp"

// In, Out and their kin at audio rate in synths with blocks or a rate of their own. They convert voice by voice.

namespace scs::SCS_SIMD {
namespace {

/// Of a unit: the filters of so many take some microseconds to clear.
constexpr size_t most_channels = 16;
constexpr int64_t start_cost = 4000; // ns

// ---- In, InFeedback

template <int N>
struct ReaderState {
    static constexpr size_t items64 = 1;
    BusReader* reader[N]; ///< null: there was no memory, and the unit is silent
};

template <auto Find>
struct Reader {
    template <int L>
    SCS_INLINE static BusReader* begin(const Op& op, const Block& block, int lane) {
        BusReader* const reader = state<ReaderState<L>>(op, block).reader[lane];
        if (reader && block.ticks->begins_block())
            (reader->*Find)(*block.space, input(op, block, 0)[lane]);
        return reader;
    }
    template <int L>
    SCS_INLINE static void take(BusReader* reader, const Block& block, int channel, float* to) {
        if (reader)
            reader->take(*block.space, *block.ticks, channel, to);
        else
            __builtin_memset(to, 0, size_t(block.frames) * sizeof(float));
    }

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<ReaderState<1>>(op, block);
        if (void* memory = claim<char>(block, BusReader::bytes(*block.ticks, op.outputs)))
            s.reader[0] = BusReader::make(memory, *block.ticks, op.outputs);
        else
            complain_of_memory(op, block);
        if (s.reader[0])
            (s.reader[0]->*Find)(*block.space, *input(op, block, 0));
        for (int c = 0; c < op.outputs; ++c)
            *output(op, block, size_t(c)) = s.reader[0] ? s.reader[0]->first(*block.space, *block.ticks, c) : 0.f;
    }
    static void lone(const Op& op, Block& block) SCS_NONBLOCKING {
        BusReader* const reader = begin<1>(op, block, 0);
        for (int c = 0; c < op.outputs; ++c)
            take<1>(reader, block, c, output(op, block, size_t(c)));
    }
    static void batch(const Op& op, Block& block) SCS_NONBLOCKING {
        BusReader* readers[lanes];
        const float* from[lanes] = {};
        each_lane<lanes>(block, [&](int lane) {
            readers[lane] = begin<lanes>(op, block, lane);
            from[lane] = row(block, 0, lane);
        });
        for (int c = 0; c < op.outputs; ++c) {
            each_lane<lanes>(block, [&](int lane) { take<lanes>(readers[lane], block, c, row(block, 0, lane)); });
            weave(block, from, output(op, block, size_t(c)));
        }
    }
    static constexpr Kernel kernel = [] {
        Kernel made;
        made.start = start;
        made.lone = lone;
        made.batch = batch;
        made.stop = give_back<&ReaderState<1>::reader>;
        made.state64 = state64<ReaderState>();
        made.state32 = state32<ReaderState>();
        made.effect = Effect::reads_audio;
        made.looks_back = Find == &BusReader::find_feedback;
        made.start_cost = start_cost;
        return made;
    }();
};

// ---- AudioControl. Only for lone voices, as it may be mapped to audio buses

struct ControlState {
    ControlReader* reader; ///< null: there was no memory, and the unit is silent
};

ControlReader* find_controls(const Op& op, Block& block) {
    ControlReader* const reader = state<ControlState>(op, block).reader;
    const float* values = reinterpret_cast<const float*>(block.bases[size_t(Base::record)]) + op.special_index;
    if (reader && block.ticks->begins_block())
        for (int c = 0; c < op.outputs; ++c)
            reader->find(*block.space, *block.ticks, c, block.mapped[op.special_index + c], values[c]);
    return reader;
}

void start_audio_control(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<ControlState>(op, block);
    if (void* memory = claim<char>(block, ControlReader::bytes(*block.ticks, op.outputs)))
        s.reader = ControlReader::make(memory, *block.ticks, op.outputs);
    else
        complain_of_memory(op, block);
    const ControlReader* const reader = find_controls(op, block);
    for (int c = 0; c < op.outputs; ++c)
        *output(op, block, size_t(c)) = reader ? reader->first(*block.space, *block.ticks, c) : 0.f;
}

void run_audio_control(const Op& op, Block& block) SCS_NONBLOCKING {
    ControlReader* const reader = find_controls(op, block);
    for (int c = 0; c < op.outputs; ++c)
        if (reader)
            reader->take(*block.space, *block.ticks, c, output(op, block, size_t(c)));
        else
            __builtin_memset(output(op, block, size_t(c)), 0, size_t(block.frames) * sizeof(float));
}

void stop_audio_control(const Op& op, Block& block) SCS_NONBLOCKING {
    if (ControlReader* const reader = state<ControlState>(op, block).reader)
        block.space->free(block.space->allocator, reader);
}

constexpr Kernel audio_control = [] {
    Kernel made;
    made.start = start_audio_control;
    made.lone = run_audio_control;
    made.stop = stop_audio_control;
    made.reads_controls = true;
    made.state64 = 1;
    made.start_cost = start_cost;
    return made;
}();

// ---- Out, OffsetOut, ReplaceOut, XOut

template <int N>
struct WriterState {
    static constexpr size_t items64 = 1;
    BusWriter* writer[N]; ///< null: there was no memory, and the unit writes nothing
    float level[N];       ///< XOut: at the end of the last tick
};

// Ways of writing a channel of a voice.

struct Add {
    static constexpr int first_channel = 1; ///< index of the input with the first channel
    static constexpr bool has_tail = true;
    SCS_INLINE static int late(const Space&) { return 0; }
    SCS_INLINE static void write(BusWriter& writer, Block& block, int channel, const float* from, float, float) {
        writer.add(*block.space, *block.ticks, channel, from);
    }
};
struct AddMoved : Add {
    SCS_INLINE static int late(const Space& space) { return space.sample_offset; }
};
struct Replace : Add {
    static constexpr bool has_tail = false;
    SCS_INLINE static void write(BusWriter& writer, Block& block, int channel, const float* from, float, float) {
        writer.replace(*block.space, *block.ticks, channel, from);
    }
};
/// Fades from the bus's content to the input; input 1 is the level, 0 to 1.
struct CrossFade : Replace {
    static constexpr int first_channel = 2;
    SCS_INLINE static void write(BusWriter& writer, Block& block, int channel, const float* from, float level,
                                 float next) {
        writer.fade(*block.space, *block.ticks, channel, from, level, next);
    }
};

template <class Way>
struct Writer {
    SCS_INLINE static int channels(const Op& op) { return op.inputs - Way::first_channel; }
    SCS_INLINE static const float* wire(const Op& op, const Block& block, int channel) {
        return input(op, block, size_t(Way::first_channel + channel));
    }
    /// Writes all channels of a voice. `samples_of` finds those of one.
    template <int L, class SamplesOf>
    SCS_INLINE static void turn(const Op& op, Block& block, int lane, SamplesOf&& samples_of) {
        auto& s = state<WriterState<L>>(op, block);
        BusWriter* const writer = s.writer[lane];
        if (!writer)
            return;
        if (block.ticks->begins_block())
            writer->find(*block.space, input(op, block, 0)[lane]);
        const float level = s.level[lane], next = Way::first_channel == 2 ? input(op, block, 1)[lane] : 0.f;
        for (int c = 0; c < channels(op); ++c)
            Way::write(*writer, block, c, samples_of(c), level, next);
        if (Way::first_channel == 2 && block.ticks->places())
            s.level[lane] = next;
    }

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<WriterState<1>>(op, block);
        const int late = Way::late(*block.space);
        if (void* memory = claim<char>(block, BusWriter::bytes(*block.ticks, channels(op), late)))
            s.writer[0] = BusWriter::make(memory, *block.ticks, channels(op), late);
        else
            complain_of_memory(op, block);
        if (Way::first_channel == 2)
            s.level[0] = *input(op, block, 1);
    }
    static void lone(const Op& op, Block& block) SCS_NONBLOCKING {
        turn<1>(op, block, 0, [&](int c) { return wire(op, block, c); });
    }
    /// Voice by voice, so that sums keep their order when the voices' buses overlap.
    template <class SamplesOf>
    SCS_INLINE static void turns(const Op& op, Block& block, SamplesOf&& samples_of) {
        for (uint32_t left = block.live | block.tails; left; left &= left - 1) {
            const int lane = __builtin_ctz(left);
            if (block.live >> lane & 1u)
                turn<lanes>(op, block, lane, [&](int c) { return samples_of(lane, c); });
            else if (BusWriter* const writer = state<WriterState<lanes>>(op, block).writer[lane];
                     writer && Way::has_tail)
                writer->write_tail_in_ticks(*block.space, *block.ticks);
        }
    }
    static void batch(const Op& op, Block& block) SCS_NONBLOCKING {
        if (channels(op) <= row_sets) {
            for (int c = 0; c < channels(op); ++c)
                unweave(block, wire(op, block, c), c);
            turns(op, block, [&](int lane, int c) { return row(block, c, lane); });
        } else {
            turns(op, block, [&](int lane, int c) {
                const float* from = wire(op, block, c) + lane;
                float* const to = block.space->rows;
                for (int i = 0, n = block.frames; i < n; ++i)
                    to[i] = from[i * lanes];
                return to;
            });
        }
    }
    template <int L>
    static void tail(const Op& op, Block& block, int lane) {
        if (BusWriter* const writer = state<WriterState<L>>(op, block).writer[lane])
            writer->write_tail(*block.space, *block.ticks);
    }
    static void lone_tail(const Op& op, Block& block) SCS_NONBLOCKING { tail<1>(op, block, 0); }
    static void batch_tail(const Op& op, Block& block) SCS_NONBLOCKING {
        for (uint32_t left = block.tails; left; left &= left - 1)
            tail<lanes>(op, block, __builtin_ctz(left));
    }
    static void stop(const Op& op, Block& block) SCS_NONBLOCKING {
        if (Way::has_tail)
            tail<1>(op, block, 0);
        give_back<&WriterState<1>::writer>(op, block);
    }
    static constexpr Kernel kernel = [] {
        Kernel made;
        made.start = start;
        made.lone = lone;
        made.batch = batch;
        made.stop = stop;
        if (Way::has_tail) {
            made.lone_tail = lone_tail;
            made.batch_tail = batch_tail;
        }
        made.state64 = state64<WriterState>();
        made.state32 = state32<WriterState>();
        made.effect = Effect::writes_audio;
        made.first_channel = Way::first_channel;
        made.start_cost = start_cost;
        return made;
    }();
};

template <auto Find>
const Kernel* choose_reader(const Signature& s) {
    const bool fits = s.own_rate && s.rate == Rate::audio && !s.audio(0) && s.outputs <= most_channels;
    return fits ? &Reader<Find>::kernel : nullptr;
}

/// All channels are audio: a control input has only one value.
template <class Way>
const Kernel* choose_writer(const Signature& s) {
    if (!s.own_rate || s.rate != Rate::audio || s.inputs.size() > most_channels + size_t(Way::first_channel))
        return nullptr;
    for (auto i = size_t(Way::first_channel); i < s.inputs.size(); ++i)
        if (!s.audio(i))
            return nullptr;
    return &Writer<Way>::kernel;
}

constexpr NativeUgen list[] = {
    {"AudioControl",
     [](const Signature& s) -> const Kernel* {
         return s.own_rate && s.rate == Rate::audio && s.outputs <= most_channels ? &audio_control : nullptr;
     }},
    {"In", choose_reader<&BusReader::find>},
    {"InFeedback", choose_reader<&BusReader::find_feedback>},
    {"OffsetOut", choose_writer<AddMoved>},
    {"Out", choose_writer<Add>},
    {"ReplaceOut", choose_writer<Replace>},
    {"XOut", choose_writer<CrossFade>},
};

} // namespace

SCS_FAMILY(tick_buses)

} // namespace scs::SCS_SIMD
