// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/own-rate-units.hpp"

#include "engine/plugins/graph-instance.hpp"
#include "engine/plugins/interface-table.hpp"
#include "engine/rt/half-band.hpp"
#include "engine/ugens/bus-places.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string_view>

namespace scs {
namespace {

// ---- what all of them need

/// A unit's memory is zeroed before its constructor runs.
struct OwnRateUnit : ::Unit {
    void* memory; ///< a piece of the pool, or null

    Instance& synth() const noexcept { return Instance::of(*this); }
    const OwnTicks& ticks() const noexcept { return *synth().own; }
    int factor() const noexcept { return ticks().rate.factor; }
    Space& space() const noexcept { return *synth().block.space; }
    bool is_audio(int input) const noexcept { return mInput[input]->mCalcRate == calc_FullRate; }
    const float* in(int input) const noexcept { return mInBuf[input]; }
    float* out(int output) const noexcept { return mOutBuf[output]; }

    /// Zeroed. false: there is no memory, and the unit stays silent.
    bool claim(size_t bytes) noexcept {
        memory = interface_table()->fRTAlloc(mWorld, std::max(bytes, size_t(1)));
        if (memory)
            std::memset(memory, 0, bytes);
        else
            interface_table()->fPrint("%s: RT memory allocation failed\n", entry_of(*this).info.name.c_str());
        return memory;
    }
    void give_back() noexcept { interface_table()->fRTFree(mWorld, std::exchange(memory, nullptr)); }
};

void stay_silent(::Unit* unit, int samples) {
    for (uint32_t i = 0; i < unit->mNumOutputs; ++i)
        std::fill_n(unit->mOutBuf[i], samples, 0.f);
}
void write_nothing(::Unit*, int) {}

// ---- reading audio buses

/// A signal that comes from the server.
struct Heard {
    int32_t bus; ///< -1: silence
    HalfBand filter;
    float* ready; ///< samples of the synth's rate that are there already, if the rates differ
    int count;

    static size_t floats(const SynthRate& rate) noexcept {
        return size_t(std::max(rate.frames, rate.factor)) + HalfBand::bytes(rate.factor, most(rate)) / sizeof(float);
    }
    float* begin(const SynthRate& rate, float* memory) noexcept {
        filter.begin(rate.factor, most(rate), memory + std::max(rate.frames, rate.factor));
        ready = memory;
        return memory + floats(rate);
    }
    /// Puts a tick's samples to `to`. `fill(samples, first, count)` gives frames of the server's block.
    template <class Fill>
    void take(const OwnTicks& ticks, float* to, Fill&& fill) noexcept {
        const SynthRate& rate = ticks.rate;
        if (rate.factor == 1)
            return fill(to, ticks.place(), rate.frames);
        const int places = ticks.places();
        if (places && count == 0) {
            fill(ready, ticks.place(), places);
            filter.raise(ready, places);
            count = places * rate.factor;
        }
        const int taken = std::min(count, rate.frames);
        std::copy_n(ready, taken, to);
        std::fill_n(to + taken, rate.frames - taken, 0.f);
        count -= taken;
        std::memmove(ready, ready + taken, size_t(count) * sizeof(float));
    }

private:
    static int most(const SynthRate& rate) noexcept { return std::max(rate.frames, rate.factor); }
};

struct ListeningUnit : OwnRateUnit {
    Heard* channels;
    void* rest;      ///< what comes after them
    float number;    ///< the bus in the block before
    int32_t in_time; ///< InFeedback: which channels were read in the block in which they were written

