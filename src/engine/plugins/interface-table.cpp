// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/interface-table.hpp"

#include "engine/base/c-locale.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/nodes/node.hpp"
#include "engine/plugins/abi-node.hpp"
#include "engine/plugins/base-table.hpp"
#include "engine/plugins/fft.hpp"
#include "engine/plugins/node-messages.hpp"
#include "engine/plugins/plugin-command.hpp"
#include "engine/plugins/plugin-host.hpp"
#include "engine/plugins/plugin-outlet.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/plugins/rendering-scope.hpp"
#include "engine/plugins/reply-address.hpp"
#include "engine/plugins/rt-message.hpp"
#include "engine/plugins/system-memory.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/rt/pool.hpp"
#include "engine/ugens/kernel.hpp"
#include "engine/units/done-action.hpp"
#include "engine/world/buffers-abi.hpp"
#include "engine/world/kept-samples.hpp"
#include "engine/world/scope-buffers.hpp"
#include "engine/world/sound-file.hpp"

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sndfile.h>
#include <time.h>

namespace scs {
namespace {

// Initial-exec: other thread-local storage would be allocated when the data loop first touches it.
[[gnu::tls_model("initial-exec")]] thread_local PluginWorld* rendering = nullptr;

PluginHost& host_of(::World* world) noexcept {
    return owner_of(world).host();
}

// ---- printing and randomness

/// Whether a user has asked for each of these lines: those of Poll and Dpoll. Their labels may have newlines. Others
/// may come in each block.
bool was_asked_for(const char* format) noexcept {
    return std::strcmp(format, "%s: %g\n") == 0 || std::strcmp(format, "%s: %g block offset: %d\n") == 0;
}

int print(const char* format, ...) {
    const CLocale numbers; // a plugin's own threads print, too
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length <= 0)
        return length;
    const size_t bytes = std::min(size_t(length), sizeof text - 1);
    const FaultGuard::HostCode whole;
    if (rendering && was_asked_for(format))
        rendering->outbox().poll({text, bytes});
    else if (rendering)
        rendering->outbox().print_piece({text, bytes});
    else if (!PluginOutlet::print_piece({text, bytes}))
        std::fwrite(text, 1, bytes, stderr);
    return length;
}

int32 random_seed() {
    static std::atomic<uint64_t> drawn{0};
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    // The finaliser of SplitMix64 (Steele, Lea, Flood 2014), applied to the time and a counter.
    uint64_t x = uint64_t(now.tv_nsec) + uint64_t(now.tv_sec) * 1'000'000'000 +
                 0x9e3779b97f4a7c15 * drawn.fetch_add(1, std::memory_order_relaxed);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return int32(x ^ (x >> 31));
}

// ---- definitions

template <PluginApi api>
bool define_unit(const char* name, size_t bytes, UnitCtorFunc construct, UnitDtorFunc destroy, uint32 flags) {
    return PluginRegistry::instance().define_unit(name, bytes, construct, destroy, flags, api);
}
template <PluginApi api>
bool define_command(const char* name, PlugInCmdFunc run, void* user_data) {
    return PluginRegistry::instance().define_command(name, run, user_data, api);
}
bool define_unit_command(const char* unit, const char* name, UnitCmdFunc run) {
    return PluginRegistry::instance().define_unit_command(unit, name, {run, nullptr});
}
bool define_addressed_unit_command(const char* unit, const char* name, FunctionsOf315::AddressedCommand run) {
    return PluginRegistry::instance().define_unit_command(unit, name, {nullptr, run});
}
template <PluginApi api>
bool define_buf_gen(const char* name, BufGenFunc run) {
    return PluginRegistry::instance().define_buf_gen(name, run, api);
}

// ---- memory

// Plugins get more than they ask for, a zeroed tail, for two reasons. They allocate their array of local buffers here,
// and the ABI's range check accepts the index one past its end: the tail reads as an empty buffer there. And
// Convolution3 writes a block at a time into a frame that may be shorter: the tail has room for a block.
size_t tail_of(const ::World& world) noexcept {
    return std::max(sizeof(::SndBuf), size_t(world.mBufLength) * sizeof(float));
}

/// Whether the engine is gone whose world a plugin has kept, in a static object for example.
bool has_ended(::World* world) noexcept {
    return !reinterpret_cast<AbiWorld*>(world)->owner;
}

/// The pool that serves a plugin which calls with this world; null: SystemMemory does. On the data loop it is the pool
/// of the engine that renders, as a plugin may have kept the world of another one, which may have ended. Elsewhere
/// pools may not be used. Buffer generators run beside the data loop, or offline on it, with a copy of the world.
Pool* pool_for(const ::World* world) noexcept {
    const bool is_copy = !reinterpret_cast<const AbiWorld*>(world)->lasting->has(world);
    return rendering && !is_copy ? &rendering->pool() : nullptr;
}

/// The rest of what allocate() and reallocate() returned is zeroed; may be null.
void* with_tail(void* memory, size_t bytes, size_t tail) noexcept {
    if (memory)
        std::memset(static_cast<std::byte*>(memory) + bytes, 0, tail);
    return memory;
}

void* rt_alloc(::World* world, size_t bytes) {
    const FaultGuard::HostCode whole;
    const size_t tail = tail_of(*world);
    if (bytes > SIZE_MAX - tail)
        return nullptr;
    Pool* const pool = pool_for(world);
    return with_tail(pool ? pool->allocate(bytes + tail) : SystemMemory::allocate(bytes + tail), bytes, tail);
}

/// Whose memory it is that a plugin gives back. What isn't what rt_alloc() or rt_realloc() returned, or has been given
/// back already, is left alone: without MaxLocalBufs, LocalBuf frees an array that it was never given, and each one
/// that MaxLocalBufs has left out frees the array of all once more.
enum class Whose { pool, another_pool, system, nobody };

/// To be called as the plugin's code: on the data loop an address that isn't mapped is a fault.
Whose whose(const Pool* pool, const void* memory) noexcept {
    if (pool && pool->owns(memory))
        return Pool::is_free(memory) ? Whose::nobody : Whose::pool;
    if (PoolRegion::find(memory))
        return Whose::another_pool;
    return !pool || SystemMemory::is_piece(memory) ? Whose::system : Whose::nobody;
}

void rt_free(::World* world, void* memory) {
    Pool* const pool = pool_for(world);
    const Whose owner = whose(pool, memory);
    const FaultGuard::HostCode whole;
    if (owner == Whose::pool)
        pool->free(memory);
    else if (owner == Whose::another_pool)
        Pool::give_back(memory);
    else if (owner == Whose::system)
        pool ? SystemMemory::give_back(memory) : SystemMemory::free(memory);
}

void* rt_realloc(::World* world, void* old, size_t bytes) {
    Pool* const pool = pool_for(world);
    const Whose owner = whose(pool, old);
    const FaultGuard::HostCode whole;
    const size_t tail = tail_of(*world);
    if (bytes > SIZE_MAX - tail)
        return nullptr;
    if (pool && (!old || owner == Whose::pool))
        return with_tail(pool->reallocate(old, bytes + tail), bytes, tail);
    if (owner == Whose::nobody)
        return nullptr;
    const bool is_systems = owner == Whose::system;
    if (!pool && is_systems)
        return with_tail(SystemMemory::reallocate(old, bytes + tail), bytes, tail);
    void* const moved = rt_alloc(world, bytes);
    if (moved) {
        std::memcpy(moved, old, std::min(bytes, is_systems ? SystemMemory::size_of(old) : Pool::size_of(old)));
        is_systems ? SystemMemory::give_back(old) : void(Pool::give_back(old));
    }
    return moved;
}

int buf_alloc(::SndBuf* buffer, int channels, int frames, double rate) {
    const FaultGuard::HostCode whole;
    if (channels < 1 || frames < 1)
        return 1;
    float* data = allocate_samples(int64_t(channels) * frames);
    if (!data)
        return 1;
    set_abi_buffer(*buffer, {data, frames, channels, rate, nullptr});
    return 0;
}

// ---- units and nodes

/// No more than there are: a unit at control rate may say as many as one at audio rate has.
void clear_outputs(::Unit* unit, int samples) {
    const auto count = size_t(std::clamp(samples, 0, std::max(unit->mBufLength, 0)));
    for (uint32 i = 0; i < unit->mNumOutputs; ++i)
        std::memset(unit->mOutBuf[i], 0, count * sizeof(float));
}

void node_end(::Node* node) {
    const FaultGuard::HostCode whole;
    if (Node* owner = owner_of(node))
        host_of(node->mWorld).end_node(*owner);
}
void node_run(::Node* node, int run) {
    const FaultGuard::HostCode whole;
    if (Node* owner = owner_of(node))
        host_of(node->mWorld).set_run(*owner, run != 0);
}
void group_delete_all(::Group* group) {
    const FaultGuard::HostCode whole;
    auto* node = reinterpret_cast<::Node*>(group);
    Node* owner = owner_of(node);
    if (!owner || !owner->is_group)
        return;
    // Children are only marked, as one of them may be the caller.
    for (Node* child = static_cast<scs::Group&>(*owner).head; child; child = child->next)
        host_of(node->mWorld).end_node(*child);
}
void done_action(int action, ::Unit* unit) {
    if (action == 0) // which some units ask for in each sample once they are done
        return;
    const FaultGuard::HostCode whole;
    if (!find_done_action(float(action))) // numbers far beyond are native units' complaints
        return;
    const auto& graph = *reinterpret_cast<AbiGraph*>(unit->mParent);
    graph.space->done_action(graph.space->host, *graph.owner, action);
}
void* node_as_plugins_see_it(::World* world, int id, bool groups) noexcept {
    const FaultGuard::HostCode whole;
    if (has_ended(world))
        return nullptr;
    Node* node = host_of(world).find_node(id);
    return node && (groups || !node->is_group) ? abi_node_of(owner_of(world), *node) : nullptr;
}
::Node* get_node(::World* world, int id) {
    return static_cast<::Node*>(node_as_plugins_see_it(world, id, true));
}
::Graph* get_graph(::World* world, int id) {
    return static_cast<::Graph*>(node_as_plugins_see_it(world, id, false));
}
/// Only synths with units of that API have such a graph.
::Graph* get_graph_of_315(::World* world, int id) {
    const FaultGuard::HostCode whole;
    Node* const node = has_ended(world) ? nullptr : host_of(world).find_node(id);
    UnitGraph* const graph = node && !node->is_group ? static_cast<Synth*>(node)->graph : nullptr;
    return graph ? static_cast<::Graph*>(graph->node_of_315()) : nullptr;
}

void send_trigger_at_once(::Node* node, int id, float value) {
    send_trigger(*node, 0, id, value);
}

void send_node_reply_at_once(::Node* node, int id, const char* address, int count, const float* values) {
    if (count >= 0)
        send_node_reply(*node, 0, id, address, {values, size_t(count)});
}

// ---- threads

bool from_rt(::World* world, ::FifoMsg& message) {
    const FaultGuard::HostCode whole;
    return !has_ended(world) && send_from_rt(owner_of(world), message);
}
bool to_rt(::World* world, ::FifoMsg& message) {
    const FaultGuard::HostCode whole;
    std::unique_lock<std::mutex> other_thread;
    if (!rendering)
        other_thread = std::unique_lock(LastingWorld::of(world).owned);
    return world->mRunning && !has_ended(world) && send_to_rt(owner_of(world), message);
}
void non_rt_lock(::World* world) {
    const FaultGuard::HostCode whole;
    static_cast<std::mutex*>(world->mNRTLock)->lock();
}
void non_rt_unlock(::World* world) {
    const FaultGuard::HostCode whole;
    static_cast<std::mutex*>(world->mNRTLock)->unlock();
}

/// 0: it is under way.
int start(::World* world, const void* from, const char* name, void* data, const AsyncStages& stages,
          int completion_bytes, const void* completion) {
    const ReplyTo to = from ? static_cast<const ReplyAddress*>(from)->to : ReplyTo{};
    const FaultGuard::HostCode whole;
    if (has_ended(world))
        return 1;
    const std::span packet(static_cast<const std::byte*>(completion),
                           completion && completion_bytes > 0 ? size_t(completion_bytes) : 0);
    return !start_async_command(owner_of(world), to, name, data, stages, packet);
}
PluginApi api_of(const ::World* world) noexcept {
    return PluginApi(reinterpret_cast<const AbiWorld*>(world)->api);
}
int do_asynchronous(::World* world, void* from, const char* name, void* data, AsyncStageFn on_worker,
                    AsyncStageFn on_rt, AsyncStageFn at_the_end, AsyncFreeFn cleanup, int completion_bytes,
                    void* completion) {
    const AsyncStages stages{api_of(world), on_worker, on_rt, at_the_end, cleanup};
    return start(world, from, name, data, stages, completion_bytes, completion);
}
int do_asynchronous_addressed(::World* world, void* from, const char* name, void* data,
                              FunctionsOf315::AddressedStage on_worker, FunctionsOf315::AddressedStage on_rt,
                              FunctionsOf315::AddressedStage at_the_end, AsyncFreeFn cleanup, int completion_bytes,
                              const void* completion) {
    const AsyncStages stages{api_of(world), on_worker, on_rt, at_the_end, cleanup};
    return start(world, from, name, data, stages, completion_bytes, completion);
}
int do_asynchronous_of_unit(::Unit* unit, void* from, const char* name, void* data, FunctionsOf315::UnitStage on_worker,
                            FunctionsOf315::UnitStage on_rt, FunctionsOf315::UnitStage at_the_end, AsyncFreeFn cleanup,
                            int completion_bytes, const void* completion) {
    const AsyncStages stages{api_of(unit->mWorld), on_worker, on_rt, at_the_end, cleanup, unit};
    return start(unit->mWorld, from, name, data, stages, completion_bytes, completion);
}

// ---- scopes

// A handle holds the scope's index plus one; null means none. It is no address, as the unit may have overwritten it.
int64_t scope_of(const ScopeBufferHnd& handle) noexcept {
    return int64_t(reinterpret_cast<intptr_t>(handle.internalData)) - 1;
}

bool get_scope_buffer(::World* world, int index, int channels, int max_frames, ScopeBufferHnd& handle) {
    const FaultGuard::HostCode whole;
    handle.internalData = nullptr;
    ScopeBuffers* const scopes = owner_of(world).scopes();
    if (!scopes || max_frames < 1)
        return false;
    // ScopeOut2 writes whole blocks, even if it asked for fewer frames.
    const int frames = std::max(max_frames, world->mBufLength);
    handle.data = scopes->acquire(index, channels, frames);
    if (!handle.data)
        return false;
    handle.internalData = reinterpret_cast<void*>(intptr_t(index) + 1);
    handle.channels = uint32(channels);
    handle.maxFrames = uint32(frames);
    return true;
}
void push_scope_buffer(::World* world, ScopeBufferHnd& handle, int frames) {
    const FaultGuard::HostCode whole;
    ScopeBuffers* const scopes = owner_of(world).scopes();
    if (float* next = scopes ? scopes->push(scope_of(handle), frames) : nullptr)
        handle.data = next;
}
void release_scope_buffer(::World* world, ScopeBufferHnd& handle) {
    const FaultGuard::HostCode whole;
    if (ScopeBuffers* const scopes = owner_of(world).scopes())
        scopes->release(scope_of(handle));
}

/// As scsynth's: names that aren't given are AIFF and int16.
int sound_file_format_info(SF_INFO* info, const char* header, const char* sample) {
    const FaultGuard::HostCode whole;
    const auto format = sound_file_format(header ? header : "aiff", sample ? sample : "int16");
    if (!format || !info)
        return 1;
    info->format = format.value();
    return 0;
}

// ---- Fourier transforms

SpectraMemory memory_of(SCFFT_Allocator& memory) noexcept {
    return {[](void* user, size_t bytes) { return static_cast<SCFFT_Allocator*>(user)->alloc(bytes); },
            [](void* user, void* piece) { static_cast<SCFFT_Allocator*>(user)->free(piece); }, &memory};
}
::scfft* create_fft(size_t points, size_t window_points, SCFFT_WindowFunction window, float* in, float* out,
                    SCFFT_Direction direction, SCFFT_Allocator& memory) {
    return fft_create(points, window_points, window, in, out, direction, memory_of(memory));
}
void destroy_fft(::scfft* f, SCFFT_Allocator& memory) {
    fft_destroy(f, memory_of(memory));
}
::scfft* create_fft_of_315(size_t points, size_t window_points, int window, float* in, float* out, int direction,
                           SpectraMemory* memory) {
    const bool known = window == kRectWindow || window == kSineWindow || window == kHannWindow;
    return fft_create(points, window_points, known ? SCFFT_WindowFunction(window) : kRectWindow, in, out,
                      direction == kForward ? kForward : kBackward, *memory);
}
void destroy_fft_of_315(::scfft* f, SpectraMemory* memory) {
    fft_destroy(f, *memory);
}

// ---- the tables

template <PluginApi api>
::InterfaceTable make_table() {
    ::InterfaceTable t = base_table();
    t.fNRTRealloc = reallocate_any; // a buffer's memory may be a file's
    t.fNRTFree = free_any;
    t.fPrint = print;
    t.fRanSeed = random_seed;
    t.fDefineUnit = define_unit<api>;
    t.fDefinePlugInCmd = define_command<api>;
    t.fDefineUnitCmd = define_unit_command;
    t.fDefineBufGen = define_buf_gen<api>;
    t.fClearUnitOutputs = clear_outputs;
    t.fRTAlloc = rt_alloc;
    t.fRTRealloc = rt_realloc;
    t.fRTFree = rt_free;
    t.fNodeRun = node_run;
    t.fNodeEnd = node_end;
    t.fSendTrigger = send_trigger_at_once;
    t.fSendNodeReply = send_node_reply_at_once;
    t.fSendMsgFromRT = from_rt;
    t.fSendMsgToRT = to_rt;
    t.fSndFileFormatInfoFromStrings = sound_file_format_info;
    t.fGetNode = get_node;
    t.fGetGraph = api == PluginApi::v6 ? get_graph_of_315 : get_graph;
    t.fNRTLock = non_rt_lock;
    t.fNRTUnlock = non_rt_unlock;
    t.fGroup_DeleteAll = group_delete_all;
    t.fDoneAction = done_action;
    t.fDoAsynchronousCommand = do_asynchronous;
    t.fBufAlloc = buf_alloc;
    t.fSCfftCreate = create_fft;
    t.fSCfftDoFFT = fft_forward;
    t.fSCfftDoIFFT = fft_backward;
    t.fSCfftDestroy = destroy_fft;
    t.fGetScopeBuffer = get_scope_buffer;
    t.fPushScopeBuffer = push_scope_buffer;
    t.fReleaseScopeBuffer = release_scope_buffer;
    return t;
}

} // namespace

::InterfaceTable* interface_table(PluginApi api) {
    constexpr FunctionsOf315 more{define_addressed_unit_command, do_asynchronous_addressed, do_asynchronous_of_unit,
                                  create_fft_of_315, destroy_fft_of_315};
    static ::InterfaceTable v3 = make_table<PluginApi::v3>();
    static TableOf315 v5(make_table<PluginApi::v5>(), more);
    static TableOf315 v6(make_table<PluginApi::v6>(), more);
    return api == PluginApi::v3 ? &v3 : api == PluginApi::v5 ? v5.get() : v6.get();
}

PluginWorld* rendering_world() noexcept {
    return rendering;
}

SCS_UNPROVEN_BEGIN // thread-local storage of the model initial-exec is there from the start
RenderingScope::RenderingScope(PluginWorld& world) noexcept : outer_(rendering) {
    rendering = &world;
}

RenderingScope::~RenderingScope() noexcept {
    rendering = outer_;
}
SCS_UNPROVEN_END

} // namespace scs
