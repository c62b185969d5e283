// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/own-rate-units.hpp"

#include "engine/plugins/graph-instance.hpp"
#include "engine/plugins/interface-table.hpp"
#include "engine/ugens/rate-buses.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace scs {
namespace {

// ---- what all of them need

/// A unit's memory is zeroed before its constructor runs.
struct OwnRateUnit : ::Unit {
    void* memory; ///< a piece of the pool, or null

    Instance& synth() const noexcept { return Instance::of(*this); }
    const OwnTicks& ticks() const noexcept { return *synth().own; }
    Space& space() const noexcept { return *synth().block.space; }
    bool is_audio(int input) const noexcept { return mInput[input]->mCalcRate == calc_FullRate; }
    const float* in(int input) const noexcept { return mInBuf[input]; }
    float* out(int output) const noexcept { return mOutBuf[output]; }

    /// false: there is no memory, and the unit stays silent.
    bool claim(size_t bytes) noexcept {
        memory = interface_table()->fRTAlloc(mWorld, std::max(bytes, size_t(1)));
        if (!memory)
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

struct ListeningUnit : OwnRateUnit {
    BusReader* reader;

    bool begin() noexcept {
        const int channels = int(mNumOutputs);
        if (!claim(BusReader::bytes(ticks(), channels))) {
            mCalcFunc = stay_silent;
            stay_silent(this, 1);
            return false;
        }
        reader = BusReader::make(memory, ticks(), channels);
        return true;
    }
    void put_first() noexcept {
        for (uint32_t c = 0; c < mNumOutputs; ++c)
            *out(int(c)) = reader->first(space(), ticks(), int(c));
    }
    void put_tick() noexcept {
        for (uint32_t c = 0; c < mNumOutputs; ++c)
            reader->take(space(), ticks(), int(c), out(int(c)));
    }
};

void end_listening(::Unit* self) {
    static_cast<OwnRateUnit*>(self)->give_back();
}

template <auto Find>
struct Listening {
    static void find(ListeningUnit& unit) noexcept { (unit.reader->*Find)(unit.space(), *unit.in(0)); }
    static void run(::Unit* self, int) {
        auto& unit = *static_cast<ListeningUnit*>(self);
        if (unit.ticks().begins_block())
            find(unit);
        unit.put_tick();
    }
    static void start(::Unit* self) {
        auto& unit = *static_cast<ListeningUnit*>(self);
        if (!unit.begin())
            return;
        unit.mCalcFunc = run;
        find(unit);
        unit.put_first();
    }
};

// ---- AudioControl

struct AudioControlUnit : OwnRateUnit {
    ControlReader* reader;

    void find() noexcept {
        const ::Graph& graph = synth().graph();
        for (uint32_t c = 0; c < mNumOutputs; ++c) {
            const uint32_t control = uint32_t(mSpecialIndex) + c;
            const auto mapping = Mapping(graph.mControlRates[control]);
            const int32_t mapped =
                mapping == Mapping::audio ? -graph.mAudioBusOffsets[control] - 1 : int32_t(mapping == Mapping::control);
            reader->find(space(), ticks(), int(c), mapped, *graph.mMapControls[control]);
        }
    }

    static void run(::Unit* self, int) {
        auto& unit = *static_cast<AudioControlUnit*>(self);
        if (unit.ticks().begins_block())
            unit.find();
        for (int c = 0; c < int(unit.mNumOutputs); ++c)
            unit.reader->take(unit.space(), unit.ticks(), c, unit.out(c));
    }
    static void start(::Unit* self) {
        auto& unit = *static_cast<AudioControlUnit*>(self);
        const int channels = int(unit.mNumOutputs);
        if (!unit.claim(ControlReader::bytes(unit.ticks(), channels))) {
            unit.mCalcFunc = stay_silent;
            return stay_silent(self, 1);
        }
        unit.mCalcFunc = run;
        unit.reader = ControlReader::make(unit.memory, unit.ticks(), channels);
        unit.find();
        for (int c = 0; c < channels; ++c)
            *unit.out(c) = unit.reader->first(unit.space(), unit.ticks(), c);
    }
};

// ---- writing audio buses

struct TellingUnit : OwnRateUnit {
    BusWriter* writer;
    float level; ///< XOut: at the end of the last tick
    int first_input;

    /// `late`: frames by which it is to be delayed.
    bool begin(int first, int late) noexcept {
        first_input = std::min(first, int(mNumInputs));
        if (!claim(BusWriter::bytes(ticks(), count(), late))) {
            mCalcFunc = write_nothing;
            return false;
        }
        writer = BusWriter::make(memory, ticks(), count(), late);
        return true;
    }
    int count() const noexcept { return int(mNumInputs) - first_input; }
    /// The tick's samples of a channel.
    const float* samples(int channel) noexcept {
        const float* from = in(first_input + channel);
        return is_audio(first_input + channel) ? from : writer->held(ticks(), *from);
    }
    /// Calls write(channel, samples) for each channel.
    template <class Write>
    void each_channel(Write&& write) noexcept {
        if (ticks().begins_block())
            writer->find(space(), *in(0));
        for (int c = 0; c < count(); ++c)
            write(c, samples(c));
    }
};

void run_out(::Unit* self, int) {
    auto& unit = *static_cast<TellingUnit*>(self);
    unit.each_channel([&](int c, const float* from) { unit.writer->add(unit.space(), unit.ticks(), c, from); });
}

void run_replace_out(::Unit* self, int) {
    auto& unit = *static_cast<TellingUnit*>(self);
    unit.each_channel([&](int c, const float* from) { unit.writer->replace(unit.space(), unit.ticks(), c, from); });
}

/// Fades from the bus's content to the input; input 1 is the level, 0 to 1.
void run_x_out(::Unit* self, int) {
    auto& unit = *static_cast<TellingUnit*>(self);
    const float from = unit.level, to = *unit.in(1);
    unit.each_channel(
        [&](int c, const float* samples) { unit.writer->fade(unit.space(), unit.ticks(), c, samples, from, to); });
    if (unit.ticks().places())
        unit.level = to;
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

void write_tail(::Unit& self) noexcept {
    auto& unit = static_cast<TellingUnit&>(self);
    if (unit.memory)
        unit.writer->write_tail(unit.space(), unit.ticks());
}

void end_telling(::Unit* self) {
    write_tail(*self);
    static_cast<OwnRateUnit*>(self)->give_back();
}
void end_replacing(::Unit* self) {
    static_cast<OwnRateUnit*>(self)->give_back();
}

// ---- LocalIn and LocalOut: a synth's private buses, which are as long as its own blocks

void add(float* to, const float* from, int count, bool fresh) noexcept {
    if (fresh)
        std::copy_n(from, count, to);
    else
        for (int i = 0; i < count; ++i)
            to[i] += from[i];
}

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
    {"In", sizeof(ListeningUnit), Listening<&BusReader::find>::start, end_listening, true},
    {"InFeedback", sizeof(ListeningUnit), Listening<&BusReader::find_feedback>::start, end_listening, true},
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
