// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/nonblocking.hpp"
#include "engine/engine.hpp"
#include "engine/rt/pool.hpp"
#include "engine/world/streams.hpp"
#include "osc/buffer-jobs.hpp"
#include "osc/clients.hpp"
#include "osc/command-table.hpp"
#include "osc/reply-port.hpp"
#include "osc/server-settings.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace scs::osc {

namespace {

Status none(OscCommand&, Engine&) noexcept SCS_NONBLOCKING {
    return {};
}

Status status(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    const EngineStatus& now = engine.status();
    ReplyWriter& reply = command.reply();
    reply.begin("/status.reply");
    reply.add(int32_t(1)); // once meant that audio is on
    reply.add(now.units.load(std::memory_order_relaxed));
    reply.add(now.synths.load(std::memory_order_relaxed));
    reply.add(now.groups.load(std::memory_order_relaxed));
    reply.add(now.synthdefs.load(std::memory_order_relaxed));
    reply.add(now.average_cpu.load(std::memory_order_relaxed));
    reply.add(now.peak_cpu.load(std::memory_order_relaxed));
    const double rate = now.rate.load(std::memory_order_relaxed);
    reply.add(rate); // nominal
    reply.add(rate); // actual
    return {};
}

/// The version is that of SuperCollider whose protocol this is: clients decide by it what they may send.
Status version(OscCommand& command, Engine&) noexcept SCS_NONBLOCKING {
    ReplyWriter& reply = command.reply();
    reply.begin("/version.reply");
    reply.add(std::string_view("pw-scsynth"));
    reply.add(int32_t(3));
    reply.add(int32_t(13));
    reply.add(std::string_view(".0"));
    reply.add(std::string_view("pw-scsynth-" SCS_VERSION));
    reply.add(std::string_view("0"));
    return {};
}

size_t fixed_room(ArgReader) noexcept {
    return reply_bytes(1, 10, 64);
}

Status clear_schedule(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    return engine.clear_schedule() ? Status{} : command.unfinished();
}

Status error(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    switch (const int32_t mode = command.args().get_int()) {
    case 0:
    case 1: engine.error_mode().global = mode == 1; break;
    case -1:
    case -2: engine.error_mode().local = mode; break;
    default: break;
    }
    return {};
}

/// Free bytes in all, and the largest free piece. As in SuperCollider 3.14.
Status memory_status(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    const Pool& pool = engine.world().pool();
    ReplyWriter& reply = command.reply();
    reply.begin("/rtMemoryStatus.reply");
    for (const size_t bytes : {pool.free_bytes(), pool.largest_free_block()})
        reply.add(int32_t(std::min<size_t>(bytes, INT32_MAX)));
    return {};
}

/// A command whose work is the OSC thread's. It goes through the engine all the same, to be answered in order.
class OscThreadCommand : public OscCommand {
public:
    using OscCommand::OscCommand;
    Outcome run(Engine&) noexcept final { return Outcome::reply; }
};

class Notify final : public OscThreadCommand {
public:
    using OscThreadCommand::OscThreadCommand;

