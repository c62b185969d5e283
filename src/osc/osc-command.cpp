// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/osc-command.hpp"

#include "engine/engine.hpp"
#include "engine/guard/fault-guard.hpp"
#include "osc/kept-folder.hpp"
#include "osc/reply-port.hpp"
#include "osc/server-settings.hpp"
#include "osc/status-text.hpp"

#include <exception>

namespace scs::osc {

namespace {

constexpr size_t little_room = 256; ///< for short answers, which are never refused

} // namespace

std::shared_ptr<const Packet> hold(const Services& services, Packet&& packet) {
    struct Held {
        Held(Packet&& p, const HeldTotal& total) : packet(std::move(p)), memory(total, packet.memory()) {}
        Packet packet;
        HeldMemory memory;
    };
    const auto held = std::make_shared<const Held>(std::move(packet), services.held);
    return {held, &held->packet};
}

Services::Services(const ServerSettings& s) : settings(s), keeper(s.keep != "none") {}

float* Services::allocate(int64_t samples) {
    return kept && settings.keep == "all" ? kept->allocate(samples) : allocate_samples(samples);
}

OscCommand::OscCommand(CommandInit&& init)
    : init_(std::move(init)),
      args_(init_.message->args),
      place_{args_},
      held_(init_.services->held, sizeof *this + little_room),
      room_(claim_room()),
      writer_(room_) {
    if (lacks_room_)
        rejection_ = fail("too many replies are under way");
}

size_t OscCommand::claim_room() {
    const size_t bytes = spec().reply_room ? spec().reply_room(args_) : 0;
    lacks_room_ = bytes > little_room && !held_.try_add(bytes, services().most_held);
    return lacks_room_ ? 0 : bytes;
}

Status OscCommand::unfinished() noexcept {
    unfinished_ = true;
    return {};
}

Status OscCommand::fail(const char* literal) noexcept {
    literal_ = literal;
    return {Code::failed};
}

void OscCommand::set_failure(std::string text, std::optional<int32_t> extra) {
    failure_text_ = std::move(text);
    failure_extra_ = extra;
}

std::string OscCommand::failure_text() const {
    if (failure_text_)
        return *failure_text_;
    return literal_ ? literal_ : status_text(status_);
}

std::string_view OscCommand::name_as_sent() const noexcept {
    return message().address.empty() ? name() : message().address;
}

void OscCommand::reject(Status status) noexcept {
    rejection_ = status;
}

Outcome OscCommand::ended(Status status, Engine& engine) noexcept {
    if (status.ok() && writer_.overflowed()) {
        writer_.clear();
        status = {Code::buffer_overflow};
    }
    if (status.failed() && engine.error_mode().on())
        status_ = status;
    return failed() || !writer_.bytes().empty() ? Outcome::reply : Outcome::done;
}

Outcome OscCommand::run(Engine& engine) noexcept {
    if (failed())
        return Outcome::reply;
    const Status status = rejection_.ok() ? spec().handler(*this, engine) : rejection_;
    return goes_on() ? Outcome::again : ended(status, engine);
}

void OscCommand::answer(ReplyPort& port) {
    if (!writer_.bytes().empty() && !port.send_record(from(), writer_.bytes()))
        port.fail(from(), name_as_sent(), status_text({Code::buffer_overflow}));
    if (failed())
        port.fail(from(), failure_text_ ? name() : name_as_sent(), failure_text(), failure_extra_);
}

void OscCommand::refuse(ReplyPort& port, std::string_view why) {
    port.fail(from(), name_as_sent(), why);
}

Outcome OscJob::run(Engine& engine) noexcept {
    if (failed())
        return Outcome::reply;
    const Status status = rejection().ok() ? begin(engine) : rejection();
    if (goes_on())
        return Outcome::again;
    return status.ok() ? Outcome::job : ended(status, engine);
}

void OscJob::work() noexcept {
    worked_ = true;
    const auto work = [this] {
        try {
            do_work();
        } catch (const std::exception& error) {
            set_failure(error.what());
        }
    };
    // Libraries read and write files here: if one crashes, the daemon must not.
    if (!FaultGuard::run_unhurried(work))
        set_failure("crashed");
}

Outcome OscJob::apply(Engine& engine) noexcept {
    if (failed())
        run_completion = false;
    else
        install(engine);
    return Outcome::reply;
}

void OscJob::answer(ReplyPort& port) {
    for (const std::string& text : warnings_)
        port.fail(from(), name(), text);
    if (failed() || !worked_) {
        OscCommand::answer(port);
        return;
    }
    answer_done(port);
}

void OscJob::answer_done(ReplyPort& port) {
    port.done(from(), name(), done_value_);
}

} // namespace scs::osc
