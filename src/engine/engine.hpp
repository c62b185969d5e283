// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/engine-status.hpp"
#include "engine/base/nonblocking.hpp"
#include "engine/base/result.hpp"
#include "engine/base/settings.hpp"
#include "engine/control/control-event.hpp"
#include "engine/control/transport.hpp"
#include "engine/definitions/definitions.hpp"
#include "engine/error-mode.hpp"
#include "engine/load-meter.hpp"
#include "engine/messages/command.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/rt/record-ring.hpp"
#include "engine/tree/tree.hpp"
#include "engine/world/buffers.hpp"
#include "engine/world/buses.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace scs {

struct EngineParts;
class Bindings;
class ControlOutputs;
class HelperPool;
class SharedMemory;
class Streams;
class Trace;
class TransportRequests;

/// The synthesis engine: takes commands, renders blocks, emits events. Knows neither OSC nor PipeWire.
///
/// One thread at a time is the data loop ([rt]); it owns tree, buses, live synths and scheduled bundles.
/// Other threads reach it through the queues only.
class Engine {
public:
    static constexpr size_t most_bundles = 10496; ///< bundles that are submitted and not yet retired

    /// [worker] Loads the UGen plugins that aren't loaded yet, or have changed, and allocates the pool. Slow. `report`
    /// gets a line for each plugin file that could not be loaded. `shared`: where the control buses and scope buffers
    /// live; it must be as new and have as many control buses as the settings say. Without it there are no scope
    /// buffers. `helpers`: help the data loop, if settings.threads asks for that, and those of other engines. Null: the
    /// engine has some of its own, which are plain threads.
    static Result<std::unique_ptr<Engine>> create(const Settings&,
                                                  const std::function<void(const std::string&)>& report,
                                                  std::shared_ptr<SharedMemory> shared = {},
                                                  std::shared_ptr<HelperPool> helpers = {});
    /// [any] To be called once a process, before the first prepare_thread(). create() does so, too.
    static void prepare_process();
    /// [rt] To be called on the thread that will render, outside any cycle. Gives it a stack for signal handlers:
    /// without one, a UGen that overflows the thread's stack ends the process.
    static void prepare_thread() noexcept;
    /// [rt] To be called on the thread that will render, outside any cycle. From then on code without end is ended on
    /// this thread: a UGen that takes more than 30 ms of processor time by itself loses its synth, and host code that
    /// takes 60 ms breaks the engine. false: the system has no timer left for that.
    static bool watch_thread() noexcept;
    /// [rt] Undoes watch_thread(), on the same thread.
    static void unwatch_thread() noexcept;
    /// [any] Frees synths, bundles and SynthDefs. No thread may be in any of its functions.
    ~Engine();
    /// [worker] What the destructor tells of: UGens that crash at the end, when nobody reads events() any more. May be
    /// called as long as the engine is there.
    void report_end_to(std::function<void(const std::string&)> tell) { tell_at_end_ = std::move(tell); }

    const Settings& settings() const noexcept { return settings_; }
    /// [any] To be called before the first cycle: the clock of the deadlines.
    void set_clock(NanoClock clock) noexcept;

    // ---- queues
    /// [osc] Gives a bundle to the data loop, which owns it until the `retired` event. false: the queue is full, and
    /// the caller still owns the bundle.
    bool submit(CommandBundle*) noexcept;
    /// [osc] Makes room for a bundle that becomes the completion of a plugin's command, and is retired in any case.
    /// false: there is none.
    bool reserve() noexcept;
    /// [osc] Events from the data loop, read by the OSC thread alone. See events.hpp.
    RecordRing& events() noexcept;
    /// [worker] Returns a command to the data loop after its work(). false: the queue is full, try again later.
    /// Plugins' own threads may call it, too.
    bool finish_job(Command*) noexcept;

    /// [osc] Whether the data loop has yet to take any of these.
    bool has_results() const noexcept;

