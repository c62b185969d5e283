// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/engine.hpp"

#include "engine/base/available-memory.hpp"
#include "engine/base/c-locale.hpp"
#include "engine/engine-parts.hpp"
#include "engine/engine-settings.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/plugins/fft.hpp"
#include "engine/plugins/rendering-scope.hpp"
#include "engine/plugins/ugens.hpp"
#include "engine/rt/float-mode.hpp"

#include <cstring>
#include <new>
#include <optional>
#include <utility>

namespace scs {
namespace {

constexpr int64_t patience_with_helpers = 200'000'000; ///< ns

/// What others see of a cycle.
class InCycle {
public:
    explicit InCycle(EngineStatus& status) noexcept : status_(status) {
        status.cycles.fetch_add(1, std::memory_order_relaxed);
        status.in_cycle.store(FaultGuard::watched_thread(), std::memory_order_relaxed);
    }
    ~InCycle() { status_.in_cycle.store(0, std::memory_order_relaxed); }
    InCycle(const InCycle&) = delete;
    InCycle& operator=(const InCycle&) = delete;

private:
    EngineStatus& status_;
};

} // namespace

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
        engine->p_ =
            std::make_unique<EngineParts>(*engine, engine->settings_, std::move(pool.value()), engine->shared_.get(),
                                          *engine->streams_, engine->status_, engine->clock_, std::move(helpers));
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
    p_->commands.delete_unfinished(tell_at_end_);
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
Bindings& Engine::bindings() noexcept {
    return p_->bindings;
}
ControlOutputs& Engine::control_outputs() noexcept {
    return p_->control_outputs;
}
TransportRequests& Engine::transport_requests() noexcept {
    return p_->transport_requests;
}
ErrorMode& Engine::error_mode() noexcept {
    return p_->commands.error_mode();
}
Outbox& Engine::outbox() noexcept {
    return p_->outbox;
}
int32_t Engine::block_number() const noexcept {
    return p_->cycle.block_number();
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

bool Engine::run_idle(double rate) noexcept {
    if (status_.broken.load(std::memory_order_relaxed))
        return false;
    const RenderingScope scope(p_->world);
    const FlushToZero denormals;
    const CLocale numbers;
    const InCycle cycle(status_);
    bool more = false;
    const bool well = FaultGuard::run_host([&] { more = p_->cycle.run_idle(rate); });
    if (!well)
        break_down();
    return well && more;
}

void Engine::process(int frames, NtpTime frame0, double rate, const float* const* in, float* const* out,
                     const CycleLimit& limit, std::span<const ControlEvent> events,
                     std::span<const Transport> transports) noexcept {
    const int64_t began = clock_.now();
    const RenderingScope scope(p_->world);
    const FlushToZero denormals;
    const CLocale numbers;
    const InCycle cycle(status_);
    const bool well = !status_.broken.load(std::memory_order_relaxed) && FaultGuard::run_host([&] {
        p_->cycle.run(frames, frame0, rate, in, out, limit, events, transports, began);
    }) && !p_->ensemble.failed();
    if (!well) {
        break_down();
        for (int i = 0; i < settings_.outputs; ++i)
            if (out[i])
                std::memset(out[i], 0, size_t(frames) * sizeof(float));
    }
    load_.measure(clock_.now() - began, frames / rate);
}

void Engine::break_down() noexcept {
    for (std::atomic<int32_t>* count : {&status_.units, &status_.synths})
        count->store(0, std::memory_order_relaxed);
    status_.broken.store(true, std::memory_order_release);
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
        (void)p_->tree->freeing().finish();
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
    const auto dismiss = [&] {
        Ahead* const ahead = p_->ensemble.ahead();
        ended = !ahead || ahead->dismiss_helpers(patience_with_helpers);
    };
    return FaultGuard::run_host(dismiss) && ended;
}

int Engine::input_delay() const noexcept {
    return p_->cycle.input_delay();
}

void Engine::reset_carry() noexcept {
    p_->cycle.reset_carry();
    p_->bindings.clear();
}

} // namespace scs