    /// `more`: bytes that the unit needs beside its channels, for which `rest` is set.
    bool begin(size_t more = 0) noexcept {
        const SynthRate& rate = ticks().rate;
        const size_t each = sizeof(Heard) + (rate.factor == 1 ? 0 : Heard::floats(rate) * sizeof(float));
        if (!claim(mNumOutputs * each + more)) {
            mCalcFunc = stay_silent;
            stay_silent(this, 1);
            return false;
        }
        channels = static_cast<Heard*>(memory);
        auto* floats = reinterpret_cast<float*>(channels + mNumOutputs);
        for (uint32_t c = 0; c < mNumOutputs; ++c) {
            (new (channels + c) Heard{})->bus = -1;
            if (rate.factor != 1)
                floats = channels[c].begin(rate, floats);
        }
        rest = floats;
        return true;
    }
    /// The bus, or -1: this channel doesn't hear it. Also what was written in the block before is heard, unless it was
    /// already heard in that block. Until 3.13 all channels share one bit of `in_time`.
    int32_t heard_of(int32_t bus, uint32_t channel) noexcept {
        const Space& s = space();
        const uint32_t blocks = bus < 0 ? 2 : age(s, s.audio_touched[bus]);
        const int32_t bit = s.release >= Release::v3_14 ? int32_t(1u << (channel % 32)) : 1;
        const bool sounds = blocks == 0 || (blocks == 1 && !(in_time & bit));
        in_time = blocks == 0 ? in_time | bit : in_time & ~bit;
        return sounds ? bus : -1;
    }
    /// The first samples, before the synth runs: without a filter, which has heard nothing yet.
    void put_first() noexcept {
        for (uint32_t c = 0; c < mNumOutputs; ++c)
            *out(int(c)) = channels[c].bus < 0 || factor() != 1 ? 0.f : *audio_bus(space(), channels[c].bus);
    }
    void put_tick() noexcept {
        for (uint32_t c = 0; c < mNumOutputs; ++c) {
            const int32_t bus = channels[c].bus;
            channels[c].take(ticks(), out(int(c)), [&](float* to, int first, int count) {
                if (bus < 0)
                    std::fill_n(to, count, 0.f);
                else
                    std::copy_n(audio_bus(space(), bus) + first, count, to);
            });
        }
    }
};

void end_listening(::Unit* self) {
    static_cast<OwnRateUnit*>(self)->give_back();
}

/// What has been written in this block.
void find_in(ListeningUnit& unit) noexcept {
    const Space& space = unit.space();
    const int32_t first = bus_of(*unit.in(0), space.audio_buses);
    for (uint32_t c = 0; c < unit.mNumOutputs; ++c) {
        const int32_t bus = bus_after(first, int(c), space.audio_buses);
        unit.channels[c].bus = bus >= 0 && age(space, space.audio_touched[bus]) == 0 ? bus : -1;
    }
}

void find_in_feedback(ListeningUnit& unit) noexcept {
    const Space& space = unit.space();
    if (*unit.in(0) != unit.number)
        unit.in_time = 0;
    unit.number = *unit.in(0);
    const int32_t first = bus_of(unit.number, space.audio_buses);
    for (uint32_t c = 0; c < unit.mNumOutputs; ++c)
        unit.channels[c].bus = unit.heard_of(bus_after(first, int(c), space.audio_buses), c);
}

template <auto Find>
struct Listening {
    static void run(::Unit* self, int) {
        auto& unit = *static_cast<ListeningUnit*>(self);
        if (unit.ticks().current == 0)
            Find(unit);
        unit.put_tick();
    }
    static void start(::Unit* self) {
        auto& unit = *static_cast<ListeningUnit*>(self);
        if (!unit.begin())
            return;
        unit.mCalcFunc = run;
        Find(unit);
        unit.put_first();
    }
};

// ---- AudioControl: a value, a control bus interpolated over the server's block, or an audio bus

/// Its state comes after the channels.
struct ControlledChannel {
    float value, slope; ///< of the control bus: at the beginning of the block, and how it changes with each sample
    float next;         ///< at the end of the block
};

struct AudioControlUnit : ListeningUnit {
    ControlledChannel* controls;
    int32_t followed;

    uint32_t control(uint32_t channel) const noexcept { return uint32_t(mSpecialIndex) + channel; }
    Mapping mapping(uint32_t channel) const noexcept {
        return Mapping(synth().graph().mControlRates[control(channel)]);
    }
    float value(uint32_t channel) const noexcept { return *synth().graph().mMapControls[control(channel)]; }
    int32_t bus(uint32_t channel) const noexcept {
        return mapping(channel) == Mapping::audio ? synth().graph().mAudioBusOffsets[control(channel)] : -1;
    }

