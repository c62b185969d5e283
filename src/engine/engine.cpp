// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/engine.hpp"

#include "engine/base/available-memory.hpp"
#include "engine/base/c-locale.hpp"
#include "engine/base/text-line.hpp"
#include "engine/command-runner.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/inbox.hpp"
#include "engine/plugins/fft.hpp"
#include "engine/plugins/plugin-host.hpp"
#include "engine/plugins/rendering-scope.hpp"
#include "engine/plugins/ugens.hpp"
#include "engine/render/renderer.hpp"
#include "engine/rt/float-mode.hpp"
#include "engine/rt/kept-pools.hpp"
#include "engine/rt/longest-block.hpp"
#include "engine/rt/ntp-time.hpp"
#include "engine/rt/pool.hpp"
#include "engine/rt/reblock.hpp"
#include "engine/schedule/cores.hpp"
#include "engine/schedule/trace.hpp"
#include "engine/tree/shedding.hpp"
#include "engine/voices/ensemble.hpp"
#include "engine/world/block-inputs.hpp"
#include "engine/world/output-ports.hpp"
#include "engine/world/shared-memory.hpp"
#include "engine/world/streams.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

namespace scs {
namespace {

constexpr size_t event_ring_bytes = size_t(1) << 20;
constexpr int64_t idle_time = 1'000'000;               ///< ns that one run_idle() takes
constexpr int64_t patience_with_helpers = 200'000'000; ///< ns
constexpr int most_automatic_threads = 4;              ///< RTKit gives a user 25 with a real-time priority

/// How much announced work lies between two readings of the clock, ns, in a cycle that may take `time`: few enough
/// readings to cost nothing, and enough that the deadline is kept within a few percent of it.
int64_t reading_interval(int64_t time) noexcept {
    return std::clamp<int64_t>(time / 64, 5'000, 100'000);
}

/// What synths cost is measured where the clock is read, and in a block of little work that is at its begin only. So in
/// one of seven it is read at another place, too, anywhere in the block's work. In a cycle of 16 it isn't always in the
/// same blocks, as the first is the dearest.
constexpr int32_t blocks_a_sample = 7;

/// How much of a block's work, ns, lies before that place. Who was stopped for an hour may have measured work of an
/// hour.
int64_t work_before_sample(int32_t block, int64_t work) noexcept {
    const uint32_t spread = uint32_t(block / blocks_a_sample) * 2654435769u;
    return int64_t(spread / 0x1p32 * double(work));
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

/// What an engine with these settings takes, or may take, of the tables that a setting can make large. About as much:
/// small things aren't counted, nor is the table of buffers, which takes 120 bytes for each that is made.
int64_t large_memory(const Settings& s) noexcept {
    constexpr int64_t node = 256;
    return int64_t(s.rt_memory_kib) * 1024 + s.audio_buses * (int64_t(s.block_size) * 4 + 4) +
           s.control_buses * int64_t(8) + s.max_nodes * node + int64_t(s.wire_buffers) * s.block_size * 4;
}

/// The defaults are small enough to be taken without asking.
Error find_missing_memory(const Settings& settings) {
    const int64_t bytes = large_memory(settings);
    if (bytes <= large_memory(Settings()) || leaves_memory(bytes))
        return {};
    return Error{"not enough memory for what the settings ask for: " + std::to_string(bytes >> 20) +
                 " MiB, of which scsynth.rt-memory are " + std::to_string(settings.rt_memory_kib >> 10)};
}

/// The settings with the number of threads decided.
Settings with_threads(Settings settings) {
    if (settings.parallel == "off")
        settings.threads = 1;
    if (settings.threads == 0) {
        settings.threads = std::min(cores_to_run_on(), most_automatic_threads);
        settings.reluctant = true;
    }
    return settings;
}

} // namespace

struct Engine::Parts final : PluginHost {
    Parts(Engine& engine, const Settings& s, KeptPools::Owner real_time_memory, SharedMemory* shared, Streams& streams,
          EngineStatus& status, std::shared_ptr<HelperPool> helpers)
        : trace(std::make_shared<Trace>(s.threads)),
          pool(std::move(real_time_memory)),
          inbox(Engine::most_bundles),
          outbox(event_ring_bytes, status.dropped_events),
          reblocker(s.block_size, s.inputs, s.outputs, s.max_quantum),
          buses(s, shared ? shared->control_buses() : nullptr),
          buffers(s.buffers, streams),
          definitions(s.max_synthdefs),
          world(s, *this, buses, buffers, *pool, outbox, shared ? &shared->scopes() : nullptr),
          outputs(s),
          ensemble(s, buses, buffers, world.random(), *pool, deadline, *trace, std::move(helpers)),
          tree(std::make_unique<Tree>(s, buses, world, ensemble, *pool, outbox, deadline)),
          renderer(*tree, buses, ensemble, outbox, deadline),
          commands(engine, s, inbox, outbox, deadline, *tree, world, definitions, status),
          shedding(s, *tree, outbox, deadline, status) {}

