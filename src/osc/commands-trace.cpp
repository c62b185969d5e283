// SPDX-License-Identifier: GPL-3.0-or-later
// /trace_start, /trace_read and /trace_stop: what the threads of the server do, page by page.
#include "engine/base/nonblocking.hpp"
#include "engine/engine.hpp"
#include "engine/schedule/trace.hpp"
#include "osc/command-table.hpp"
#include "osc/reply-port.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace scs::osc {

namespace {

constexpr const char* kinds[] = {"cycle", "walk", "signal", "awake", "job", "write", "wait"};
constexpr const char* unknown = "No such recording: it isn't the last that was started";
// On the wire. A reader may ask for several at once: then all have to fit into a socket's buffer.
constexpr size_t most_page_bytes = 32768, record_bytes = 40;

int32_t as_int(uint64_t count) noexcept {
    return int32_t(std::min<uint64_t>(count, INT32_MAX));
}

class StartTrace final : public OscJob {
public:
    using OscJob::OscJob;

private:
    Status begin(Engine& engine) noexcept override {
        if (!engine.settings().real_time)
            return fail("Only what plays is recorded");
        SCS_UNPROVEN_BEGIN // it was null
        trace_ = engine.trace();
        SCS_UNPROVEN_END
        return {};
    }
    void do_work() override {
        if (!trace_->has_rings())
            rings_ = std::make_unique<Trace::Rings>(trace_->threads());
    }
    void install(Engine&) noexcept override { number_ = trace_->start(rings_); }
    void answer_done(ReplyPort& port) override {
        if (number_ == 0) {
            port.fail(from(), name(), "Another client records");
            return;
        }
        trace_->begin_reading();
        port.done(from(), name(), number_);
    }

    std::shared_ptr<Trace> trace_;
    std::unique_ptr<Trace::Rings> rings_;
    int32_t number_ = 0;
};

/// The data loop says whether it may be read, and the OSC thread reads.
class ReadTrace final : public OscCommand {
public:
    using OscCommand::OscCommand;

    Outcome run(Engine& engine) noexcept override {
        if (!rejection().ok())
            return ended(rejection(), engine);
        SCS_UNPROVEN_BEGIN // it was null
        trace_ = engine.trace();
        SCS_UNPROVEN_END
        known_ = trace_->read_by(number());
        on_ = trace_->on();
        return known_ ? Outcome::reply : ended(fail(unknown), engine);
    }
    void answer(ReplyPort& port) override {
        if (known_)
            send_page(port);
        else
            OscCommand::answer(port);
    }

private:
    int32_t number() const noexcept { return args().get_int(); }

    void send_page(ReplyPort& port) {
        std::vector<ReplyArg> page(head, int32_t(0));
        std::deque<std::string> names; // what the page points to stays where it is
        size_t bytes = 0;
        const bool more = trace_->read([&](size_t thread, const TraceRecord& record) {
            if (bytes > most_page_bytes)
                return false;
            bytes += record_bytes + record.text().size();
            page.insert(page.end(), {std::string_view(kinds[size_t(record.kind)]), int32_t(thread),
                                     double(record.began - trace_->reads_from()), as_int(record.nsec), record.count});
            if (record.kind == TraceKind::job)
                page.emplace_back(std::string_view(names.emplace_back(record.text())));
            return true;
        });
        const std::array<ReplyArg, head> first{number(),      as_int(trace_->next_page()), int32_t(on_),
                                               int32_t(more), int32_t(trace_->threads()),  as_int(trace_->dropped())};
        std::copy(first.begin(), first.end(), page.begin());
        port.send(from(), "/trace_read.reply", page);
    }

    static constexpr size_t head = 6;
    std::shared_ptr<Trace> trace_;
    bool known_ = false, on_ = false;
};

Status stop_trace(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    return engine.trace()->stop(command.args().get_int()) ? Status{} : command.fail(unknown);
}

constexpr CommandSpec commands[] = {
    {.name = "/trace_start", .make = make_command<StartTrace>},
    {.name = "/trace_read", .types = "i", .make = make_command<ReadTrace>},
    {.name = "/trace_stop", .types = "i", .handler = stop_trace},
};

} // namespace

std::span<const CommandSpec> trace_commands() {
    return commands;
}

} // namespace scs::osc
