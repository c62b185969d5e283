// SPDX-License-Identifier: GPL-3.0-or-later
#include "cycle.hpp"

#include "engine/control/control-outputs.hpp"
#include "engine/rt/float-mode.hpp"
#include "host-version.hpp"
#include "settings.hpp"

#include <spa/node/utils.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <ctime>
#include <utility>

namespace scs::spa {
namespace {

int64_t now_nsec(clockid_t clock) noexcept {
    timespec now;
    clock_gettime(clock, &now);
    return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Reads once what a driver in another process may be writing: a second read might give another value.
template <class T>
T read_once(const T& shared) noexcept {
    return *static_cast<const volatile T*>(&shared);
}

/// Whether PipeWire's own MIDI ports send Universal MIDI Packets.
bool prefers_packets(const Version& version) noexcept {
    return version >= Version{1, 3, 0} && version < Version{1, 6, 3};
}

} // namespace

/// What a cycle covers: a number of frames from a moment of the monotonic clock on.
struct Cycle::Span {
    uint32_t frames = 0;
    double rate = 0;
    uint64_t nsec = 0;         ///< 0: the host doesn't say
    uint32_t clock = 0;        ///< its ID
    bool has_deadline = false; ///< the host gives the time, and it is real time
    bool woken = false;        ///< that is when the driver was woken: it doesn't know when the next cycle will be due
};

Cycle::Cycle(const Ports& ports, uint32_t max_quantum, double rate, double cpu_limit)
    : inputs_(ports.inputs),
      outputs_(ports.outputs),
      control_inputs_(ports.control_inputs),
      control_outputs_(ports.control_outputs),
      control_writer_(prefers_packets(host_version())),
      in_(ports.inputs),
      out_(ports.outputs),
      gains_(ports.outputs),
      max_quantum_(max_quantum),
      rate_(rate),
      time_(cpu_limit) {}

void Cycle::set_callbacks(const spa_node_callbacks* callbacks, void* data) noexcept {
    callbacks_.funcs = callbacks;
    callbacks_.data = data;
}

void Cycle::start() noexcept {
    cycle_clock_.reset();
    driver_time_.reset();
    forget_carried();
}

void Cycle::forget_carried() noexcept {
    control_writer_.hurry(); // the end of a note isn't dropped
    if (rate_adapter_)
        rate_adapter_->reset();
    if (Engine* engine = server_ ? server_->engine() : nullptr)
        engine->reset_carry();
}

/// The graph's rate. A driver may tell anything, also from another process. With a rate that we could not run at, the
/// last one stays.
double Cycle::told_rate() const noexcept {
    const spa_io_clock* clock = position_ ? &position_->clock : clock_;
    if (!clock)
        return rate_;
    const uint32_t num = read_once(clock->rate.num), denom = read_once(clock->rate.denom);
    const double rate = num > 0 ? double(denom) / num : 0;
    return rate >= lowest_rate && rate <= highest_rate ? rate : rate_;
}

Cycle::Span Cycle::next_span() const noexcept {
    Span span;
    span.rate = told_rate();
    const spa_io_clock* clock = position_ ? &position_->clock : clock_;
    if (const uint64_t duration = clock ? read_once(clock->duration) : 0; duration > 0) {
        span.frames = uint32_t(std::min<uint64_t>(duration, max_quantum_));
        span.nsec = read_once(clock->nsec);
        span.clock = read_once(clock->id);
        span.has_deadline = span.nsec != 0 && !(read_once(clock->flags) & SPA_IO_CLOCK_FLAG_FREEWHEEL);
        // As netjack2's driver does, which waits for a packet. Others tell a time that they have smoothed.
        span.woken = span.has_deadline && read_once(clock->next_nsec) == span.nsec;
        return span;
    }
    // A host without a clock: as much as fits into the buffers.
    span.frames = max_quantum_;
    bool linked = false;
    for (const PortIo& output : outputs_)
        if (const uint32_t room = output.room()) {
            span.frames = std::min(span.frames, room);
            linked = true;
        }
    if (!linked)
        span.frames = 0;
    return span;
}

/// When a cycle begins by the driver's clock, without the jitter of a driver that has some.
uint64_t Cycle::even_start(const Span& span) noexcept {
    if (!span.woken || span.clock != smoothed_clock_)
        driver_time_.reset();
    smoothed_clock_ = span.clock;
    return span.woken ? driver_time_.begin_cycle(span.nsec, span.frames, span.rate) : span.nsec;
}

int Cycle::process() noexcept {
    constexpr int status = SPA_STATUS_HAVE_DATA | SPA_STATUS_NEED_DATA;
    const int64_t begun = now_nsec(CLOCK_MONOTONIC);
    const int64_t wall = now_nsec(CLOCK_REALTIME);
    const int64_t read = now_nsec(CLOCK_MONOTONIC);
    Span span = next_span();
    if (span.frames == 0)
        return status;
    if (span.nsec == 0)
        span.nsec = uint64_t(begun);
    rate_ = span.rate;

    for (size_t i = 0; i < inputs_.size(); ++i)
        in_[i] = inputs_[i].take_input(span.frames);
    for (size_t i = 0; i < outputs_.size(); ++i)
        out_[i] = outputs_[i].begin_output(span.frames);

    control_.begin(span.frames);
    for (size_t i = 0; i < control_inputs_.size(); ++i)
        control_.read(uint8_t(i), control_inputs_[i].take_bytes());
    events_ = control_.events();
    constexpr static Transport standing[1];
    transports_ = position_ ? transport_reader_.read(*position_, span.rate) : standing;

    const double latency = latency_.seconds + (latency_.quanta * span.frames + latency_.frames) / span.rate;
    const NtpTime frame0 = cycle_clock_.begin_cycle(even_start(span), wall - begun, latency, read - begun);
    graph_rate_.store(span.rate, std::memory_order_relaxed);
    if (rate_adapter_)
        choose_resampling(span.rate);
    const CycleLimit limit =
        span.has_deadline ? time_.begin({span.clock, span.nsec, span.frames / span.rate * 1e9}, begun) : CycleLimit();
    const uint64_t cuts_before = cuts();
    tell_linked();
    tell_driver(span);
    if (resampled())
        render_resampled(span, frame0, limit);
    else
        render(span, frame0, limit);

    for (size_t i = 0; i < outputs_.size(); ++i) {
        gains_[i].apply(out_[i], span.frames, span.rate);
        outputs_[i].end_output(span.frames);
    }
    control_writer_.write(span.frames, control_outputs_);
    report(span, uint64_t(begun), cuts_before);
    return status;
}

/// Before anything depends on a rate the engine follows the graph, so that nothing is resampled for a rate that was
/// there only until the node was linked to its device.
void Cycle::keep_rate() noexcept {
    Engine* const engine = server_ ? server_->engine() : nullptr;
    if (!engine || !engine->status().rate_in_use.load(std::memory_order_relaxed))
        return;
    const double rate = engine->status().rate.load(std::memory_order_relaxed);
    if (rate == std::floor(rate) && rate <= highest_resampled(int(inputs_.size() + outputs_.size())))
        rate_adapter_->set_engine_rate(int(rate));
    kept_rate_.store(rate_adapter_->engine_rate(), std::memory_order_relaxed);
}

void Cycle::choose_resampling(double rate) noexcept {
    if (rate_adapter_->engine_rate() == 0)
        keep_rate();
    const int engine_rate = rate_adapter_->engine_rate();
    const bool resampled = engine_rate > 0 && rate != engine_rate && rate_adapter_->set_graph_rate(rate);
    if (resampled == resampled_.load(std::memory_order_relaxed))
        return;
    resampled_.store(resampled, std::memory_order_relaxed);
    forget_carried();
}

uint64_t Cycle::cuts() const noexcept {
    Engine* const engine = server_ ? server_->engine() : nullptr;
    return engine ? engine->status().cuts.load(std::memory_order_relaxed) : 0;
}

void Cycle::render(const Span& span, NtpTime frame0, const CycleLimit& limit) noexcept {
    if (Engine* engine = server_ ? server_->engine() : nullptr) {
        engine->process(int(span.frames), frame0, span.rate, in_.data(), out_.data(), limit, events_, transports_);
        take_outgoing(*engine, 0, 1);
        input_delay_.store(engine->input_delay(), std::memory_order_relaxed);
    } else {
        for (float* out : out_)
            if (out)
                std::fill_n(out, span.frames, 0.f);
    }
}

void Cycle::render_resampled(const Span& span, NtpTime frame0, const CycleLimit& limit) noexcept {
    Engine* const engine = server_ ? server_->engine() : nullptr;
    const FlushToZero denormals;
    const auto run = [&](int frames, double ahead, const float* const* in, float* const* out) {
        const NtpTime start = frame0 + NtpTime(std::llround(ahead / span.rate * 0x1p32));
        // As the inputs, events are delayed until none can come too late.
        for (ControlEvent& event : events_)
            event.frame = int32_t(std::max<int64_t>(
                std::llround((event.frame + rate_adapter_->delay() - ahead) * rate_adapter_->engine_rate() / span.rate),
                0));
        std::array<Transport, TransportReader::most> transports;
        const auto delayed = [&](Transport transport) {
            transport.frame =
                (transport.frame + rate_adapter_->delay() - ahead) * rate_adapter_->engine_rate() / span.rate;
            transport.beats_per_frame *= span.rate / rate_adapter_->engine_rate();
            return transport;
        };
        std::transform(transports_.begin(), transports_.end(), transports.begin(), delayed);
        engine->process(frames, start, rate_adapter_->engine_rate(), in, out, limit, std::exchange(events_, {}),
                        std::span(transports).first(std::exchange(transports_, {}).size()));
        take_outgoing(*engine, ahead, span.rate / rate_adapter_->engine_rate());
    };
    const int block = rate_adapter_->block();
    bool rendered = false;
    const auto render_block = [&](double ahead, const float* const* in, float* const* out) {
        rendered = true;
        if (engine)
            run(block, ahead, in, out);
        else
            for (size_t i = 0; i < out_.size(); ++i)
                if (out[i])
                    std::fill_n(out[i], block, 0.f);
    };
    rate_adapter_->process(int(span.frames), in_.data(), out_.data(), render_block);
    if (engine && !rendered) // no block was due, but commands are answered all the same
        run(0, span.frames + rate_adapter_->ahead(), in_.data(), out_.data());
    input_delay_.store(rate_adapter_->delay(), std::memory_order_relaxed);
}

/// Has the engine send nothing to ports that nobody is linked to.
void Cycle::tell_linked() noexcept {
    uint32_t linked = 0;
    for (size_t i = 0; i < control_outputs_.size(); ++i)
        linked |= uint32_t(control_outputs_[i].linked()) << i;
    Engine* const engine = server_ ? server_->engine() : nullptr;
    if (engine && !engine->status().broken.load(std::memory_order_relaxed))
        engine->control_outputs().set_linked(linked);
}

/// For clients that ask: the driver may be another process's, which may write meanwhile.
void Cycle::tell_driver(const Span& span) noexcept {
    if (!server_)
        return;
    osc::Driver& driver = server_->driver();
    driver.quantum = int32_t(span.frames);
    driver.rate = span.rate;
    driver.id = span.clock;
    driver.name = {};
    static_assert(sizeof(spa_io_clock::name) == sizeof driver.name);
    if (const spa_io_clock* clock = position_ ? &position_->clock : clock_)
        std::memcpy(driver.name.data(), clock->name, driver.name.size() - 1);
}

/// Takes over what the engine sends. Its frame 0 is heard `ahead` frames after the cycle's, and each of its frames
/// lasts `scale` of the cycle's.
void Cycle::take_outgoing(Engine& engine, double ahead, double scale) noexcept {
    if (engine.status().broken.load(std::memory_order_relaxed))
        return;
    engine.control_outputs().take(
        [&](const OutgoingEvent& event) { control_writer_.add(event, std::llround(ahead + event.frame * scale)); });
}

/// Tells the host of a cycle that ended too late, or from which blocks are missing.
void Cycle::report(const Span& span, uint64_t begun_nsec, uint64_t cuts_before) noexcept {
    if (!span.has_deadline)
        return;
    const uint64_t end = span.nsec + uint64_t(span.frames / span.rate * 1e9);
    const uint64_t ended = uint64_t(now_nsec(CLOCK_MONOTONIC));
    // A cycle that began after its end was made late by somebody else.
    const bool overrun = begun_nsec <= end && ended > end;
    if (overrun)
        overruns_.fetch_add(1, std::memory_order_relaxed);
    // May be called from the data loop, as drivers do: PipeWire counts, and logs at most one line in two seconds.
    if (overrun || cuts() != cuts_before)
        spa_node_call_xrun(&callbacks_, ended / 1000, overrun ? (ended - end) / 1000 : 0, nullptr);
}

bool Cycle::run_idle() noexcept {
    Engine* engine = server_ ? server_->engine() : nullptr;
    return engine && engine->run_idle(kept_rate() > 0 ? 0 : told_rate());
}

} // namespace scs::spa
