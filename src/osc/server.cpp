// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/server.hpp"

#include "engine/base/c-locale.hpp"
#include "engine/guard/crash-report.hpp"
#include "engine/guard/fault-guard.hpp"
#include "osc/admission.hpp"
#include "osc/file-access.hpp"
#include "osc/kept-folder.hpp"
#include "osc/osc-loop.hpp"
#include "osc/server-callbacks.hpp"
#include "osc/setting-conflicts.hpp"
#include "osc/start-definitions.hpp"
#include "osc/state-restore.hpp"
#include "osc/unix-address.hpp"
#include "osc/worker.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <thread>
#include <utility>
#include <vector>

namespace scs::osc {

namespace {

/// A thread that gets no signals but the faults that it causes itself: these must not be blocked, because a blocked
/// fault ends the process without calling the handler.
template <class F>
std::thread start_thread(const char* name, F body) {
    sigset_t all, before;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
        sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread thread([body = std::move(body)] {
        const CLocale numbers;
        body();
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread.native_handle(), name);
    return thread;
}

struct Opened {
    UdpSocket udp;
    TcpPort tcp;
    Admission admission;
    std::string warning; ///< why there is no Unix socket
};

/// UDP and TCP, as far as the settings ask for them, on the same port. If any port will do, one that is free for UDP
/// may be in use for TCP: then another is tried.
Result<Opened> open_ports(const ServerSettings& settings) {
    auto admission = Admission::open(settings);
    if (!admission)
        return Error{admission.error()};
    if (!serves_udp(settings)) {
        auto tcp = TcpPort::open(settings.bind, uint16_t(settings.port), settings.password);
        if (!tcp)
            return Error{tcp.error()};
        return Opened{UdpSocket(), std::move(tcp.value()), std::move(admission.value()), {}};
    }
    for (int tries_left = settings.port ? 1 : 16;; --tries_left) {
        auto udp = UdpSocket::open(settings.bind, uint16_t(settings.port));
        if (!udp)
            return Error{udp.error()};
        if (!settings.tcp)
            return Opened{std::move(udp.value()), TcpPort(), std::move(admission.value()), {}};
        auto tcp = TcpPort::open(settings.bind, udp.value().port(), settings.password);
        if (tcp)
            return Opened{std::move(udp.value()), std::move(tcp.value()), std::move(admission.value()), {}};
        if (tries_left == 1)
            return Error{tcp.error()};
    }
}

/// Beside them a Unix socket. One that nobody has asked for is left out if it can't be.
Result<Opened> open_sockets(const ServerSettings& settings) {
    auto opened = open_ports(settings);
    if (!opened || settings.socket == "none")
        return opened;
    Opened& all = opened.value();
    const uint16_t port = all.udp.fd() >= 0 ? all.udp.port() : all.tcp.port();
    const std::string path = settings.socket == "auto" ? usual_socket_path(port) : settings.socket;
    if (path.empty())
        return opened;
    auto listener = UnixListener::open(path);
    if (!listener && settings.socket != "auto")
        return Error{listener.error()};
    if (!listener) {
        all.warning = listener.error();
        return opened;
    }
    if (all.tcp.fd() < 0) {
        auto without = TcpPort::open_without_tcp();
        if (!without)
            return Error{without.error()};
        all.tcp = std::move(without.value());
    }
    all.tcp.serve_also(std::move(listener.value()));
    return opened;
}

} // namespace

/// Shared with the worker and the threads for plugins' jobs, which may outlive the server.
struct Server::Private : std::enable_shared_from_this<Private> {
    using Level = ServerSettings::Level;

    Private(ServerSettings s, Opened opened)
        : settings(std::move(s)),
          loop(std::move(opened.udp), std::move(opened.tcp), std::move(opened.admission), services, callbacks, worker,
               wakeup, counters) {
        services.rouse = [this] { callbacks.rouse(); };
    }

