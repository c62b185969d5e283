// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "control-reader.hpp"
#include "control-writer.hpp"
#include "cycle-time.hpp"
#include "engine/rt/clock.hpp"
#include "engine/rt/driver-time.hpp"
#include "engine/rt/rate-adapter.hpp"
#include "gain.hpp"
#include "osc/server.hpp"
#include "ports.hpp"
#include "transport-reader.hpp"

#include <spa/node/io.h>
#include <spa/node/node.h>

#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace scs::spa {

/// How long after the driver's clock a frame is heard.
struct OutputLatency {
    double quanta = 0; ///< cycles
    double frames = 0;
    double seconds = 0;
};

/// The part of a node that belongs to the data loop: what process() needs. All members are only touched on that
/// loop, except where said.
class Cycle {
public:
    /// How many ports there are.
    struct Ports {
        uint32_t inputs, outputs, control_inputs, control_outputs;
    };
    /// [main] `rate`: of a host that doesn't tell one, in Hz. `cpu_limit`: see CycleTime.
    Cycle(const Ports&, uint32_t max_quantum, double rate, double cpu_limit);
    /// [main] To be called before the first cycle. The engine then runs at the adapter's rate, whatever the graph's is.
    /// An adapter without a rate gets the one at which the first synth or buffer is made.
    void set_rate_adapter(std::unique_ptr<RateAdapter> adapter) noexcept {
        rate_adapter_ = std::move(adapter);
        kept_rate_.store(rate_adapter_->engine_rate(), std::memory_order_relaxed);
    }

    PortIo& port(spa_direction direction, uint32_t id) noexcept {
        const bool output = direction == SPA_DIRECTION_OUTPUT;
        std::vector<PortIo>&audio = output ? outputs_ : inputs_,
        &controls = output ? control_outputs_ : control_inputs_;
        return id < audio.size() ? audio[id] : controls[id - audio.size()]; // these come last
    }
    Gain& gain(uint32_t output) noexcept { return gains_[output]; }
    void set_server(osc::Server* server) noexcept { server_ = server; }
    void set_clock(const spa_io_clock* clock) noexcept { clock_ = clock; }
    void set_position(const spa_io_position* position) noexcept { position_ = position; }
    void set_callbacks(const spa_node_callbacks* callbacks, void* data) noexcept;
    void set_output_latency(const OutputLatency& latency) noexcept { latency_ = latency; }

    /// [main] Before the first cycle: OSC of control ports goes to the engine.
    void take_osc() noexcept { control_.take_osc(); }

    /// [rt] Drops what is left over from before a pause.
    void start() noexcept;
    /// [rt] One cycle. Returns the status for the host, never 0: to PipeWire 0.3.65 that means "later", and
    /// nothing downstream would run.
    int process() noexcept;
    /// [rt] A wake-up outside of cycles. Returns whether more is waiting.
    bool run_idle() noexcept;

    /// [any] Frames by which the inputs are delayed.
    int input_delay() const noexcept { return input_delay_.load(std::memory_order_relaxed); }
    /// [any] The graph's rate in Hz; 0 before the first cycle.
    double graph_rate() const noexcept { return graph_rate_.load(std::memory_order_relaxed); }
    /// [any] The rate in Hz that the engine keeps; 0: it follows the graph.
    int kept_rate() const noexcept { return kept_rate_.load(std::memory_order_relaxed); }
    /// [any] Whether inputs and outputs are resampled.
    bool resampled() const noexcept { return resampled_.load(std::memory_order_relaxed); }
    /// [any] What came by control ports.
    const ControlReader& control() const noexcept { return control_; }
    /// [any] What left by them.
    const ControlWriter& control_out() const noexcept { return control_writer_; }
    /// [any] Cycles that ended after their deadline.
    uint64_t overruns() const noexcept { return overruns_.load(std::memory_order_relaxed); }

private:
    struct Span;
    Span next_span() const noexcept;
    double told_rate() const noexcept;
    void keep_rate() noexcept;
    void choose_resampling(double rate) noexcept;
    void forget_carried() noexcept;
    uint64_t even_start(const Span&) noexcept;
    void render(const Span&, NtpTime frame0, const CycleLimit&) noexcept;
    void render_resampled(const Span&, NtpTime frame0, const CycleLimit&) noexcept;
    void tell_linked() noexcept;
    void tell_driver(const Span&) noexcept;
    void take_outgoing(Engine&, double ahead, double scale) noexcept;
    void report(const Span&, uint64_t begun_nsec, uint64_t cuts_before) noexcept;
    uint64_t cuts() const noexcept;

    std::vector<PortIo> inputs_, outputs_, control_inputs_, control_outputs_;
    ControlReader control_;
    ControlWriter control_writer_;
    std::span<ControlEvent> events_; ///< of this cycle that the engine doesn't have yet
    TransportReader transport_reader_;
    std::span<const Transport> transports_; ///< the same
    std::vector<const float*> in_;
    std::vector<float*> out_;
    std::vector<Gain> gains_; ///< of the outputs
    uint32_t max_quantum_;
    double rate_;
    std::unique_ptr<RateAdapter> rate_adapter_; ///< null: the engine's rate is the graph's
    osc::Server* server_ = nullptr;
    const spa_io_clock* clock_ = nullptr;
    const spa_io_position* position_ = nullptr;
    spa_callbacks callbacks_{};
    OutputLatency latency_;
    CycleTime time_;
    CycleClock cycle_clock_;
    DriverTime driver_time_;
    uint32_t smoothed_clock_ = 0; ///< the ID of the clock that driver_time_ follows
    std::atomic<int> input_delay_{0};
    std::atomic<double> graph_rate_{0};
    std::atomic<int> kept_rate_{0};
    std::atomic<bool> resampled_{false};
    std::atomic<uint64_t> overruns_{0};
};

} // namespace scs::spa