    // ---- rendering
    /// [rt] One cycle: takes commands from the queue, runs those that are due, renders `frames` (at most max_quantum).
    /// `frame0`: time at the output of the cycle's first frame. in[i], out[i]: `frames` samples, or null for a port
    /// that isn't linked. `rate`: the graph's, Hz. Commands for which there is no time before the limit's deadline wait
    /// for the next cycle. Blocks that are left out are silent. No block is computed while a bundle is half done.
    /// `events`: what the control ports bring in this cycle, for bindings(); each takes effect input_delay() frames
    /// after its own. `transports`: of the graph in this cycle, in the order of their frames, delayed in the same
    /// way; none: it goes on as it did.
    void process(int frames, NtpTime frame0, double rate, const float* const* in, float* const* out,
                 const CycleLimit& = {}, std::span<const ControlEvent> events = {},
                 std::span<const Transport> transports = {}) noexcept SCS_NONBLOCKING;
    /// [rt] For when no cycle runs: runs commands for about a millisecond; time stands still. `rate`: the graph's, Hz;
    /// 0: it stays. Returns whether more are waiting.
    bool run_idle(double rate = 0) noexcept SCS_NONBLOCKING;
    /// [rt] How many frames inputs are delayed at the present quantum.
    int input_delay() const noexcept;
    /// [rt] Drops the frames carried over from the last cycle. For a start after a pause.
    void reset_carry() noexcept;

    /// [any] Whether keep_memory_ahead() has anything to do.
    bool memory_grows() const noexcept;
    /// [worker] To be called every 100 ms: see Pool::keep_ahead().
    void keep_memory_ahead() noexcept;
    /// [worker] Frees all synths, whose DiskOut units have the rest written then, and closes all files; that may wait
    /// for the disk, see Streams::close_all(). No other thread may be in the engine any more.
    void close_files();
    /// [worker] Ends the threads of a broken engine: those of streams, see Streams::abandon(), and those that help the
    /// data loop, see Helpers::leave_within(), for which it waits 200 ms at most. false: one of these didn't end.
    bool abandon_threads() noexcept;

    // ---- for commands, all [rt]
    Tree& tree() noexcept SCS_NONBLOCKING;
    PluginWorld& world() noexcept SCS_NONBLOCKING;
    Buses& buses() noexcept SCS_NONBLOCKING;
    Buffers& buffers() noexcept SCS_NONBLOCKING;
    Definitions& definitions() noexcept SCS_NONBLOCKING;
    Bindings& bindings() noexcept SCS_NONBLOCKING;
    /// For whoever calls process(), too: what control ports are to get.
    ControlOutputs& control_outputs() noexcept SCS_NONBLOCKING;
    ErrorMode& error_mode() noexcept SCS_NONBLOCKING;
    /// Number of the block that is being rendered, or else of the next one.
    int32_t block_number() const noexcept SCS_NONBLOCKING;
    TransportRequests& transport_requests() noexcept SCS_NONBLOCKING;
    /// Drops every scheduled bundle that hasn't begun to run. false: there was no time for all of them; call it again.
    bool clear_schedule() noexcept SCS_NONBLOCKING;
    /// Removes all definitions; result as above.
    bool free_definitions() noexcept SCS_NONBLOCKING;
    /// Work of about `nsec` ns is next: whether it has to wait for the next cycle.
    bool out_of_time(int64_t nsec) noexcept SCS_NONBLOCKING;
    /// What the data loop sends to other threads: text for the log, notifications, objects that it hands back
    /// (Handback).
    Outbox& outbox() noexcept SCS_NONBLOCKING;

    /// [any] What records what its threads do. It may outlive the engine.
    const std::shared_ptr<Trace>& trace() noexcept SCS_NONBLOCKING;

    EngineStatus& status() noexcept { return status_; }

private:
    explicit Engine(const Settings&);
    void break_down() noexcept;
    bool dismiss_helpers() noexcept;

    Settings settings_;
    NanoClock clock_ = NanoClock::system();
    EngineStatus status_;
    LoadMeter load_{status_};
    std::function<void(const std::string&)> tell_at_end_;
    std::shared_ptr<SharedMemory> shared_;
    std::unique_ptr<Streams> streams_;
    std::unique_ptr<EngineParts> p_; ///< left untouched, as a whole, once the engine is broken
};

} // namespace scs