    void find() noexcept {
        if (followed != bus(0))
            in_time = 0;
        followed = bus(0);
        for (uint32_t c = 0; c < mNumOutputs; ++c) {
            const int32_t its = bus(c);
            if (its < 0) {
                ControlledChannel& channel = controls[c];
                const float to = value(c);
                const bool mapped = mapping(c) == Mapping::control;
                channel.value = mapped ? channel.next : to;
                channel.slope = mapped ? (to - channel.next) / float(ticks().server_frames * factor()) : 0.f;
                channel.next = to;
                channels[c].bus = -1;
                continue;
            }
            channels[c].bus = heard_of(its, c);
        }
    }
    void put(int samples) noexcept {
        const int before = ticks().samples_before();
        for (uint32_t c = 0; c < mNumOutputs; ++c) {
            if (mapping(c) == Mapping::audio)
                continue;
            const ControlledChannel& channel = controls[c];
            for (int i = 0; i < samples; ++i)
                out(int(c))[i] = channel.value + channel.slope * float(before + i);
        }
    }

    static void run(::Unit* self, int samples) {
        auto& unit = *static_cast<AudioControlUnit*>(self);
        if (unit.ticks().current == 0)
            unit.find();
        unit.put_tick(); // of all, so that a filter goes on when its control is mapped
        unit.put(samples);
    }
    static void start(::Unit* self) {
        auto& unit = *static_cast<AudioControlUnit*>(self);
        if (!unit.begin(unit.mNumOutputs * sizeof(ControlledChannel)))
            return;
        unit.controls = static_cast<ControlledChannel*>(unit.rest);
        unit.mCalcFunc = run;
        for (uint32_t c = 0; c < unit.mNumOutputs; ++c)
            unit.controls[c].next = unit.mapping(c) == Mapping::audio ? 0.f : unit.value(c);
        unit.find();
        unit.put_first();
        unit.put(1);
    }
};

// ---- writing audio buses

/// A signal on its way to the server.
struct Told {
    int32_t bus; ///< -1: none
    bool fresh;  ///< nothing has written it in this block before this unit
    HalfBand filter;
    float* queue; ///< frames of the server's that are to be written
    int queued;
    int dropped; ///< frames to leave out: those before the synth's first one
};

struct TellingUnit : OwnRateUnit {
    Told* channels;
    float* scratch; ///< a tick's samples
    float level;    ///< XOut: at the end of the last tick
    int first_input, room;
    bool ran;

    int count() const noexcept { return int(mNumInputs) - first_input; }
    int block() const noexcept { return ticks().server_frames; }
    bool is_direct() const noexcept { return factor() == 1 && room == 0; }

