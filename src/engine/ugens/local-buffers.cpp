// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/memory.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/sample-buffers.hpp"

// Buffers that a voice has for itself: MaxLocalBufs makes room for their table, LocalBuf makes them, and SetBuf,
// ClearBuf, BufWr, RecordBuf and DelTapWr write to them. What writes to a buffer that others see, too, is no kernel of
// a voice: those of a batch would take turns in another order.

namespace scs::SCS_SIMD {
namespace {

constexpr float most_buffers = 65536.f;
// Of a native LocalBuf, which is cleared at once, and several of them before the deadline is asked again: 1 MiB. Larger
// ones, and those whose size isn't constant, stay the plugins'.
constexpr float most_samples = 262144.f;

/// A number in a range as an integer; the lowest one for NaN.
SCS_INLINE int32_t whole_within(float x, float low, float high) {
    return x >= low ? int32_t(x < high ? x : high) : int32_t(low);
}

bool starts_alone(const Signature& s) {
    return s.rate == Rate::scalar;
}

void put_zero(const Op& op, const Block& block) {
    for (size_t k = 0; k < op.outputs; ++k)
        *output(op, block, k) = 0.f;
}

// ---- MaxLocalBufs

template <int N>
struct TableState {
    static constexpr size_t items64 = 1;
    OwnBuffers* buffers[N]; ///< null: there was no memory
};

void start_table(const Op& op, Block& block) SCS_NONBLOCKING {
    put_zero(op, block);
    const int32_t most = whole_within(*input(op, block, 0) + 0.5f, 0.f, most_buffers);
    auto* const made = reinterpret_cast<OwnBuffers*>(claim<char>(block, OwnBuffers::bytes(most)));
    state<TableState<1>>(op, block).buffers[0] = made;
    if (!made)
        return complain_of_memory(op, block);
    made->count = 0;
    made->most = most;
}

void stop_table(const Op& op, Block& block) SCS_NONBLOCKING {
    OwnBuffers*& buffers = state<TableState<1>>(op, block).buffers[0];
    if (!buffers)
        return;
    const Space& space = *block.space;
    for (int32_t i = buffers->count; i-- > 0;)
        if (float* const data = buffers->first()[i].data)
            space.free(space.allocator, data);
    space.free(space.allocator, buffers);
    buffers = nullptr;
}

constinit const extern Kernel table;
constinit const Kernel table = [] {
    Kernel made;
    made.start = start_table;
    made.stop = stop_table;
    made.state64 = state64<TableState>();
    made.keeps_own_buffers = true;
    made.state_of =
        &table; // a second MaxLocalBufs changes nothing in SuperCollider but prints, so with two none is native
    return made;
}();

// ---- LocalBuf: channels, frames

constexpr float no_number = -1.f;

void start_buffer(const Op& op, Block& block) SCS_NONBLOCKING {
    float& number = *output(op, block);
    number = no_number;
    OwnBuffers* const buffers = state<TableState<1>>(op, block).buffers[0];
    if (!buffers)
        return;
    if (buffers->count >= buffers->most)
        return block.space->done_action(block.space->host, *block.synths[0],
                                        Complaint{Complaint::too_many_buffers, op.unit}.action());
    const int32_t channels = whole_within(*input(op, block, 0), 1.f, most_samples);
    const int32_t frames = whole_within(*input(op, block, 1), 1.f, most_samples);
    const size_t samples = size_t(channels) * size_t(frames);
    float* const data = claim<float>(block, samples);
    const int32_t index = buffers->count++;
    buffers->first()[index] = {data, frames, channels, true};
    if (!data)
        return complain_of_memory(op, block);
    __builtin_memset(data, 0, samples * sizeof(float));
    number = float(block.space->buffer_count + index);
}

constexpr Kernel buffer = [] {
    Kernel made;
    made.start = start_buffer;
    made.state_of = &table;
    made.start_cost = 1'000'000'000; // may take long: has the deadline asked
    return made;
}();

// ---- what writes when the synth starts

/// What the first input, the number of a LocalBuf, names.
SCS_INLINE OwnBuffer* written_buffer(const Op& op, const Block& block, int lane) {
    return own_buffer_of(block, lane, input(op, block, 0)[lane]);
}

void clear(OwnBuffer& buffer) {
    if (!buffer.clean)
        __builtin_memset(buffer.data, 0, size_t(buffer.frames) * size_t(buffer.channels) * sizeof(float));
    buffer.clean = true;
}

constexpr Kernel writing(Kernel made) {
    made.writes_own_buffers = true;
    return made;
}

/// Inputs: buffer, offset, how many values, the values.
void start_setting(const Op& op, Block& block) SCS_NONBLOCKING {
    constexpr size_t first_value = 3;
    put_zero(op, block);
    OwnBuffer* const to = written_buffer(op, block, 0);
    if (!to)
        return;
    const int64_t samples = int64_t(to->frames) * to->channels;
    const int64_t offset = whole_within(*input(op, block, 1), 0.f, 1e9f), given = op.inputs - first_value;
    const int64_t wanted = whole_within(*input(op, block, 2), 0.f, 65536.f), count = wanted < given ? wanted : given;
    for (int64_t i = 0; i < count && offset + i < samples; ++i) {
        to->data[offset + i] = *input(op, block, first_value + size_t(i));
        to->clean = false;
    }
}

void start_clearing(const Op& op, Block& block) SCS_NONBLOCKING {
    put_zero(op, block);
    OwnBuffer* const to = written_buffer(op, block, 0);
    if (to)
        clear(*to);
}

constexpr Kernel starting(KernelFunction start) {
    Kernel made;
    made.start = start;
    return writing(made);
}
constexpr Kernel setting = starting(start_setting), clearing = starting(start_clearing);

// ---- BufWr: buffer, phase, loop, signals

/// Says when a synth starts that its buffer has other channels than the unit has signals.
void complain_of_channels(const Op& op, const Block& block, int signals, int channels) {
    const Complaint what{Complaint::channels, op.unit, uint16_t(signals), uint16_t(channels)};
    block.space->done_action(block.space->host, *block.synths[0], what.action());
}

/// All lanes of the outputs, which have no meaning. After the inputs have been read: they may share the memory.
template <int L>
SCS_INLINE void put_silence(const Op& op, const Block& block) {
    const int n = own_frames(op, block);
    for (size_t k = 0; k < op.outputs; ++k)
        for (int i = 0; i < n * L; ++i)
            output(op, block, k)[i] = 0.f;
}

template <int L>
struct BufWr {
    enum { buffer_number, phase, loops, signals };

    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        each_lane<L>(block, [&](int lane) { write(op, block, lane); });
        put_silence<L>(op, block);
    }
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        const OwnBuffer* const to = written_buffer(op, block, 0);
        const int count = op.inputs - signals;
        if (to && count > to->channels)
            complain_of_channels(op, block, count, to->channels);
        put_zero(op, block);
    }

private:
    SCS_INLINE static void write(const Op& op, const Block& block, int lane) {
        OwnBuffer* const to = written_buffer(op, block, lane);
        const int count = op.inputs - signals;
        if (!to || count > to->channels)
            return;
        to->clean = false;
        const bool loop = int_of(input(op, block, loops)[lane]) != 0;
        const double end = to->frames - (loop ? 0 : 1);
        const LaneIn<L> phases(op, block, phase, lane), first(op, block, signals, lane);
        for (int i = 0, n = own_frames(op, block); i < n; ++i) {
            double place = double(phases.at(i));
            if (!(place >= 0. && place < end)) {
                bool stopped = false;
                place = place_in(place, end, loop, stopped);
                if (!(place >= 0. && place < double(to->frames)))
                    continue;
            }
            float* const frame = to->data + int64_t(place) * to->channels;
            frame[0] = first.at(i);
            for (int c = 1; c < count; ++c)
                frame[c] = LaneIn<L>(op, block, size_t(signals + c), lane).at(i);
        }
    }
};

