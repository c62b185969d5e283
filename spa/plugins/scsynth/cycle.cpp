// SPDX-License-Identifier: GPL-3.0-or-later
#include "cycle.hpp"

#include <spa/node/utils.h>

#include <algorithm>
#include <ctime>

namespace scs::spa {
namespace {

int64_t now_nsec(clockid_t clock) noexcept {
    timespec now;
    clock_gettime(clock, &now);
    return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

} // namespace

/// What a cycle is about: so many frames from a moment of the monotonic clock on.
struct Cycle::Span {
    uint32_t frames = 0;
    double rate = 0;
    uint64_t nsec = 0;        ///< 0: the host doesn't say
    bool has_deadline = false;
};

Cycle::Cycle(uint32_t inputs, uint32_t outputs, uint32_t max_quantum, double rate)
    : inputs_(inputs), outputs_(outputs), in_(inputs), out_(outputs), max_quantum_(max_quantum), rate_(rate) {}

void Cycle::set_callbacks(const spa_node_callbacks* callbacks, void* data) noexcept {
    callbacks_.funcs = callbacks;
    callbacks_.data = data;
}

void Cycle::start() noexcept {
    cycle_clock_.reset();
    if (Engine* engine = server_ ? server_->engine() : nullptr)
        engine->reset_carry();
}

Cycle::Span Cycle::next_span() const noexcept {
    Span span;
    span.rate = rate_;
    const spa_io_clock* clock = position_ ? &position_->clock : clock_;
    if (clock && clock->duration > 0) {
        span.frames = uint32_t(std::min<uint64_t>(clock->duration, max_quantum_));
        span.nsec = clock->nsec;
        span.has_deadline = clock->nsec != 0 && !(clock->flags & SPA_IO_CLOCK_FLAG_FREEWHEEL);
        if (clock->rate.num > 0 && clock->rate.denom > 0)
            span.rate = double(clock->rate.denom) / clock->rate.num;
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

int Cycle::process() noexcept {
    constexpr int status = SPA_STATUS_HAVE_DATA | SPA_STATUS_NEED_DATA;
    const int64_t begun = now_nsec(CLOCK_MONOTONIC);
    const int64_t wall = now_nsec(CLOCK_REALTIME);
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

    const double latency =
        latency_.seconds + (latency_.quanta * span.frames + latency_.frames) / span.rate;
    const NtpTime frame0 = cycle_clock_.begin_cycle(span.nsec, wall - begun, latency);
    if (Engine* engine = server_ ? server_->engine() : nullptr) {
        engine->process(int(span.frames), frame0, span.rate, in_.data(), out_.data());
        input_delay_.store(engine->input_delay(), std::memory_order_relaxed);
    } else {
        for (float* out : out_)
            if (out)
                std::fill_n(out, span.frames, 0.f);
    }

    for (PortIo& output : outputs_)
        output.end_output(span.frames);
    check_deadline(span, uint64_t(begun));
    return status;
}

void Cycle::check_deadline(const Span& span, uint64_t begun_nsec) noexcept {
    if (!span.has_deadline)
        return;
    const uint64_t deadline = span.nsec + uint64_t(span.frames / span.rate * 1e9);
    // A cycle that began late is somebody else's.
    if (begun_nsec > deadline)
        return;
    const uint64_t ended = uint64_t(now_nsec(CLOCK_MONOTONIC));
    if (ended <= deadline)
        return;
    overruns_.fetch_add(1, std::memory_order_relaxed);
    // Drivers call this from the data loop too: PipeWire counts, and logs at most once in two seconds at "info".
    spa_node_call_xrun(&callbacks_, ended / 1000, (ended - deadline) / 1000, nullptr);
}

bool Cycle::run_idle() noexcept {
    Engine* engine = server_ ? server_->engine() : nullptr;
    return engine && engine->run_idle();
}

} // namespace scs::spa