    /// `late`: frames by which it is to be delayed.
    bool begin(int first, int late) noexcept {
        const OwnTicks& own = ticks();
        const SynthRate& rate = own.rate;
        const int kept = std::max(own.frames_ahead() - own.delay(), 0) + late;
        first_input = std::min(first, int(mNumInputs));
        room = kept || rate.factor != 1 ? kept + std::max(rate.frames / rate.factor, 1) : 0;
        const size_t filter = rate.factor == 1 ? 0 : HalfBand::bytes(rate.factor, rate.frames);
        if (!claim(size_t(count()) * (sizeof(Told) + size_t(room) * sizeof(float) + filter) +
                   size_t(rate.frames) * sizeof(float))) {
            mCalcFunc = write_nothing;
            return false;
        }
        channels = static_cast<Told*>(memory);
        scratch = reinterpret_cast<float*>(channels + count());
        float* floats = scratch + rate.frames;
        for (int c = 0; c < count(); ++c) {
            Told& told = *new (channels + c) Told{};
            told.bus = -1;
            told.dropped = own.ahead ? own.delay() : 0;
            told.queue = floats;
            told.queued = late; // zeros
            floats += room;
            if (rate.factor != 1)
                told.filter.begin(rate.factor, rate.frames, floats);
            floats += filter / sizeof(float);
        }
        return true;
    }
    void find() noexcept {
        const Space& s = space();
        const int32_t first = bus_of(*in(0), s.audio_buses);
        for (int c = 0; c < count(); ++c)
            channels[c].bus = bus_after(first, c, s.audio_buses);
        ran = true;
    }
    /// The tick's samples of a channel.
    const float* samples(int channel) noexcept {
        const float* from = in(first_input + channel);
        if (is_audio(first_input + channel))
            return from;
        std::fill_n(scratch, ticks().rate.frames, *from);
        return scratch;
    }
    /// Lowers the rate of the samples in `scratch` and puts them into the queue.
    void enqueue(Told& told) noexcept {
        int count = ticks().rate.frames;
        if (factor() != 1)
            count = told.filter.lower(scratch, count);
        const int left_out = std::min(told.dropped, count);
        told.dropped -= left_out;
        count = std::min(count - left_out, room - told.queued);
        std::copy_n(scratch + left_out, count, told.queue + told.queued);
        told.queued += count;
    }
    /// The next frames of a channel, in `scratch`.
    void dequeue(Told& told, int count) noexcept {
        const int there = std::min(told.queued, count);
        std::copy_n(told.queue, there, scratch);
        std::fill_n(scratch + there, count - there, 0.f);
        told.queued -= there;
        std::memmove(told.queue, told.queue + there, size_t(told.queued) * sizeof(float));
    }
    /// Calls write(channel, place in the server's block, samples, count) with what a tick has for each channel.
    template <class Write>
    void each_piece(Write&& write) noexcept {
        const OwnTicks& own = ticks();
        if (own.current == 0)
            find();
        for (int c = 0; c < count(); ++c) {
            Told& told = channels[c];
            const float* from = samples(c);
            if (!is_direct()) {
                if (from != scratch)
                    std::copy_n(from, own.rate.frames, scratch);
                enqueue(told);
                if (own.current < 0)
                    continue;
                dequeue(told, own.places());
                from = scratch;
            }
            if (told.bus >= 0 && own.places())
                write(told, own.place(), from, own.places());
        }
    }
};

void add(float* to, const float* from, int count, bool fresh) noexcept {
    if (fresh)
        std::copy_n(from, count, to);
    else
        for (int i = 0; i < count; ++i)
            to[i] += from[i];
}

void run_out(::Unit* self, int) {
    auto& unit = *static_cast<TellingUnit*>(self);
    Space& space = unit.space();
    const bool first = unit.ticks().current == 0;
    unit.each_piece([&](Told& told, int place, const float* from, int count) {
        if (first)
            told.fresh = !touch(space, told.bus);
        add(audio_bus(space, told.bus) + place, from, count, told.fresh);
    });
}

void run_replace_out(::Unit* self, int) {
    auto& unit = *static_cast<TellingUnit*>(self);
    Space& space = unit.space();
    unit.each_piece([&](Told& told, int place, const float* from, int count) {
        touch(space, told.bus);
        std::copy_n(from, count, audio_bus(space, told.bus) + place);
    });
}

/// Fades from the bus's content to the input; input 1 is the level, 0 to 1.
void run_x_out(::Unit* self, int) {
    auto& unit = *static_cast<TellingUnit*>(self);
    Space& space = unit.space();
    const float from_level = unit.level, next = *unit.in(1);
    unit.each_piece([&](Told& told, int place, const float* from, int count) {
        if (from_level == next && from_level == 0.f)
            return;
        float* const bus = audio_bus(space, told.bus);
        if (!touch(space, told.bus))
            std::fill_n(bus, unit.block(), 0.f);
        if (from_level == next && from_level == 1.f) {
            std::copy_n(from, count, bus + place);
            return;
        }
        const float slope = float(double(next - from_level) * (1.0 / count));
        float level = from_level;
        for (int i = 0; i < count; ++i, level += slope)
            bus[place + i] += level * (from[i] - bus[place + i]);
    });
    if (unit.ticks().places())
        unit.level = next;
}

template <UnitCalcFunc Run, int First>
void start_telling(::Unit* self) {
    auto& unit = *static_cast<TellingUnit*>(self);
    if (!unit.begin(First, 0))
        return;
    unit.mCalcFunc = Run;
    if (First == 2)
        unit.level = *unit.in(1);
}

void start_offset_out(::Unit* self) {
    auto& unit = *static_cast<TellingUnit*>(self);
    if (unit.begin(1, unit.synth().graph().mSampleOffset))
        unit.mCalcFunc = run_out;
}

/// What is still on its way to the buses, in queues and in filters; a block of the server at most.
void write_tail(::Unit& self) noexcept {
    auto& unit = static_cast<TellingUnit&>(self);
    if (!unit.memory || !std::exchange(unit.ran, false) || unit.is_direct())
        return;
    Space& space = unit.space();
    const SynthRate& rate = unit.ticks().rate;
    for (int c = 0; c < unit.count(); ++c) {
        Told& told = unit.channels[c];
        if (told.bus < 0)
            continue;
        float* const bus = audio_bus(space, told.bus);
        const bool fresh = !touch(space, told.bus);
        const int length = std::min(told.queued + unit.ticks().delay(), unit.block());
        // Some ticks bring no frame: those that are shorter than one.
        int place = 0, left = (length + 1) * rate.factor;
        for (; place < length && left > 0; left -= std::min(rate.frames, rate.factor)) {
            if (told.queued == 0) {
                std::fill_n(unit.scratch, rate.frames, 0.f);
                unit.enqueue(told);
            }
            const int count = std::min({told.queued, length - place, rate.frames});
            unit.dequeue(told, count);
            add(bus + place, unit.scratch, count, fresh);
            place += count;
        }
        if (fresh)
            std::fill_n(bus + place, unit.block() - place, 0.f);
    }
}

void end_telling(::Unit* self) {
    write_tail(*self);
    static_cast<OwnRateUnit*>(self)->give_back();
}
void end_replacing(::Unit* self) {
    static_cast<OwnRateUnit*>(self)->give_back();
}

// ---- LocalIn and LocalOut: a synth's private buses, which are as long as its own blocks

struct LocalInUnit : OwnRateUnit {
    uint32_t written; ///< in which tick
    bool ever_written;