constexpr Kernel writer = writing(lane_kernel<BufWr, Stateless>(BufWr<1>::start));

// ---- RecordBuf: buffer, offset, level, level of what is there, run, loop, trigger, done action, signals

template <int N>
struct RecordState {
    static constexpr size_t items64 = 1;
    int64_t place[N]; ///< samples
    float level[N], kept[N], trigger[N];
    int32_t replaces[N]; ///< 1: what is there, at full level
};

template <int L>
struct RecordBuf {
    enum { buffer_number, offset, new_level, old_level, runs, loops, trigger, action, signals };

    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        each_lane<L>(block, [&](int lane) { record(op, block, lane); });
        put_silence<L>(op, block);
    }
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<RecordState<1>>(op, block);
        const auto scalar = [&](int index) { return op.operands[index].rate == Rate::scalar; };
        const int count = op.inputs - signals;
        s.place[0] = int64_t(int_of(*input(op, block, offset))) * count;
        s.level[0] = *input(op, block, new_level);
        s.kept[0] = *input(op, block, old_level);
        s.replaces[0] = scalar(new_level) && scalar(old_level) && s.level[0] == 1.f && s.kept[0] == 0.f;
        const OwnBuffer* const to = written_buffer(op, block, 0);
        if (to && count != to->channels)
            complain_of_channels(op, block, count, to->channels);
        put_zero(op, block);
    }