    ServerSettings settings;
    CrashMarker crash_marker{settings.crash_marker};
    Services services{settings};
    ServerCallbacks callbacks{settings};
    PacketCounters counters;
    Wakeup wakeup;
    std::unique_ptr<Engine> owned_engine;
    std::atomic<Engine*> engine{nullptr};
    /// Destroyed before the engine, which frees the jobs.
    Worker worker{wakeup,
                  {.start_thread = [this](std::function<void()> body) { return start_plugin_thread(std::move(body)); },
                   .owner = [this] { return "the server on port " + std::to_string(loop.port()); },
                   .tell = [this](const std::string& line) { callbacks.log(Level::warning, line); },
                   .limit = settings.plugin_job_limit},
                  [this] { keep(); }};
    OscLoop loop; ///< destroyed before the engine: of the engine's it has only bundles
    std::thread osc_thread, worker_thread, senders_thread;

    /// A thread for plugins' jobs; each engine has one once it needs it.
    struct PluginThread {
        std::thread thread;
        bool has_ended = false;
    };
    std::mutex mutex;
    StateToRestore revived;                        ///< [worker] what the next engine begins with
    std::chrono::steady_clock::time_point began{}; ///< [worker] when the present engine did
    bool was_revived = false;                      ///< [worker] the present engine began with what another one had
    int broke_soon = 0;                            ///< [worker] how often in a row an engine broke soon after it began

    std::condition_variable thread_ended;
    bool worker_has_ended = false;
    std::list<PluginThread> plugin_threads;

