// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/engine.hpp"

#include "engine/base/available-memory.hpp"
#include "engine/base/text-line.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/scheduler.hpp"
#include "engine/plugins/plugin-host.hpp"
#include "engine/plugins/rendering-scope.hpp"
#include "engine/plugins/ugens.hpp"
#include "engine/rt/clock.hpp"
#include "engine/rt/float-mode.hpp"
#include "engine/rt/pool.hpp"
#include "engine/rt/reblock.hpp"
#include "engine/rt/ring-buffer.hpp"
#include "engine/voices/ensemble.hpp"
#include "engine/world/shared-memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <set>
#include <time.h>

namespace scs {
namespace {

constexpr size_t event_ring_bytes = size_t(1) << 20;
constexpr int idle_commands = 64; ///< most commands that one run_idle() runs
constexpr double units_per_second = 4294967296.;

int64_t monotonic_nsec() noexcept {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

CommandBundle* root_of(CommandBundle* bundle) noexcept {
    while (bundle->outer)
        bundle = bundle->outer;
    return bundle;
}

/// What is wrong with the settings; empty if nothing is.
std::string problem_with(const Settings& s) {
    if (std::string problem = first_problem(engine_settings, s); !problem.empty())
        return problem;
    if (std::string problem = row_problem(quantum_limit, s); !problem.empty())
        return problem;
    if (s.inputs + s.outputs > s.audio_buses)
        return "audio-buses must be at least inputs + outputs";
    if (!(s.sample_rate >= lowest_rate && s.sample_rate <= highest_rate))
        return "the sample rate must be " + std::to_string(lowest_rate) + " to " + std::to_string(highest_rate) + " Hz";
    return {};
}

} // namespace

/// How far the data loop has come, for the thread that watches it.
struct Progress {
    std::atomic<bool> rendering{false};
    std::atomic<pthread_t> thread{};
    std::atomic<uint64_t> blocks{0};
    uint64_t seen_blocks = 0;   ///< [osc]
    int64_t seen_cpu_nsec = -1; ///< [osc] the data loop's processor time when it was first seen at that block
};

struct Engine::Parts final : PluginHost {
    Parts(const Settings& s, std::unique_ptr<Pool> real_time_memory, SharedMemory* shared,
          std::atomic<uint64_t>& dropped)
        : pool(std::move(real_time_memory)),
          commands(Engine::most_bundles),
          results(Engine::most_bundles),
          outbox(event_ring_bytes, dropped),
          scheduler(Engine::most_bundles),
          reblocker(s.block_size, s.inputs, s.outputs, s.max_quantum),
          buses(s, shared ? shared->control_buses() : nullptr),
          buffers(s.buffers),
          definitions(s.max_synthdefs),
          world(s, *this, buses, buffers, *pool, outbox, shared ? &shared->scopes() : nullptr),
          ensemble(s, buses, buffers, world.random(), *pool),
          tree(std::make_unique<Tree>(s, buses, world, ensemble, *pool, outbox)) {}

    Node* find_node(int32_t id) noexcept override { return tree->find(id); }
    void end_node(Node& node) noexcept override { tree->end(node); }
    void set_run(Node& node, bool run) noexcept override { tree->set_run(node, run); }
    void done_action(int action, Synth& synth) noexcept override { tree->done_action(action, synth); }
    bool finish_job(Command* command) noexcept override {
        const std::lock_guard lock(results_producers);
        return results.push(command);
    }

