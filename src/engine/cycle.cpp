// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cycle.hpp"

#include "engine/base/text-line.hpp"
#include "engine/engine-parts.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/rt/ntp-time.hpp"
#include "engine/world/block-inputs.hpp"

#include <algorithm>
#include <cstring>

namespace scs {
namespace {

constexpr int64_t idle_time = 1'000'000; ///< ns that one run_idle() takes

/// How much announced work lies between two readings of the clock, ns, in a cycle that may take `time`: few enough
/// readings to cost nothing, and enough that the deadline is kept within a few percent of it.
int64_t reading_interval(int64_t time) noexcept {
    return std::clamp<int64_t>(time / 64, 5'000, 100'000);
}

} // namespace

Cycle::Cycle(EngineParts& parts, const Settings& settings, EngineStatus& status, const StreamCounts& streams,
             const NanoClock& clock)
    : p_(parts),
      settings_(settings),
      status_(status),
      streams_(streams),
      clock_(clock),
      reblocker_(settings.block_size, settings.inputs, settings.outputs, settings.max_quantum) {}

/// Commands may take half of the cycle's time, and all of it rather than stop within a bundle, as no block is computed
/// before that is done.
bool Cycle::take_in(const CycleLimit& limit, int64_t began) noexcept {
    p_.outbox.flush();
    p_.pool->take_back();
    if (limit.deadline == Deadline::never) {
        p_.deadline.begin(Deadline::never, 0);
        return p_.bindings.go_on() && p_.commands.take_in(now_);
    }
    const int64_t time = std::max<int64_t>(limit.deadline - began, 0);
    p_.deadline.begin(began + time / 2, reading_interval(time));
    const bool whole = p_.bindings.go_on() && p_.commands.take_in(now_);
    p_.deadline.begin(limit.deadline, reading_interval(time));
    return whole || (p_.bindings.go_on() && p_.commands.go_on());
}

void Cycle::set_rate(double rate) noexcept {
    const double before = status_.rate.load(std::memory_order_relaxed);
    if (rate == before)
        return;
    p_.world.set_sample_rate(rate);
    p_.ensemble.set_sample_rate(rate);
    status_.rate.store(rate, std::memory_order_relaxed);
    if (p_.tree->counts().synths() == 0)
        return;
    TextLine line;
    line.add("the graph's rate is %.0f Hz now, not %.0f: synths that play stay as they were, at another pitch "
             "(scsynth.keep-rate = true would keep it)\n",
             rate, before);
    p_.outbox.print(line.take());
}

/// How many blocks there are in the cycle, from the one at this frame on, between which nothing happens. At least 1.
int Cycle::calm_blocks(int frame, double rate) const noexcept {
    if (!p_.ensemble.helped() || p_.bindings.act_in_each_block() || p_.control_outputs.hear_synths())
        return 1;
    const int block = settings_.block_size, left = (frames_ - frame + block - 1) / block;
    const int most = std::min(left, Ahead::most_blocks), delay = reblocker_.input_delay();
    const bool scheduled = p_.commands.has_scheduled();
    const auto calm = [&](int start) {
        return !(scheduled && p_.commands.is_due(ntp_advance(now_, start, rate), rate)) &&
               !p_.bindings.events().any_before(start + block, delay);
    };
    int count = 1;
    while (count < most && calm(frame + count * block))
        ++count;
    return count;
}

bool Cycle::take_ready() noexcept {
    auto& ready = ready_;
    const int index = ready.next++;
    if (ready.next == ready.count)
        ready.count = 0;
    if (index >= ready.computed)
        return false;
    p_.ensemble.ahead()->pipelined().put(index, p_.buses, block_);
    return true;
}

/// Computes this block, and the next ones, as well, if they can be computed at once. false: the deadline has passed.
bool Cycle::render(int calm, const BlockInputs& inputs) noexcept {
    const int64_t traced = p_.trace->begin();
    const int computed = calm > 1 ? p_.renderer.render_blocks(calm, inputs) : -1;
    const bool whole = computed >= 0 || p_.renderer.render();
    p_.trace->end(0, TraceKind::walk, traced, block_);
    if (computed < 0)
        return whole;
    longest_block_.spread(calm);
    status_.pipelined.fetch_add(uint64_t(computed), std::memory_order_relaxed);
    ready_ = {calm, computed, 0};
    return take_ready();
}

/// false: the deadline has passed, and the block is to be left out. `frame`: where in the cycle it begins.
bool Cycle::compute_block(int frame, double rate, const float* const* in) noexcept {
    if (ready_.count) {
        p_.world.set_block(block_);
        p_.ensemble.begin_block(block_);
        return take_ready();
    }
    const bool late = p_.deadline.spend(Deadline::unknown);
    if (p_.deadline.bounded())
        longest_block_.begin(p_.deadline.last_reading());
    p_.ensemble.costs().begin_block(p_.deadline, block_);
    if (late)
        return false;
    const size_t bytes = size_t(settings_.block_size) * sizeof(float);
    const NtpTime start = ntp_advance(now_, frame, rate);
    p_.world.set_block(block_);
    p_.world.set_time(start);
    p_.ensemble.begin_block(block_);
    for (int i = 0; i < settings_.inputs; ++i) {
        if (!in[i])
            continue;
        std::memcpy(p_.buses.audio(settings_.outputs + i), in[i], bytes);
        p_.buses.audio_touched()[settings_.outputs + i] = block_;
    }
    const BlockInputs inputs{in, inputs_, frame + settings_.block_size - reblocker_.input_delay()};
    const bool whole = p_.commands.run_due(start, rate) &&
                       p_.bindings.run(frame, settings_.block_size, reblocker_.input_delay(), block_) &&
                       render(calm_blocks(frame, rate), inputs);
    p_.ensemble.costs().end_block(p_.deadline);
    return whole;
}

void Cycle::note_bad_block() noexcept {
    if (status_.bad_blocks.fetch_add(1, std::memory_order_relaxed) == 0)
        p_.renderer.find_bad_output(p_.outputs);
}

void Cycle::render_block(int frame, double rate, const float* const* in, float* const* out) noexcept {
    FaultGuard::progress();
    if (!rendering_) {
        p_.outputs.write_missing(out);
        return;
    }
    if (!compute_block(frame, rate, in)) {
        rendering_ = false;
        ready_.count = 0;
        p_.buses.forget_audio(block_);
        p_.outputs.write_missing(out);
    } else if (!p_.outputs.write(p_.buses, block_, out)) {
        note_bad_block();
    }
    block_ = int32_t(uint32_t(block_) + 1); // wraps after a month at 48 kHz
}

void Cycle::run(int frames, NtpTime frame0, double rate, const float* const* in, float* const* out,
                const CycleLimit& limit, std::span<const ControlEvent> events, std::span<const Transport> transports,
                int64_t began) noexcept {
    const int64_t traced = p_.trace->begin_cycle();
    set_rate(rate);
    now_ = frame0;
    frames_ = std::min(frames, settings_.max_quantum);
    inputs_ = in;
    p_.world.set_block(block_);
    p_.ensemble.begin_block(block_);
    const bool whole = take_in(limit, began);
    if (const size_t refused = p_.bindings.begin_cycle(now_, rate, events, transports))
        status_.refused_control.fetch_add(refused, std::memory_order_relaxed);
    // While a command is half done no synth is ended: it may stand at that one.
    const bool wanted = whole && p_.shedding.before_cycle() && limit.renders;
    rendering_ = wanted;
    Ahead* const ahead = p_.ensemble.ahead();
    if (ahead)
        ahead->begin_cycle();
    reblocker_.process(frames, in, out, [&](int frame, const float* const* block_in, float* const* block_out) {
        render_block(frame, rate, block_in, block_out);
        p_.control_outputs.end_block(frame);
    });
    if (ahead && ahead->end_cycle())
        tell_of_priority();
    p_.bindings.end_cycle(frames_);
    if (const size_t lost = p_.control_outputs.take_lost())
        status_.unsent_control.fetch_add(lost, std::memory_order_relaxed);
    if (!rendering_)
        status_.cuts.fetch_add(1, std::memory_order_relaxed);
    const int64_t ended = p_.deadline.bounded() ? clock_.now() : began;
    longest_block_.end_cycle(ended, frames / rate);
    if (p_.deadline.bounded())
        p_.shedding.after_cycle({.seconds = frames / rate,
                                 .limit = limit.deadline - began,
                                 .used = ended - began,
                                 .blocks = double(frames) / settings_.block_size,
                                 .strained = wanted && (!rendering_ || double(ended - began) > 1e9 * frames / rate),
                                 .skipped = !limit.renders});
    publish();
    p_.trace->end(0, TraceKind::cycle, traced, frames);
}

bool Cycle::run_idle(double rate) noexcept {
    if (rate > 0)
        set_rate(rate);
    p_.outbox.flush();
    p_.deadline.begin(clock_.now() + idle_time, reading_interval(idle_time));
    const bool more = !p_.bindings.go_on() || !p_.commands.take_in(now_) || p_.deadline.passed();
    publish();
    return more || p_.outbox.waiting();
}

/// Nothing else tells why one core is busy and the others aren't.
void Cycle::tell_of_priority() noexcept {
    TextLine line;
    line.add("one core is hardly enough, and what could help it has no real-time priority (threads: %d): see \"Threads "
             "with a priority\" in conf/README.md\n",
             settings_.threads - 1);
    p_.outbox.print(line.take());
}

void Cycle::publish() noexcept {
    status_.units.store(int32_t(p_.tree->counts().units()), std::memory_order_relaxed);
    status_.synths.store(p_.tree->counts().synths(), std::memory_order_relaxed);
    if (p_.tree->counts().synths() > 0)
        status_.rate_in_use.store(true, std::memory_order_relaxed);
    status_.groups.store(p_.tree->counts().groups(), std::memory_order_relaxed);
    status_.synthdefs.store(p_.definitions.count(), std::memory_order_relaxed);
    status_.longest_block.store(longest_block_.nsec(), std::memory_order_relaxed);
    const Ahead* const ahead = p_.ensemble.ahead();
    status_.computed_ahead.store(ahead ? ahead->computed() : 0, std::memory_order_relaxed);
    const Pointer& pointer = p_.world.pointer();
    status_.pointer_missing.store(pointer.missed && !pointer.told, std::memory_order_relaxed);
    status_.bindings.store(int32_t(p_.bindings.count()), std::memory_order_relaxed);
    status_.scheduled.store(p_.commands.has_scheduled(), std::memory_order_relaxed);
    status_.silent_frames.store(streams_.silent.load(std::memory_order_relaxed), std::memory_order_relaxed);
    status_.dropped_frames.store(streams_.dropped.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

} // namespace scs