    void work();
    bool start_plugin_thread(std::function<void()> body) noexcept;
    bool all_have_ended() const;
    /// Waits for the threads, but no longer than 150 ms. false: some still run.
    bool end_threads();
    /// On the worker, because the path may be on a file system that doesn't answer.
    void open_print_socket();
    /// Makes an engine and serves it until the server stops. False: it broke.
    bool serve_engine();
    bool create_engine();
    std::unique_ptr<CommandBundle> first_commands();
    /// Takes from the engine, which broke, what the next one begins with. Returns what to tell of it.
    const char* revive(Engine& broken, bool threads_ended) noexcept;
    void read_saved();
    bool open_kept();
    /// Notes in the folder what there is now.
    void keep() noexcept;
    void write_kept();
    /// There will be no engine.
    void give_up(std::string why) noexcept;
};

// Each broken one leaves its memory behind.
constexpr int most_engines = 16;

void Server::Private::open_print_socket() {
    if (settings.print_to.empty())
        return;
    auto socket = PrintSocket::open(settings.print_to);
    if (socket)
        callbacks.print_to(std::move(socket.value()));
    else
        callbacks.log(Level::warning, socket.error());
}

/// What made an engine break may come back with it. So one that breaks soon after that leaves its nodes behind, and the
/// next one everything. `threads_ended`: nobody uses its buffers any more.
const char* Server::Private::revive(Engine& broken, bool threads_ended) noexcept {
    const bool again = was_revived && std::chrono::steady_clock::now() - began < KeptFolder::soon;
    was_revived = true;
    broke_soon = again ? broke_soon + 1 : 0;
    const auto tree = services.keeper.take_latest();
    const bool all = settings.keep == "all";
    try {
        const auto definitions = services.sources.take_all();
        if (settings.keep == "none" || broke_soon > 1)
            return "without the nodes, buffers, buses and SynthDefs that it had";
        revived.definitions = definitions;
        if (!all)
            return "with the SynthDefs, but without the nodes, buffers and buses that it had";
        if (threads_ended)
            revived.buffers = take_buffers(broken, [this](int32_t buffer) { return worker.left_busy(buffer); });
        if (!broke_soon)
            revived.tree = tree;
        if (broke_soon)
            return threads_ended ? "with the SynthDefs and buffers, but without the nodes that it had"
                                 : "with the SynthDefs, but without the nodes and buffers that it had";
        return threads_ended ? "with the SynthDefs, buffers, buses and lasting nodes that it had"
                             : "with the SynthDefs, buses and lasting nodes, but without the buffers that it had";
    } catch (const std::bad_alloc&) {
        return "without most of what it had, for want of memory";
    }
}

void Server::Private::read_saved() {
    if (settings.restore.empty())
        return;
    bool denied = false;
    const Descriptor file(FileAccess({}).open(settings.restore, O_RDONLY | O_NONBLOCK | O_NOCTTY, denied));
    auto saved =
        file.get() < 0 ? Result<StateToRestore>(Error{std::strerror(errno)}) : read_state(file.get(), allocate_samples);
    if (saved)
        revived = std::move(saved.value());
    else
        callbacks.log(Level::error, "scsynth.restore: " + settings.restore + ": " + saved.error());
}

/// What a process that ended has left counts more than what this one was to begin with. false: it has left nothing.
bool Server::Private::open_kept() {
    if (settings.keep == "none" || settings.keep_path.empty())
        return false;
    auto folder =
        KeptFolder::open(settings.keep_path, [this](const std::string& line) { callbacks.log(Level::warning, line); });
    if (!folder) {
        callbacks.log(Level::warning, "what there is isn't kept for the case that the process ends: " + folder.error());
        return false;
    }
    services.kept = std::move(folder.value());
    auto left = services.kept->recover(settings.keep == "all");
    if (left.definitions.empty() && left.buffers.empty() && !left.tree)
        return false;
    callbacks.log(Level::output, "the process that served this port before didn't end as it should; what it had "
                                 "is made anew: " +
                                     std::to_string(left.definitions.size()) + " SynthDefs, " +
                                     std::to_string(left.buffers.size()) + " buffers, " +
                                     std::to_string(left.tree ? left.tree->nodes.size() : 0) + " nodes");
    revived = std::move(left);
    return true;
}

void Server::Private::keep() noexcept {
    if (services.kept)
        try {
            write_kept();
        } catch (const std::bad_alloc&) { // the next copy is written, or the one after that
        }
}

void Server::Private::write_kept() {
    const auto tree = services.keeper.latest();
    const bool all = settings.keep == "all" && tree;
    services.kept->write(services.sources, all ? list_buffers(owned_engine->buffers()) : std::vector<BufferState>(),
                         all ? *tree : TreeState());
}

bool Server::Private::create_engine() {
    const auto warn = [this](const std::string& text) { callbacks.log(Level::warning, text); };
    std::shared_ptr<SharedMemory> shared;
    if (settings.shared_memory)
        shared = services.shared_memory.open(loop.port(), settings.engine.control_buses, warn);
    auto created = Engine::create(settings.engine, warn, std::move(shared), settings.helpers);
    if (!created) {
        give_up(created.error());
        return false;
    }
    owned_engine = std::move(created.value());
    owned_engine->report_end_to([this](const std::string& line) { callbacks.log(Level::output, line); });
    services.engine = owned_engine.get();
    return true;
}

/// What is to run before everything else; null: nothing.
std::unique_ptr<CommandBundle> Server::Private::first_commands() {
    const auto warn = [this](const std::string& text) { callbacks.log(Level::warning, text); };
    const auto stopping = [this] { return worker.stopping(); };
    auto first = load_start_definitions(services, owned_engine->settings(), warn, stopping);
    if (!first)
        first = std::make_unique<CommandBundle>();
    append_restore(*first, std::exchange(revived, {}), services, *owned_engine, false, warn);
    return first->first ? std::move(first) : nullptr;
}

bool Server::Private::serve_engine() {
    if (!create_engine())
        return true;
    auto first = first_commands();
    engine.store(owned_engine.get(), std::memory_order_release);
    loop.engine_ready(*owned_engine, std::move(first));
    callbacks.state("running");
    began = std::chrono::steady_clock::now();
    const FaultGuard::Watched watched(FaultGuard::Patience::much);
    worker.run(*owned_engine);
    if (!worker.stopping())
        return false;
    owned_engine->close_files();
    return true;
}

void Server::Private::give_up(std::string why) noexcept {
    callbacks.log(Level::error, why);
    try {
        callbacks.state("failed: " + why);
    } catch (const std::bad_alloc&) {
        callbacks.state("failed");
    }
    loop.engine_failed(std::move(why));
}

void Server::Private::work() {
    Engine::prepare_process();
    const PluginOutlet::Scope outlet(loop.outlet().number());
    try {
        open_print_socket();
        if (!open_kept())
            read_saved();
        for (int engines = 1; !serve_engine(); ++engines) {
            Engine& broken = *owned_engine.release(); // it is never touched again, but for what is read of it now
            const bool threads_ended = broken.abandon_threads();
            if (!threads_ended)
                callbacks.log(Level::warning, "a thread that helped the engine hangs, and is left behind");
            if (engines == most_engines) {
                give_up("the engine crashed too often; make the node anew");
                break;
            }
            callbacks.log(Level::error, "the engine crashed, probably by a UGen that wrote to a wrong place, or waited "
                                        "too long for one of its threads; it starts again " +
                                            std::string(revive(broken, threads_ended)));
        }
    } catch (const std::exception& error) {
        give_up(error.what());
    }
    const std::lock_guard lock(mutex);
    worker_has_ended = true;
    thread_ended.notify_all();
}

bool Server::Private::start_plugin_thread(std::function<void()> body) noexcept {
    try {
        const std::lock_guard lock(mutex);
        PluginThread& started = plugin_threads.emplace_back();
        try {
            started.thread =
                start_thread("scsynth-plugins", [p = shared_from_this(), body = std::move(body), &started] {
                    {
                        const PluginOutlet::Scope outlet(p->loop.outlet().number());
                        body();
                    }
                    const std::lock_guard end(p->mutex);
                    started.has_ended = true;
                    p->thread_ended.notify_all();
                });
        } catch (const std::exception&) {
            plugin_threads.pop_back();
            throw;
        }
        return true;
    } catch (const std::exception& error) {
        callbacks.log(Level::warning, std::string("no thread for plugins' jobs: ") + error.what());
        return false;
    }
}

bool Server::Private::all_have_ended() const {
    return worker_has_ended && std::ranges::all_of(plugin_threads, &PluginThread::has_ended);
}

Result<std::unique_ptr<Server>> Server::start(ServerSettings settings) {
    if (std::string problem = first_problem(server_settings, settings); !problem.empty())
        return Error{std::move(problem)};
    if (std::string conflict = find_conflict(settings); !conflict.empty())
        return Error{std::move(conflict)};
    auto sockets = open_sockets(settings);
    if (!sockets)
        return Error{sockets.error()};
    try {
        const std::string warning = sockets.value().warning;
        auto p = std::make_shared<Private>(std::move(settings), std::move(sockets.value()));
        p->callbacks.state("starting");
        if (!warning.empty())
            p->callbacks.log(ServerSettings::Level::warning, warning);
        std::unique_ptr<Server> server(new Server(p));
        p->worker_thread = start_thread("scsynth-worker", [p] { p->work(); });
        if (p->loop.needs_watch())
            p->senders_thread = start_thread("scsynth-senders", [loop = &p->loop] { loop->watch_senders(); });
        p->osc_thread = start_thread("scsynth-osc", [loop = &p->loop] { loop->run(); });
        return server;
    } catch (const std::exception& error) {
        return Error{std::string("cannot start the server: ") + error.what()};
    }
}

Server::Server(std::shared_ptr<Private> p) : p_(std::move(p)) {}

Server::~Server() {
    p_->callbacks.end_news();
    p_->loop.stop();
    if (p_->osc_thread.joinable())
        p_->osc_thread.join();
    p_->loop.end_watch();
    if (p_->senders_thread.joinable())
        p_->senders_thread.join(); // it looks at one more process at most
    p_->loop.end_post();
    p_->worker.stop(); // not before, so that it gives back all the jobs that were handed to it
    p_->services.shared_memory.close();
    if (!p_->end_threads())
        p_->callbacks.close();
    // Otherwise the log is told of what crashes when the engine is freed.
}

bool Server::Private::end_threads() {
    if (!worker_thread.joinable())
        return true;
    const auto leave = [](std::thread& thread, bool ended) { ended ? thread.join() : thread.detach(); };
    std::unique_lock lock(mutex);
    const bool all = thread_ended.wait_for(lock, std::chrono::milliseconds(150), [&] { return all_have_ended(); });
    const bool worker_ended = worker_has_ended;
    std::vector<std::pair<std::thread, bool>> threads;
    for (PluginThread& each : plugin_threads)
        threads.emplace_back(std::move(each.thread), each.has_ended);
    lock.unlock();
    leave(worker_thread, worker_ended);
    for (auto& [thread, ended] : threads)
        leave(thread, ended);
    return all;
}

Engine* Server::engine() noexcept {
    return p_->engine.load(std::memory_order_acquire);
}

uint16_t Server::port() const noexcept {
    return p_->loop.port();
}

void Server::rest() noexcept {
    p_->services.resting.store(true);
}

void Server::warn(const std::string& text) noexcept {
    p_->callbacks.log(ServerSettings::Level::warning, text);
}

Driver& Server::driver() noexcept {
    return p_->services.driver;
}

const PacketCounters& Server::counters() const noexcept {
    return p_->counters;
}

} // namespace scs::osc