    int frames() const noexcept { return mBufLength; }
    /// Of a channel; null if nothing was written in this tick or the one before.
    float* bus(int channel) const noexcept { return static_cast<float*>(memory) + channel * frames(); }
    uint32_t age() const noexcept { return ever_written ? ticks().number - written : 2; }
};

::Unit*& local_in_of(::Unit& unit) noexcept {
    ::Graph& graph = Instance::of(unit).graph();
    return unit.mCalcRate == calc_FullRate ? graph.mLocalAudioBusUnit : graph.mLocalControlBusUnit;
}

void put_local_in(LocalInUnit& unit, int samples) noexcept {
    const bool filled = unit.age() <= 1;
    for (int c = 0; c < int(unit.mNumOutputs); ++c) {
        const float preset = c < int(unit.mNumInputs) ? *unit.in(c) : 0.f;
        if (filled)
            std::copy_n(unit.bus(c), samples, unit.out(c));
        else
            std::fill_n(unit.out(c), samples, preset);
    }
}

void run_local_in(::Unit* unit, int samples) {
    put_local_in(*static_cast<LocalInUnit*>(unit), samples);
}

/// As in SuperCollider, a second one is silent.
void start_local_in(::Unit* self) {
    auto& unit = *static_cast<LocalInUnit*>(self);
    ::Unit*& first = local_in_of(unit);
    if (first || !unit.claim(size_t(unit.mNumOutputs) * size_t(unit.frames()) * sizeof(float))) {
        unit.mCalcFunc = stay_silent;
        return stay_silent(self, 1);
    }
    first = self;
    unit.mCalcFunc = run_local_in;
    put_local_in(unit, 1);
}

void end_local_in(::Unit* self) {
    static_cast<OwnRateUnit*>(self)->give_back();
}

void run_local_out(::Unit* self, int samples) {
    auto* const local = static_cast<LocalInUnit*>(local_in_of(*self));
    if (!local || local->mNumOutputs != self->mNumInputs)
        return;
    const bool fresh = local->age() != 0;
    for (int c = 0; c < int(self->mNumInputs); ++c) {
        const float* from = self->mInBuf[c];
        float* const to = local->bus(c);
        if (samples == 1 || self->mInput[c]->mCalcRate == calc_FullRate)
            add(to, from, samples, fresh);
        else
            for (int i = 0; i < samples; ++i)
                add(to + i, from, 1, fresh);
    }
    local->written = local->ticks().number;
    local->ever_written = true;
}

void start_local_out(::Unit* unit) {
    unit->mCalcFunc = run_local_out;
}

// ---- the units by name

struct OwnRateEntry : UgenEntry {
    OwnRateEntry(const char* name, size_t bytes, UnitCtorFunc start, UnitDtorFunc end, bool its_hears = false,
                 bool at_control_rate = false) {
        info = {name, bytes, false, this};
        construct = start;
        destroy = end;
        hears = its_hears;
        control = at_control_rate;
    }
    OwnRateEntry(const OwnRateEntry&) = delete;

