// SPDX-License-Identifier: GPL-3.0-or-later
// A UGen plugin as SuperCollider 3.15's development makes them, for each version of its plugin API: API says which. The
// layouts are written down here again, so that the host's own are checked by them.
#include <SC_PlugIn.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <time.h>

namespace {

#if API == 5
using LaterGraph = ::Graph;
#else
struct LaterGraph {
    ::Node node;
    int32_t references;
#if API == 6
    uint16_t ticks, tick;
    uint32_t flags;
#else
    uint32_t ticks, tick, flags;
#endif
    ::Rate *full, *control;
    uint32_t wire_count, control_count;
    ::Wire* wires;
    float *controls, **mapped;
    int32_t *bus_offsets, *control_rates;
    uint32_t unit_count, called_count;
    ::Unit **units, **called;
    int32_t mSampleOffset;
    float subsample_offset;
    ::RGen* mRGen;
    ::Unit *local_audio, *local_control;
    ::SndBuf* mLocalSndBufs;
    int32_t localBufNum, localMaxBufNum;
    void* hidden;
};
#endif

struct Memory {
    void* (*allocate)(void*, size_t);
    void (*free)(void*, void*);
    void* user;
};

using UnitStage = bool (*)(::Unit*, void*, void*);
using Stage = bool (*)(::World*, void*, void*);

struct Table {
    uint32_t sine_size;
    float *wavetable, *sine, *cosecant;
    int (*print)(const char*, ...);
    int32_t (*seed)();
    bool (*define_unit)(const char*, size_t, UnitCtorFunc, UnitDtorFunc, uint32_t);
    bool (*define_command)(const char*, PlugInCmdFunc, void*);
    bool (*define_unit_command)(const char*, const char*, UnitCmdFunc);
    bool (*define_addressed)(const char*, const char*, void (*)(::Unit*, ::sc_msg_iter*, void*));
    bool (*define_generator)(const char*, BufGenFunc);
    void (*clear)(::Unit*, int);
    void *nrt_alloc, *nrt_realloc, *nrt_free;
    void* (*rt_alloc)(::World*, size_t);
    void* (*rt_realloc)(::World*, void*, size_t);
    void (*rt_free)(::World*, void*);
    void (*run)(::Node*, int);
    void (*end)(::Node*);
    void (*trigger)(::Node*, int, float);
    void (*reply)(::Node*, int, const char*, int, const float*);
    void *from_rt, *to_rt, *format;
    ::Node* (*node)(::World*, int);
    LaterGraph* (*graph)(::World*, int);
    void *lock, *unlock, *delete_all;
    void (*done)(int, ::Unit*);
    void* asynchronous;
    int (*asynchronous_addressed)(::World*, void*, const char*, void*, Stage, Stage, Stage, AsyncFreeFn, int,
                                  const void*);
    int (*asynchronous_of_unit)(::Unit*, void*, const char*, void*, UnitStage, UnitStage, UnitStage, AsyncFreeFn, int,
                                const void*);
    void* buf_alloc;
    ::scfft* (*fft_create)(size_t, size_t, int, float*, float*, int, Memory*);
    void (*fft_forward)(::scfft*);
    void (*fft_backward)(::scfft*);
    void (*fft_destroy)(::scfft*, Memory*);
    void *scope, *push, *release;
};
static_assert(sizeof(Table) == 42 * sizeof(void*));

constexpr size_t points = 256; // no less than two blocks

Table* table;

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
#define NAMED(what) "/later" TEXT(API) what

const Table& table_of(const ::Unit& unit) {
    return *reinterpret_cast<const Table*>(unit.mWorld->ft);
}
LaterGraph& graph_of(const ::Unit& unit) {
    return *reinterpret_cast<LaterGraph*>(unit.mParent);
}

/// As the headers of 3.15 make it.
Memory memory_of(::World* world) {
    return {[](void* user, size_t bytes) {
                auto* w = static_cast<::World*>(user);
                return reinterpret_cast<Table*>(w->ft)->rt_alloc(w, bytes);
            },
            [](void* user, void* piece) {
                auto* w = static_cast<::World*>(user);
                reinterpret_cast<Table*>(w->ft)->rt_free(w, piece);
            },
            world};
}

/// Plays input 0, divided by the length of a block, plus the first sample of the synth's own first buffer. -1:
/// something is wrong. Input 1: while it is positive, the synth ends.
struct Later : ::Unit {
    float* samples; ///< from the host's memory
    ::scfft* transform;
    float value;
};

void play(::Unit* self, int frames) {
    auto& unit = *static_cast<Later*>(self);
    const LaterGraph& graph = graph_of(unit);
    std::memset(unit.samples, 0, points * sizeof(float));
    unit.samples[0] = unit.value;
    table->fft_forward(unit.transform);
    float length = float(frames);
#if API != 5
    length = float(graph.full->mBufLength);
    if (graph.ticks != 1 || graph.tick != 0 || graph.flags != 0 || graph.control->mBufLength != 1)
        length = 0;
#endif
    // The spectrum of an impulse is the same everywhere.
    const bool whole = graph.mRGen && unit.samples[0] == unit.value && unit.samples[points - 2] == unit.value;
    const float more = graph.localBufNum > 0 ? graph.mLocalSndBufs[0].data[0] : 0.f;
    for (int i = 0; i < frames; ++i)
        unit.mOutBuf[0][i] = whole ? unit.value / length + more : -1.f;
    if (unit.mInBuf[1][0] > 0)
        table->done(2, self);
}

void construct(::Unit* self) {
    auto& unit = *static_cast<Later*>(self);
    unit.value = unit.mInBuf[0][0];
    unit.samples = static_cast<float*>(table_of(unit).rt_alloc(unit.mWorld, points * sizeof(float)));
    Memory memory = memory_of(unit.mWorld);
    unit.transform = table->fft_create(points, points, -1, unit.samples, unit.samples, 1, &memory);
    unit.mCalcFunc = play;
    unit.mOutBuf[0][0] = 0;
}

void destroy(::Unit* self) {
    auto& unit = *static_cast<Later*>(self);
    Memory memory = memory_of(unit.mWorld);
    table->fft_destroy(unit.transform, &memory);
    table_of(unit).rt_free(unit.mWorld, unit.samples);
}

void set_value(::Unit* unit, ::sc_msg_iter* arguments) {
    static_cast<Later*>(unit)->value = arguments->getf();
}

/// What a command changes, and in which of its stages its synth was gone.
struct Change {
    float value;
    int milliseconds;
};

bool wait_a_while(::Unit* unit, void* data, void* address) {
    const timespec time{0, static_cast<Change*>(data)->milliseconds * 1'000'000};
    nanosleep(&time, nullptr);
    return address && static_cast<Later*>(unit)->value != 0; // the unit is there
}
bool change(::Unit* unit, void* data, void* address) {
    if (unit)
        static_cast<Later*>(unit)->value = static_cast<Change*>(data)->value;
    else
        table->print("%s: its synth has left\n", NAMED(""));
    return address;
}
bool end(::Unit* unit, void*, void* address) {
    return address && static_cast<Later*>(unit)->value != 0;
}
void forget(::World* world, void* data) {
    reinterpret_cast<Table*>(world->ft)->rt_free(world, data);
}

/// value, milliseconds, completion message
void change_later(::Unit* unit, ::sc_msg_iter* arguments, void* address) {
    auto* data = static_cast<Change*>(table->rt_alloc(unit->mWorld, sizeof(Change)));
    data->value = arguments->getf();
    data->milliseconds = arguments->geti();
    const size_t bytes = arguments->getbsize();
    if (table->asynchronous_of_unit(unit, address, NAMED("/change"), data, wait_a_while, change, end, forget,
                                    int(bytes), bytes > 0 ? arguments->rdpos + 4 : nullptr) != 0)
        table->rt_free(unit->mWorld, data);
}

/// control bus, value: set by the third stage
struct Setting {
    int bus;
    float value;
};
void set_bus(::World* world, void*, ::sc_msg_iter* arguments, void* address) {
    auto* data = static_cast<Setting*>(reinterpret_cast<Table*>(world->ft)->rt_alloc(world, sizeof(Setting)));
    data->bus = arguments->geti();
    data->value = arguments->getf();
    table->asynchronous_addressed(
        world, address, NAMED("/bus"), data, [](::World*, void*, void* to) { return to != nullptr; },
        [](::World* w, void* given, void* to) {
            const auto& setting = *static_cast<Setting*>(given);
            w->mControlBus[setting.bus] = setting.value;
            return to != nullptr;
        },
        [](::World*, void*, void* to) { return to != nullptr; }, forget, 0, nullptr);
}

/// Fills a buffer with the sum of its argument and a number that it keeps in the host's memory meanwhile.
void fill(::World* world, ::SndBuf* buffer, ::sc_msg_iter* arguments) {
    const Memory memory = memory_of(world);
    auto* kept = static_cast<float*>(memory.allocate(memory.user, sizeof(float)));
    *kept = float(API);
    const float value = arguments->getf();
    for (int i = 0; i < buffer->samples; ++i)
        buffer->data[i] = value + *kept;
    memory.free(memory.user, kept);
}

/// node: replies with its number of controls as its graph has it, -1 if there is no such graph
void count_controls(::World* world, void*, ::sc_msg_iter* arguments, void*) {
    const int id = arguments->geti();
    const LaterGraph* const graph = table->graph(world, id);
#if API == 5
    world->mControlBus[0] = graph ? float(graph->mNumControls) : -1.f;
#else
    world->mControlBus[0] = graph ? float(graph->control_count) : -1.f;
#endif
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int api_version() {
    return API;
}
EXPORT int server_type() {
    return 0;
}
EXPORT void load(Table* given) {
    table = given;
    table->define_unit("Later" TEXT(API), sizeof(Later), construct, destroy, 0);
    table->define_unit_command("Later" TEXT(API), "set", set_value);
    table->define_addressed("Later" TEXT(API), "change", change_later);
    table->define_command(NAMED("/bus"), set_bus, nullptr);
    table->define_command(NAMED("/controls"), count_controls, nullptr);
    table->define_generator("later" TEXT(API), fill);
}