    void answer(ReplyPort& port) override {
        ArgReader rest = args();
        const bool on = rest.get_int() != 0;
        if (on)
            log_in(port, rest.get_int(-1));
        else if (port.clients().remove(from()))
            port.done(from(), name());
        else
            port.fail(from(), name(), "not registered\n");
    }

private:
    void log_in(ReplyPort& port, int32_t requested) {
        Clients& clients = port.clients();
        if (const auto id = clients.find(from())) {
            port.fail(from(), name(), "notify: already registered\n", *id);
        } else if (clients.full()) {
            port.fail(from(), name(), "too many users\n");
        } else {
            const std::array<ReplyArg, 3> reply{std::string_view(name()), int32_t(clients.add(from(), requested)),
                                                int32_t(clients.max())};
            port.send(from(), "/done", reply);
        }
    }
};

class DumpOsc final : public OscThreadCommand {
public:
    using OscThreadCommand::OscThreadCommand;
    void answer(ReplyPort& port) override { port.set_dump_mode(args().get_int()); }
};

/// A job without work: the worker comes to it after all earlier jobs, so it is answered after them.
class Sync final : public OscJob {
public:
    using OscJob::OscJob;
    JobKind job_kind() const noexcept override { return JobKind::barrier; }

private:
    void do_work() override {}
    void answer_done(ReplyPort& port) override {
        const std::array<ReplyArg, 1> reply{args().get_int()};
        port.send(from(), "/synced", reply);
    }
};

/// Frees everything. If the server doesn't end, its engine is as it was at its start.
class Quit final : public OscJob {
public:
    using OscJob::OscJob;
    ~Quit() override {
        if (!installed_)
            for (std::shared_ptr<FileStream>& stream : closed_)
                services().engine->buffers().streams().keep(std::move(stream));
    }

    /// The buffers go with the engine if the server ends. Otherwise a plugin's command may have taken one's memory, and
    /// frees or exchanges it when it is done.
    JobKind job_kind() const noexcept override { return ends() ? JobKind::plain : JobKind::buffer; }
    JobBuffers job_buffers() const noexcept override { return {{}, true}; }

private:
    bool quits() const noexcept override { return true; }
    bool ends() const noexcept { return services().settings.allow_quit; }
    /// A score goes on, as in scsynth: only its end ends it.
    bool ignored() const noexcept { return !services().settings.engine.real_time; }
    Status begin(Engine& engine) noexcept override {
        if (ignored())
            return {};
        if (!engine.clear_schedule() || !engine.tree().freeing().free_all_in_time(engine.tree().root()) ||
            !engine.free_definitions())
            return unfinished();
        return {};
    }
    void do_work() override {
        if (ignored())
            return;
        Buffers& buffers = services().engine->buffers();
        closed_ = buffers.streams().close_all();
        if (ends())
            return;
        freed_ = std::make_unique<ReleasedSamples>();
        for (int i = 0; i < buffers.count(); ++i) {
            const Buffer buffer = buffers.latest(i);
            if (!buffer.data)
                continue;
            freed_->samples.push_back(buffer.data);
            indices_.push_back(i);
            buffers.set_latest(i, {});
        }
    }
    void install(Engine& engine) noexcept override {
        if (!freed_)
            return;
        installed_ = true;
        for (int index : indices_)
            engine.buffers().install(index, {});
        engine.outbox().hand_back(freed_.release(), Handback::Kind::release);
    }
    void answer_done(ReplyPort& port) override { port.quit(from()); }

    std::vector<std::shared_ptr<FileStream>> closed_; ///< which synths see until install()
    std::unique_ptr<ReleasedSamples> freed_;          ///< plugins' jobs may still use them
    std::vector<int> indices_;
    bool installed_ = false;
};

constexpr CommandSpec commands[] = {
    {.number = 0, .name = "/none", .handler = none},
    {.name = "/nrt_end", .handler = none},
    {.number = 1, .name = "/notify", .make = make_command<Notify>},
    {.number = 2, .name = "/status", .handler = status, .reply_room = fixed_room},
    {.number = 3, .name = "/quit", .make = make_command<Quit>},
    {.number = 39, .name = "/dumpOSC", .make = make_command<DumpOsc>},
    {.number = 51, .name = "/clearSched", .handler = clear_schedule},
    {.number = 52, .name = "/sync", .make = make_command<Sync>},
    {.number = 58, .name = "/error", .handler = error},
    {.number = 64, .name = "/version", .handler = version, .reply_room = fixed_room},
    {.number = 65, .name = "/rtMemoryStatus", .handler = memory_status, .reply_room = fixed_room},
};

} // namespace

std::span<const CommandSpec> top_commands() {
    return commands;
}

} // namespace scs::osc