private:
    static void record(const Op& op, Block& block, int lane) {
        OwnBuffer* const to = written_buffer(op, block, lane);
        if (!to || op.inputs - signals != to->channels) {
            done_flag(op, block, lane) = true;
            return;
        }
        to->clean = false;
        const auto in = [&](int index) { return input(op, block, size_t(index))[lane]; };
        auto& s = state<RecordState<L>>(op, block);
        const int n = own_frames(op, block);
        const int64_t channels = to->channels, samples = to->frames * channels, last = samples - channels;
        const float slope = 1.f / float(n), run = in(runs), now = in(trigger);
        float level = s.level[lane], kept = s.kept[lane];
        const bool replaces = s.replaces[lane] != 0;
        const float level_step = replaces ? 0.f : (in(new_level)-level) * slope;
        const float kept_step = replaces ? 0.f : (in(old_level)-kept) * slope;
        int64_t place = s.place[lane];
        if (now > 0.f && s.trigger[lane] <= 0.f) {
            done_flag(op, block, lane) = false;
            place = int64_t(int_of(in(offset))) * channels;
        }
        s.trigger[lane] = now;
        const bool loop = int_of(in(loops)) != 0, forwards = run > 0.f;
        const auto around = [&] { place = place < 0 ? last : place >= samples ? 0 : place; };
        if (loop)
            around();
        for (int i = 0; i < n && (forwards || run < 0.f); ++i) {
            if (!loop && (forwards ? place >= samples : place < channels))
                break;
            if (place >= 0 && place <= last)
                for (int64_t c = 0; c < channels; ++c) {
                    float& sample = to->data[place + c];
                    const float signal = LaneIn<L>(op, block, size_t(signals + c), lane).at(i);
                    sample = replaces ? signal : signal * level + sample * kept;
                }
            place += forwards ? channels : -channels;
            if (loop)
                around();
            level += level_step;
            kept += kept_step;
        }
        s.place[lane] = place;
        s.level[lane] = level;
        s.kept[lane] = kept;
        if (!loop && place >= samples)
            done(op, block, lane, in(action));
    }
};

constexpr Kernel recorder = [] {
    Kernel made = lane_kernel<RecordBuf, RecordState>(RecordBuf<1>::start);
    made.acts_when_done = true;
    return writing(made);
}();

// ---- DelTapWr: buffer, signal; its output is the place as an integer's bits

template <int N>
struct TapState {
    static constexpr size_t items64 = 0;
    uint32_t place[N];
};

SCS_INLINE OwnBuffer* tap_buffer(const Op& op, const Block& block, int lane) {
    OwnBuffer* const to = written_buffer(op, block, lane);
    return to && to->channels == 1 ? to : nullptr;
}

template <int L>
struct DelTapWr {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        each_lane<L>(block, [&](int lane) {
            float* const out = output(op, block) + lane;
            OwnBuffer* const to = tap_buffer(op, block, lane);
            if (!to) {
                for (int i = 0; i < block.frames; ++i)
                    out[i * L] = 0.f;
                return;
            }
            to->clean = false;
            const LaneIn<L> signal(op, block, 1, lane);
            uint32_t place = state<TapState<L>>(op, block).place[lane];
            for (int i = 0; i < block.frames; ++i) {
                to->data[place] = signal.at(i);
                __builtin_memcpy(out + i * L, &place, sizeof place);
                if (++place == uint32_t(to->frames))
                    place = 0;
            }
            state<TapState<L>>(op, block).place[lane] = place;
        });
    }
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        put_zero(op, block); // before the input is read, as in SuperCollider, which may share its memory
        OwnBuffer* const to = tap_buffer(op, block, 0);
        if (!to)
            return;
        clear(*to);
        to->clean = false;
        to->data[0] = *input(op, block, 1);
        state<TapState<1>>(op, block).place[0] = to->frames == 1 ? 0 : 1;
    }
};

constexpr Kernel tap = writing(lane_kernel<DelTapWr, TapState>(DelTapWr<1>::start));

// ---- choices

bool names_own(const Signature& s, size_t fewest_inputs) {
    return s.inputs.size() >= fewest_inputs && s.inputs[0].own_buffer;
}
bool is_small(const Signature& s) {
    const auto size = [&](size_t k) { return s.inputs[k].value > 1.f ? s.inputs[k].value : 1.f; };
    return s.inputs[0].constant && s.inputs[1].constant && size(0) * size(1) <= most_samples;
}
bool is_called(const Signature& s) {
    return (s.rate == Rate::audio || s.rate == Rate::control) && s.outputs == 1;
}

constexpr NativeUgen list[] = {
    {"MaxLocalBufs", [](const Signature& s) { return starts_alone(s) && !s.inputs.empty() ? &table : nullptr; }},
    {"LocalBuf",
     [](const Signature& s) {
         return starts_alone(s) && s.inputs.size() >= 2 && s.outputs == 1 && is_small(s) ? &buffer : nullptr;
     }},
    {"SetBuf", [](const Signature& s) { return starts_alone(s) && names_own(s, 3) ? &setting : nullptr; }},
    {"ClearBuf", [](const Signature& s) { return starts_alone(s) && names_own(s, 1) ? &clearing : nullptr; }},
    {"BufWr", [](const Signature& s) { return is_called(s) && names_own(s, 4) ? &writer : nullptr; }},
    {"RecordBuf", [](const Signature& s) { return is_called(s) && names_own(s, 9) ? &recorder : nullptr; }},
    {"DelTapWr",
     [](const Signature& s) {
         return is_called(s) && s.rate == Rate::audio && names_own(s, 2) && s.inputs.size() == 2 ? &tap : nullptr;
     }},
};

} // namespace

SCS_FAMILY(local_buffers)

} // namespace scs::SCS_SIMD