    Node* find_node(int32_t id) noexcept override { return tree ? tree->find(id) : nullptr; }
    void end_node(Node& node) noexcept override { tree->end(node); }
    void set_run(Node& node, bool run) noexcept override { tree->set_run(node, run); }
    bool finish_job(Command* command) noexcept override { return inbox.finish_job(command); }

    const std::shared_ptr<Trace> trace;
    KeptPools::Owner pool;
    Inbox inbox;
    Deadline deadline;
    bool rendering = true; ///< false: for the rest of the cycle, blocks are left out
    /// Blocks that were computed at once.
    struct {
        int count = 0;    ///< of this cycle, 0: none are left
        int computed = 0; ///< not behind the deadline
        int next = 0;     ///< which of them is the next block
    } ready;
    Outbox outbox;
    Reblocker reblocker;
    int32_t block = 0;
    NtpTime now = 0;                      ///< of the cycle's first frame; 0 before the first cycle
    int frames = 0;                       ///< of the cycle
    const float* const* inputs = nullptr; ///< the same
    double peak_age = 0;
    LongestBlock longest_block;
    int64_t block_work = 0; ///< ns that were announced in a block behind the last reading of the clock in it
    Buses buses;
    Buffers buffers;
    Definitions definitions;
    PluginWorld world;
    OutputPorts outputs;
    Ensemble ensemble;
    std::unique_ptr<Tree> tree; ///< destroyed first: its nodes still emit events to the outbox
    Renderer renderer;
    CommandRunner commands;
    Shedding shedding;
};

Engine::Engine(const Settings& settings)
    : settings_(settings), streams_(std::make_unique<Streams>(settings.real_time)) {}

Result<std::unique_ptr<Engine>> Engine::create(const Settings& wanted,
                                               const std::function<void(const std::string&)>& report,
                                               std::shared_ptr<SharedMemory> shared,
                                               std::shared_ptr<HelperPool> helpers) {
    if (std::string problem = problem_with(wanted); !problem.empty())
        return Error{std::move(problem)};
    Settings settings = with_threads(wanted);
    const auto plugins = load_ugens(settings.ugen_path, report);
    if (!plugins)
        return Error{plugins.error()};
    settings.plugins = plugins.value();
    if (settings.real_time)
        fft_prepare();
    prepare_process();
    if (Error lack = find_missing_memory(settings); !lack.what.empty())
        return lack;
    auto pool = KeptPools::take(size_t(settings.rt_memory_kib) * 1024,
                                settings.real_time ? Pool::Pages::ahead : Pool::Pages::when_used);
    if (!pool)
        return Error{pool.error()};
    try {
        std::unique_ptr<Engine> engine(new Engine(settings));
        engine->shared_ = std::move(shared);
        if (!helpers)
            helpers = std::make_shared<HelperPool>(ThreadMaker::plain(), settings.real_time);
        engine->p_ = std::make_unique<Parts>(*engine, settings, std::move(pool.value()), engine->shared_.get(),
                                             *engine->streams_, engine->status_, std::move(helpers));
        engine->status_.release = release_to_follow(settings);
        engine->status_.rate = settings.sample_rate;
        return engine;
    } catch (const std::exception& e) {
        return Error{std::string("cannot make the engine: ") + e.what()};
    }
}

Engine::~Engine() {
    if (!p_)
        return;
    std::optional<FaultGuard::Watched> watched; // destructors of plugins run here
    if (settings_.real_time)
        watched.emplace(FaultGuard::Patience::much);
    if (!status_.broken)
        p_->world.stop_running();
    if (!status_.broken && !FaultGuard::run_host([this] { p_->tree.reset(); }))
        status_.broken = true;
    if (status_.broken) {
        if (!dismiss_helpers())
            (void)new std::shared_ptr(shared_); // one that goes on later finds its buses there
        (void)p_.release();
        return;
    }
    p_->commands.delete_unfinished();
}

void Engine::set_clock(NanoClock clock) noexcept {
    clock_ = clock;
    p_->deadline.set_clock(clock);
    p_->trace->set_clock(clock);
}

void Engine::prepare_process() {
    FaultGuard::install();
    CLocale::prepare();
}

void Engine::prepare_thread() noexcept {
    FaultGuard::prepare_thread();
}

bool Engine::watch_thread() noexcept {
    return FaultGuard::watch_thread(FaultGuard::Patience::little);
}

void Engine::unwatch_thread() noexcept {
    FaultGuard::unwatch_thread();
}

// ---- queues

bool Engine::submit(CommandBundle* bundle) noexcept {
    return p_->inbox.submit(bundle);
}

bool Engine::has_results() const noexcept {
    return p_->inbox.any_results();
}

bool Engine::reserve() noexcept {
    return p_->inbox.reserve();
}

RecordRing& Engine::events() noexcept {
    return p_->outbox.ring();
}

bool Engine::finish_job(Command* command) noexcept {
    return p_->inbox.finish_job(command);
}

// ---- for commands

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
ErrorMode& Engine::error_mode() noexcept {
    return p_->commands.error_mode();
}
Outbox& Engine::outbox() noexcept {
    return p_->outbox;
}
int32_t Engine::block_number() const noexcept {
    return p_->block;
}
bool Engine::clear_schedule() noexcept {
    return p_->commands.clear_schedule();
}
bool Engine::free_definitions() noexcept {
    return p_->commands.free_definitions();
}
bool Engine::out_of_time(int64_t nsec) noexcept {
    FaultGuard::progress();
    return p_->deadline.spend(nsec);
}

const std::shared_ptr<Trace>& Engine::trace() noexcept {
    return p_->trace;
}

// ---- rendering

/// Commands may take half of the cycle's time, and all of it rather than stop within a bundle, as no block is computed
/// before that is done.
bool Engine::take_in(const CycleLimit& limit, int64_t began) noexcept {
    p_->outbox.flush();
    p_->pool->take_back();
    if (limit.deadline == Deadline::never) {
        p_->deadline.begin(Deadline::never, 0);
        return p_->commands.take_in(p_->now);
    }
    const int64_t time = std::max<int64_t>(limit.deadline - began, 0);
    p_->deadline.begin(began + time / 2, reading_interval(time));
    const bool whole = p_->commands.take_in(p_->now);
    p_->deadline.begin(limit.deadline, reading_interval(time));
    return whole || p_->commands.go_on();
}

bool Engine::run_idle(double rate) noexcept {
    if (status_.broken.load(std::memory_order_relaxed))
        return false;
    const RenderingScope scope(p_->world);
    const FlushToZero denormals;
    const CLocale numbers;
    status_.cycles.fetch_add(1, std::memory_order_relaxed);
    bool more = false;
    const bool well = FaultGuard::run_host([&] {
        if (rate > 0)
            set_rate(rate);
        p_->outbox.flush();
        p_->deadline.begin(clock_.now() + idle_time, reading_interval(idle_time));
        more = !p_->commands.take_in(p_->now) || p_->deadline.passed();
        publish();
        more = more || p_->outbox.waiting();
    });
    if (!well)
        break_down();
    return well && more;
}

/// How many blocks there are in the cycle, from the one at this frame on, between which nothing happens. At least 1.
int Engine::calm_blocks(int frame, double rate) const noexcept {
    if (!p_->ensemble.helped())
        return 1;
    const int block = settings_.block_size, left = (p_->frames - frame + block - 1) / block;
    const int most = std::min(left, Ensemble::most_blocks);
    if (!p_->commands.has_scheduled())
        return most;
    int count = 1;
    while (count < most && !p_->commands.is_due(ntp_advance(p_->now, frame + count * block, rate), rate))
        ++count;
    return count;
}

/// Computes this block, and the next ones, as well, if they can be computed at once. false: the deadline has passed.
bool Engine::render(int calm, const BlockInputs& inputs) noexcept {
    const int64_t traced = p_->trace->begin();
    const int computed = calm > 1 ? p_->renderer.render_blocks(calm, inputs) : -1;
    const bool whole = computed >= 0 || p_->renderer.render();
    p_->trace->end(0, TraceKind::walk, traced, p_->block);
    if (computed < 0)
        return whole;
    p_->longest_block.spread(calm);
    status_.pipelined.fetch_add(uint64_t(computed), std::memory_order_relaxed);
    p_->ready = {calm, computed, 0};
    return take_ready();
}

bool Engine::take_ready() noexcept {
    auto& ready = p_->ready;
    const int index = ready.next++;
    if (ready.next == ready.count)
        ready.count = 0;
    if (index >= ready.computed)
        return false;
    p_->ensemble.put_block(index, p_->buses);
    return true;
}

/// false: the deadline has passed, and the block is to be left out. `frame`: where in the cycle it begins.
bool Engine::compute_block(int frame, double rate, const float* const* in) noexcept {
    if (p_->ready.count) {
        p_->world.set_block(p_->block);
        p_->ensemble.begin_block(p_->block);
        return take_ready();
    }
    const bool late = p_->deadline.spend(Deadline::unknown);
    const bool sampled = p_->deadline.bounded() && p_->block % blocks_a_sample == 0;
    if (p_->deadline.bounded())
        p_->longest_block.begin(p_->deadline.last_reading());
    if (sampled)
        p_->deadline.look_after(work_before_sample(p_->block, p_->block_work));
    if (late)
        return false;
    const size_t bytes = size_t(settings_.block_size) * sizeof(float);
    p_->world.set_block(p_->block);
    p_->ensemble.begin_block(p_->block);
    for (int i = 0; i < settings_.inputs; ++i) {
        if (!in[i])
            continue;
        std::memcpy(p_->buses.audio(settings_.outputs + i), in[i], bytes);
        p_->buses.audio_touched()[settings_.outputs + i] = p_->block;
    }
    const BlockInputs inputs{in, p_->inputs, frame + settings_.block_size - p_->reblocker.input_delay()};
    const bool whole =
        p_->commands.run_due(ntp_advance(p_->now, frame, rate), rate) && render(calm_blocks(frame, rate), inputs);
    if (!sampled)
        p_->block_work = p_->deadline.announced();
    return whole;
}

void Engine::render_block(int frame, double rate, const float* const* in, float* const* out) noexcept {
    FaultGuard::progress();
    if (!p_->rendering) {
        p_->outputs.write_missing(out);
        return;
    }
    if (!compute_block(frame, rate, in)) {
        p_->rendering = false;
        p_->ready.count = 0;
        p_->buses.forget_audio(p_->block);
        p_->outputs.write_missing(out);
    } else if (!p_->outputs.write(p_->buses, p_->block, out)) {
        note_bad_block();
    }
    p_->block = int32_t(uint32_t(p_->block) + 1); // wraps after a month at 48 kHz
}

void Engine::note_bad_block() noexcept {
    if (status_.bad_blocks.fetch_add(1, std::memory_order_relaxed) == 0)
        p_->renderer.find_bad_output(p_->outputs);
}

void Engine::process(int frames, NtpTime frame0, double rate, const float* const* in, float* const* out,
                     const CycleLimit& limit) noexcept {
    const int64_t began = clock_.now();
    const RenderingScope scope(p_->world);
    const FlushToZero denormals;
    const CLocale numbers;
    status_.cycles.fetch_add(1, std::memory_order_relaxed);
    const bool well = !status_.broken.load(std::memory_order_relaxed) &&
                      FaultGuard::run_host([&] { run_cycle(frames, frame0, rate, in, out, limit, began); }) &&
                      !p_->ensemble.failed();
    if (!well) {
        break_down();
        for (int i = 0; i < settings_.outputs; ++i)
            if (out[i])
                std::memset(out[i], 0, size_t(frames) * sizeof(float));
    }
    measure(clock_.now() - began, frames, rate);
}

void Engine::run_cycle(int frames, NtpTime frame0, double rate, const float* const* in, float* const* out,
                       const CycleLimit& limit, int64_t began) noexcept {
    const int64_t traced = p_->trace->begin_cycle();
    set_rate(rate);
    p_->now = frame0;
    p_->frames = std::min(frames, settings_.max_quantum);
    p_->inputs = in;
    p_->world.set_block(p_->block);
    p_->ensemble.begin_block(p_->block);
    const bool whole = take_in(limit, began);
    // While a command is half done no synth is ended: it may stand at that one.
    const bool wanted = whole && p_->shedding.before_cycle() && limit.renders;
    p_->rendering = wanted;
    p_->ensemble.begin_cycle();
    p_->reblocker.process(frames, in, out, [&](int frame, const float* const* block_in, float* const* block_out) {
        render_block(frame, rate, block_in, block_out);
    });
    if (p_->ensemble.end_cycle())
        tell_of_priority();
    if (!p_->rendering)
        status_.cuts.fetch_add(1, std::memory_order_relaxed);
    const int64_t ended = p_->deadline.bounded() ? clock_.now() : began;
    p_->longest_block.end_cycle(ended, frames / rate);
    if (p_->deadline.bounded())
        p_->shedding.after_cycle({.seconds = frames / rate,
                                  .limit = limit.deadline - began,
                                  .used = ended - began,
                                  .blocks = double(frames) / settings_.block_size,
                                  .missing = wanted && !p_->rendering});
    publish();
    p_->trace->end(0, TraceKind::cycle, traced, frames);
}

/// Nothing else tells why one core is busy and the others aren't.
void Engine::tell_of_priority() noexcept {
    TextLine line;
    line.add("one core is hardly enough, and what could help it has no real-time priority (threads: %d): see \"Threads "
             "with a priority\" in conf/README.md\n",
             settings_.threads - 1);
    p_->outbox.print(line.take());
}

void Engine::break_down() noexcept {
    for (std::atomic<int32_t>* count : {&status_.units, &status_.synths})
        count->store(0, std::memory_order_relaxed);
    status_.broken.store(true, std::memory_order_release);
}

void Engine::set_rate(double rate) noexcept {
    const double before = status_.rate.load(std::memory_order_relaxed);
    if (rate == before)
        return;
    p_->world.set_sample_rate(rate);
    p_->ensemble.set_sample_rate(rate);
    status_.rate.store(rate, std::memory_order_relaxed);
    if (p_->tree->synth_count() == 0)
        return;
    TextLine line;
    line.add("the graph's rate is %.0f Hz now, not %.0f: synths that play stay as they were, at another pitch "
             "(scsynth.keep-rate = true would keep it)\n",
             rate, before);
    p_->outbox.print(line.take());
}

bool Engine::memory_grows() const noexcept {
    return p_->pool->grows();
}

void Engine::keep_memory_ahead() noexcept {
    try {
        p_->pool->keep_ahead(spare_memory());
    } catch (const std::bad_alloc&) { // the file that tells of the memory can't be read, for want of it: the next time
    }
}

void Engine::close_files() {
    const auto free_synths = [this] {
        p_->deadline.begin(Deadline::never, 0);
        (void)p_->tree->finish_frees();
        p_->tree->free(p_->tree->root());
    };
    if (!status_.broken && !FaultGuard::run_host(free_synths))
        break_down();
    if (!status_.broken)
        p_->buffers.close_files();
}

bool Engine::abandon_threads() noexcept {
    streams_->abandon();
    return dismiss_helpers();
}

/// Of a broken engine: if what leads to them was overwritten, they are left behind.
bool Engine::dismiss_helpers() noexcept {
    bool ended = false;
    return FaultGuard::run_host([&] { ended = p_->ensemble.dismiss_helpers(patience_with_helpers); }) && ended;
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
    if (p_->tree->synth_count() > 0)
        status_.rate_in_use.store(true, std::memory_order_relaxed);
    status_.groups.store(p_->tree->group_count(), std::memory_order_relaxed);
    status_.synthdefs.store(p_->definitions.count(), std::memory_order_relaxed);
    status_.longest_block.store(p_->longest_block.nsec(), std::memory_order_relaxed);
    status_.computed_ahead.store(p_->ensemble.computed_ahead(), std::memory_order_relaxed);
    status_.scheduled.store(p_->commands.has_scheduled(), std::memory_order_relaxed);
    const StreamCounts& streams = streams_->counts();
    status_.silent_frames.store(streams.silent.load(std::memory_order_relaxed), std::memory_order_relaxed);
    status_.dropped_frames.store(streams.dropped.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

int Engine::input_delay() const noexcept {
    return p_->reblocker.input_delay();
}

void Engine::reset_carry() noexcept {
    p_->reblocker.reset();
}

} // namespace scs