    bool hears;   ///< audio buses
    bool control; ///< also at control rate
};

const std::array<OwnRateEntry, 9> entries{{
    {"In", sizeof(ListeningUnit), Listening<find_in>::start, end_listening, true},
    {"InFeedback", sizeof(ListeningUnit), Listening<find_in_feedback>::start, end_listening, true},
    {"AudioControl", sizeof(AudioControlUnit), AudioControlUnit::start, end_listening, true},
    {"Out", sizeof(TellingUnit), start_telling<run_out, 1>, end_telling},
    {"OffsetOut", sizeof(TellingUnit), start_offset_out, end_telling},
    {"ReplaceOut", sizeof(TellingUnit), start_telling<run_replace_out, 1>, end_replacing},
    {"XOut", sizeof(TellingUnit), start_telling<run_x_out, 2>, end_replacing},
    {"LocalIn", sizeof(LocalInUnit), start_local_in, end_local_in, false, true},
    {"LocalOut", sizeof(::Unit), start_local_out, nullptr, false, true},
}};

/// Whether it is computed once in each block of the server, at the server's rate: what reads and writes control buses,
/// and LagControl.
bool runs_once_a_block(const UnitPlan& unit) {
    using namespace std::string_view_literals;
    constexpr std::array names{"In"sv,   "InTrig"sv,     "LagIn"sv,    "Out"sv,      "ReplaceOut"sv,
                               "XOut"sv, "LagControl"sv, "SharedIn"sv, "SharedOut"sv};
    return unit.rate == Rate::control && std::find(names.begin(), names.end(), unit.ugen->name) != names.end();
}

} // namespace

void use_own_rate_units(Program& program) {
    for (UnitPlan& unit : program.units) {
        unit.once_a_block = runs_once_a_block(unit);
        for (const OwnRateEntry& each : entries)
            if (unit.ugen->name == each.info.name &&
                (unit.rate == Rate::audio || (each.control && unit.rate == Rate::control))) {
                unit.ugen = &each.info;
                program.hears_audio = program.hears_audio || each.hears;
                break;
            }
    }
}

bool is_own_rate_unit(const UgenInfo& ugen) noexcept {
    const auto* const entry = static_cast<const UgenEntry*>(ugen.entry);
    return std::any_of(entries.begin(), entries.end(), [&](const OwnRateEntry& each) { return &each == entry; });
}

void write_tail_of_own_rate_unit(::Unit& unit) noexcept {
    if (entry_of(unit).destroy == end_telling)
        write_tail(unit);
}

} // namespace scs
