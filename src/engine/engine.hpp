// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/base/settings.hpp"
#include "engine/definitions/definitions.hpp"
#include "engine/messages/command.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/rt/record-ring.hpp"
#include "engine/tree/tree.hpp"
#include "engine/world/buffers.hpp"
#include "engine/world/buses.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace scs {

class SharedMemory;

/// Counts and loads that any thread may read at any time.
struct EngineStatus {
    std::atomic<int32_t> units{0}, synths{0}, groups{1}, synthdefs{0};
    std::atomic<float> average_cpu{0}, peak_cpu{0};      ///< % of the time a cycle has
    std::atomic<double> nominal_rate{0}, actual_rate{0}; ///< Hz
    std::atomic<uint64_t> cycles{0};                     ///< process() and run_idle() calls that began
    std::atomic<uint64_t> dropped_events{0};             ///< notifications that found the ring full
    std::atomic<uint64_t> late_bundles{0};
    /// Its own code crashed, most likely because a UGen wrote where it must not: it is silent from now on and takes
    /// nothing in. What it holds stays untouched and is never freed.
    std::atomic<bool> broken{false};
};

/// /error: whether failures are answered. Owned by the data loop.
struct ErrorMode {
    bool global = true;
    int local = 0; ///< -1: off for the rest of this bundle, -2: on
    bool on() const noexcept { return local == 0 ? global : local == -2; }
};

/// The synthesis engine: takes commands, renders blocks, emits events. Knows neither OSC nor PipeWire.
///
/// One thread at a time is the data loop ([rt]); it owns tree, buses, live synths and scheduled bundles.
/// Other threads reach it through the queues only.
class Engine {
public:
    static constexpr size_t most_bundles = 9216; ///< submitted and not yet retired

    /// [worker] Loads the UGen plugins (once a process), takes the pool. Slow. `report` gets a line for each
    /// plugin file that could not be loaded. `shared`: memory as new, with as many control buses as the settings, in
    /// which the control buses and scope buffers live; without it there are no scope buffers.
    static Result<std::unique_ptr<Engine>> create(const Settings&,
                                                  const std::function<void(const std::string&)>& report,
                                                  std::shared_ptr<SharedMemory> shared = {});
    /// [any] Once a process, before the first prepare_thread(). create() does it too.
    static void prepare_process();
    /// [rt] On the thread that will render, outside any cycle: gives it a stack for the case that a UGen overflows
    /// its own. Without it such a UGen ends the process.
    static void prepare_thread() noexcept;
    /// [any] When no thread is in it any more. Frees synths, bundles and SynthDefs.
    ~Engine();

    const Settings& settings() const noexcept { return settings_; }

    // ---- queues
    /// [osc] Gives a bundle to the data loop, which owns it until the `retired` event. false: the queue is
    /// full and the bundle still the caller's.
    bool submit(CommandBundle*) noexcept;
    /// [osc] What the data loop has to say; the OSC thread is its only reader. See events.hpp.
    RecordRing& events() noexcept;
    /// [worker] Gives a command back after its work(). false: full, try again later. Plugins' own threads may
    /// call it too.
    bool finish_job(Command*) noexcept;

    // ---- rendering
    /// [rt] One cycle: takes in commands, runs what is due, renders `frames` (at most max_quantum).
    /// `frame0`: time at the output of the cycle's first frame. in[i], out[i]: `frames` samples, or null for a
    /// port that isn't linked. `rate`: Hz, the graph's.
    void process(int frames, NtpTime frame0, double rate, const float* const* in, float* const* out) noexcept;
    /// [rt] When no cycle runs: takes in and runs commands, at most a bounded number. Time stands still.
    /// Returns whether more is waiting.
    bool run_idle() noexcept;
    /// [rt] Frames by which inputs are delayed at the present quantum.
    int input_delay() const noexcept;
    /// [rt] Forgets carried frames, at a start after a pause.
    void reset_carry() noexcept;

    /// [osc] To be called some 20 times a second: ends a UGen that has kept the data loop busy with one block for
    /// more than 100 ms of processor time. Host code that does so for five seconds breaks the engine.
    void end_endless_code() noexcept;

    // ---- for commands, all [rt]
    Tree& tree() noexcept;
    PluginWorld& world() noexcept;
    Buses& buses() noexcept;
    Buffers& buffers() noexcept;
    Definitions& definitions() noexcept;
    ErrorMode& error_mode() noexcept { return error_mode_; }
    /// Number of the block being rendered or about to be.
    int32_t block_number() const noexcept;
    /// Drops every scheduled bundle that has not begun.
    void clear_schedule() noexcept;
    /// What the data loop says to other threads: text for the log, notifications, objects that are handed back.
    Outbox& outbox() noexcept;

    EngineStatus& status() noexcept { return status_; }

private:
    struct Parts;
    explicit Engine(const Settings&);
    void run_cycle(int frames, NtpTime frame0, double rate, const float* const* in, float* const* out) noexcept;
    void break_down() noexcept;
    void take_in() noexcept;
    bool take_in_one() noexcept;
    bool take_result() noexcept;
    void accept(CommandBundle*) noexcept;
    void perform(CommandBundle*) noexcept;
    void run_commands(CommandBundle*) noexcept;
    void start(Command*) noexcept;
    void finish(Command*) noexcept;
    void settle(CommandBundle*) noexcept;
    void render_block(NtpTime start, double rate, const float* const* in, float* const* out) noexcept;
    void run_due(NtpTime start, double rate) noexcept;
    void set_rate(double rate) noexcept;
    void measure(int64_t nanoseconds, int frames, double rate) noexcept;
    void publish() noexcept;

    Settings settings_;
    EngineStatus status_;
    ErrorMode error_mode_;
    std::shared_ptr<SharedMemory> shared_;
    std::unique_ptr<Parts> p_; ///< all that a broken engine leaves untouched
};

} // namespace scs