    std::unique_ptr<Pool> pool;
    RingBuffer<CommandBundle*> commands;
    RingBuffer<Command*> results;
    std::mutex results_producers; ///< never taken by the data loop
    std::atomic<size_t> in_flight{0};
    Outbox outbox;
    Scheduler scheduler;
    Reblocker reblocker;
    Progress progress;
    int32_t block = 0;
    NtpTime now = 0; ///< of the cycle's first frame; 0 before the first cycle
    double peak_age = 0;
    Buses buses;
    Buffers buffers;
    Definitions definitions;
    PluginWorld world;
    Ensemble ensemble;
    std::unique_ptr<Tree> tree; ///< destroyed first: its nodes still emit events to the outbox
};

Engine::Engine(const Settings& settings) : settings_(settings) {}

Result<std::unique_ptr<Engine>> Engine::create(const Settings& settings,
                                               const std::function<void(const std::string&)>& report,
                                               std::shared_ptr<SharedMemory> shared) {
    if (std::string problem = problem_with(settings); !problem.empty())
        return Error{std::move(problem)};
    const auto plugins = load_ugens(settings.ugen_path, report);
    if (!plugins)
        return Error{plugins.error()};
    FaultGuard::install();
    // The default is small enough to be taken without asking.
    if (settings.rt_memory_kib > Settings().rt_memory_kib && !leaves_memory(int64_t(settings.rt_memory_kib) * 1024))
        return Error{"not enough memory for scsynth.rt-memory = " + std::to_string(settings.rt_memory_kib)};
    auto pool = Pool::create(size_t(settings.rt_memory_kib) * 1024);
    if (!pool)
        return Error{pool.error()};
    try {
        std::unique_ptr<Engine> engine(new Engine(settings));
        engine->shared_ = std::move(shared);
        engine->p_ = std::make_unique<Parts>(settings, std::move(pool.value()), engine->shared_.get(),
                                             engine->status_.dropped_events);
        engine->status_.nominal_rate = engine->status_.actual_rate = settings.sample_rate;
        return engine;
    } catch (const std::exception& e) {
        return Error{std::string("cannot make the engine: ") + e.what()};
    }
}

Engine::~Engine() {
    if (!p_)
        return;
    if (!status_.broken && !FaultGuard::run_host([this] { p_->tree.reset(); }))
        status_.broken = true;
    if (status_.broken) {
        (void)p_.release();
        return;
    }
    // A bundle whose job was under way is known only through that job.
    std::set<Handback*> orphans;
    const auto adopt = [&](Command* command) {
        if (command->bundle)
            orphans.insert(root_of(command->bundle));
        else
            command->dispose();
    };
    for (Command* command; p_->results.pop(command);)
        adopt(command);
    for (CommandBundle* bundle; p_->commands.pop(bundle);)
        orphans.insert(bundle);
    RecordRing& ring = p_->outbox.ring();
    do {
        p_->outbox.flush();
        for (auto record = ring.peek(); !record.empty(); record = ring.peek()) {
            EventHeader header;
            std::memcpy(&header, record.data(), sizeof header);
            if (header.kind == EventKind::handback) {
                HandbackEvent event;
                std::memcpy(&event, record.data(), sizeof event);
                if (event.what == Handback::Kind::job)
                    adopt(static_cast<Command*>(event.object));
                else if (event.what != Handback::Kind::reply)
                    orphans.insert(event.object);
            }
            ring.pop();
        }
    } while (p_->outbox.waiting());
    for (Handback* orphan : orphans)
        delete orphan;
}

void Engine::prepare_process() {
    FaultGuard::install();
}

void Engine::prepare_thread() noexcept {
    FaultGuard::prepare_thread();
}

// ---- queues

bool Engine::submit(CommandBundle* bundle) noexcept {
    if (p_->in_flight.load(std::memory_order_relaxed) >= most_bundles)
        return false;
    p_->in_flight.fetch_add(1, std::memory_order_relaxed);
    if (p_->commands.push(bundle))
        return true;
    p_->in_flight.fetch_sub(1, std::memory_order_relaxed);
    return false;
}

RecordRing& Engine::events() noexcept {
    return p_->outbox.ring();
}

bool Engine::finish_job(Command* command) noexcept {
    return p_->finish_job(command);
}

// ---- parts

Tree& Engine::tree() noexcept {
    return *p_->tree;
}
PluginWorld& Engine::world() noexcept {
    return p_->world;
}
Buses& Engine::buses() noexcept {
    return p_->buses;
}
Buffers& Engine::buffers() noexcept {
    return p_->buffers;
}
Definitions& Engine::definitions() noexcept {
    return p_->definitions;
}
Outbox& Engine::outbox() noexcept {
    return p_->outbox;
}

// ---- commands

void Engine::start(Command* command) noexcept {
    switch (command->run(*this)) {
    case Outcome::done: return;
    case Outcome::reply: p_->outbox.hand_back(command, Handback::Kind::reply); return;
    case Outcome::job:
        ++root_of(command->bundle)->outstanding;
        if (settings_.real_time) {
            p_->outbox.hand_back(command, Handback::Kind::job);
        } else {
            command->work();
            finish(command);
        }
        return;
    }
}

void Engine::finish(Command* command) noexcept {
    const Outcome outcome = command->apply(*this);
    CommandBundle* const bundle = command->bundle;
    if (!bundle) {
        command->dispose();
        return;
    }
    if (command->completion && command->run_completion) {
        command->completion->outer = bundle;
        run_commands(command->completion);
    }
    if (outcome == Outcome::reply)
        p_->outbox.hand_back(command, Handback::Kind::reply);
    settle(root_of(bundle));
}

void Engine::settle(CommandBundle* root) noexcept {
    if (--root->outstanding > 0)
        return;
    p_->in_flight.fetch_sub(1, std::memory_order_relaxed);
    p_->outbox.hand_back(root, Handback::Kind::retired);
}

void Engine::run_commands(CommandBundle* bundle) noexcept {
    for (Command* command = bundle->first; command; command = command->next)
        start(command);
}

void Engine::perform(CommandBundle* bundle) noexcept {
    bundle->outstanding = 1; // counts the run itself
    run_commands(bundle);
    error_mode_.local = 0;
    settle(bundle);
}

void Engine::accept(CommandBundle* bundle) noexcept {
    const bool scheduled = bundle->time > immediately;
    if (scheduled && bundle->time >= p_->now && p_->scheduler.add(bundle))
        return;
    if (scheduled && p_->now) {
        const LateEvent event{{EventKind::late, sizeof event}, ntp_seconds_between(bundle->time, p_->now)};
        p_->outbox.notify(event);
        status_.late_bundles.fetch_add(1, std::memory_order_relaxed);
    }
    perform(bundle);
}

bool Engine::take_in_one() noexcept {
    CommandBundle* bundle;
    if (!p_->commands.pop(bundle))
        return false;
    accept(bundle);
    return true;
}

bool Engine::take_result() noexcept {
    Command* command;
    if (!p_->results.pop(command))
        return false;
    finish(command);
    return true;
}

void Engine::take_in() noexcept {
    p_->outbox.flush();
    for (size_t n = 0; n < most_bundles && take_result(); ++n) {
    }
    for (size_t n = 0; n < most_bundles && take_in_one(); ++n) {
    }
}

bool Engine::run_idle() noexcept {
    if (status_.broken.load(std::memory_order_relaxed))
        return false;
    const RenderingScope scope(p_->world);
    const FlushToZero denormals;
    status_.cycles.fetch_add(1, std::memory_order_relaxed);
    bool more = true;
    const bool well = FaultGuard::run_host([&] {
        p_->outbox.flush();
        for (int n = 0; more && n < idle_commands; ++n) {
            const bool result = take_result();
            more = take_in_one() || result;
        }
        publish();
        more = more || p_->outbox.waiting();
    });
    if (!well)
        break_down();
    return well && more;
}

void Engine::clear_schedule() noexcept {
    while (!p_->scheduler.empty()) {
        CommandBundle* bundle = p_->scheduler.take();
        bundle->outstanding = 1;
        settle(bundle);
    }
}

// ---- rendering

void Engine::run_due(NtpTime start, double rate) noexcept {
    const NtpTime next = start + NtpTime(settings_.block_size * units_per_second / rate);
    while (!p_->scheduler.empty() && p_->scheduler.next_time() <= next) {
        CommandBundle* bundle = p_->scheduler.take();
        float fraction;
        const int frame = frame_in_block(bundle->time, start, rate, settings_.block_size, &fraction);
        p_->world.set_offset(frame, fraction);
        perform(bundle);
    }
    p_->world.set_offset(0, 0.f);
}

void Engine::render_block(NtpTime start, double rate, const float* const* in, float* const* out) noexcept {
    const size_t bytes = size_t(settings_.block_size) * sizeof(float);
    p_->progress.blocks.fetch_add(1, std::memory_order_relaxed);
    p_->world.set_block(p_->block);
    p_->ensemble.begin_block(p_->block);
    for (int i = 0; i < settings_.inputs; ++i) {
        if (!in[i])
            continue;
        std::memcpy(p_->buses.audio(settings_.outputs + i), in[i], bytes);
        p_->buses.audio_touched()[settings_.outputs + i] = p_->block;
    }
    run_due(start, rate);
    p_->tree->render();
    for (int i = 0; i < settings_.outputs; ++i) {
        if (!out[i])
            continue;
        if (p_->buses.audio_touched()[i] == p_->block)
            std::memcpy(out[i], p_->buses.audio(i), bytes);
        else
            std::memset(out[i], 0, bytes);
    }
    p_->block = int32_t(uint32_t(p_->block) + 1); // wraps after a month at 48 kHz
}

void Engine::process(int frames, NtpTime frame0, double rate, const float* const* in, float* const* out) noexcept {
    const int64_t began = monotonic_nsec();
    const RenderingScope scope(p_->world);
    const FlushToZero denormals;
    status_.cycles.fetch_add(1, std::memory_order_relaxed);
    const bool well = !status_.broken.load(std::memory_order_relaxed) &&
                      FaultGuard::run_host([&] { run_cycle(frames, frame0, rate, in, out); });
    if (!well) {
        break_down();
        for (int i = 0; i < settings_.outputs; ++i)
            if (out[i])
                std::memset(out[i], 0, size_t(frames) * sizeof(float));
    }
    measure(monotonic_nsec() - began, frames, rate);
}

void Engine::run_cycle(int frames, NtpTime frame0, double rate, const float* const* in, float* const* out) noexcept {
    p_->progress.thread.store(pthread_self(), std::memory_order_relaxed);
    p_->progress.rendering.store(true, std::memory_order_release);
    set_rate(rate);
    p_->now = frame0;
    p_->world.set_block(p_->block);
    p_->ensemble.begin_block(p_->block);
    take_in();
    p_->reblocker.process(frames, in, out, [&](int frame, const float* const* block_in, float* const* block_out) {
        render_block(ntp_advance(frame0, frame, rate), rate, block_in, block_out);
    });
    p_->progress.rendering.store(false, std::memory_order_release);
    publish();
}

void Engine::break_down() noexcept {
    p_->progress.rendering.store(false, std::memory_order_relaxed);
    for (std::atomic<int32_t>* count : {&status_.units, &status_.synths})
        count->store(0, std::memory_order_relaxed);
    status_.broken.store(true, std::memory_order_release);
}

void Engine::set_rate(double rate) noexcept {
    const double before = status_.actual_rate.load(std::memory_order_relaxed);
    if (rate == before)
        return;
    p_->world.set_sample_rate(rate);
    p_->ensemble.set_sample_rate(rate);
    status_.actual_rate.store(rate, std::memory_order_relaxed);
    if (p_->tree->synth_count() == 0)
        return;
    TextLine line;
    line.add("the graph's rate is %.0f Hz now, not %.0f: synths that play stay as they were\n", rate, before);
    p_->outbox.print(line.take());
}

void Engine::end_endless_code() noexcept {
    constexpr int64_t longest_ugen = 100'000'000, longest_host_code = 5'000'000'000; // ns
    Progress& progress = p_->progress;
    if (!progress.rendering.load(std::memory_order_acquire)) {
        progress.seen_cpu_nsec = -1;
        return;
    }
    const pthread_t thread = progress.thread.load(std::memory_order_relaxed);
    const uint64_t blocks = progress.blocks.load(std::memory_order_relaxed);
    clockid_t clock;
    timespec used;
    if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return;
    const int64_t cpu_nsec = int64_t(used.tv_sec) * 1'000'000'000 + used.tv_nsec;
    if (blocks != progress.seen_blocks || progress.seen_cpu_nsec < 0) {
        progress.seen_blocks = blocks;
        progress.seen_cpu_nsec = cpu_nsec;
    } else if (const int64_t since = cpu_nsec - progress.seen_cpu_nsec; since > longest_ugen) {
        FaultGuard::interrupt(thread, since > longest_host_code ? FaultGuard::Reach::all : FaultGuard::Reach::plugins);
    }
}

void Engine::measure(int64_t nanoseconds, int frames, double rate) noexcept {
    if (frames <= 0)
        return;
    const double period = frames / rate;
    const auto load = float(100e-9 * double(nanoseconds) / period);
    const float average = status_.average_cpu.load(std::memory_order_relaxed);
    // The average follows the load within about a second; the peak is the highest load of about the last second.
    status_.average_cpu.store(average + float(std::min(1., period)) * (load - average), std::memory_order_relaxed);
    p_->peak_age += period;
    if (load >= status_.peak_cpu.load(std::memory_order_relaxed) || p_->peak_age > 1.) {
        status_.peak_cpu.store(load, std::memory_order_relaxed);
        p_->peak_age = 0;
    }
}

void Engine::publish() noexcept {
    status_.units.store(int32_t(p_->tree->unit_count()), std::memory_order_relaxed);
    status_.synths.store(p_->tree->synth_count(), std::memory_order_relaxed);
    status_.groups.store(p_->tree->group_count(), std::memory_order_relaxed);
    status_.synthdefs.store(p_->definitions.count(), std::memory_order_relaxed);
}

int Engine::input_delay() const noexcept {
    return p_->reblocker.input_delay();
}

void Engine::reset_carry() noexcept {
    p_->reblocker.reset();
}

int32_t Engine::block_number() const noexcept {
    return p_->block;
}

} // namespace scs
