// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/command-runner.hpp"

#include "engine/base/engine-status.hpp"
#include "engine/base/settings.hpp"
#include "engine/definitions/definitions.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/events.hpp"
#include "engine/messages/inbox.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/rt/clock.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/tree/tree.hpp"

#include <cstring>
#include <set>
#include <utility>

namespace scs {
namespace {

constexpr int64_t bundle_cost = 500; ///< ns, an estimate for the deadline

CommandBundle* root_of(CommandBundle* bundle) noexcept {
    while (bundle->outer)
        bundle = bundle->outer;
    return bundle;
}

} // namespace

CommandRunner::CommandRunner(Engine& engine, const Settings& settings, Inbox& inbox, Outbox& outbox, Deadline& deadline,
                             Tree& tree, PluginWorld& world, Definitions& definitions, EngineStatus& status)
    : engine_(engine),
      block_size_(settings.block_size),
      real_time_(settings.real_time),
      inbox_(inbox),
      outbox_(outbox),
      deadline_(deadline),
      tree_(tree),
      world_(world),
      definitions_(definitions),
      status_(status),
      scheduler_(inbox.most_bundles()) {}

// ---- commands of a bundle, or of a job that is done: false if there was no time for all of them

bool CommandRunner::start(Command* command) noexcept {
    FaultGuard::progress();
    switch (command->run(engine_)) {
    case Outcome::done: return true;
    case Outcome::again: return false;
    case Outcome::reply: outbox_.hand_back(command, Handback::Kind::reply); return true;
    case Outcome::job:
        ++root_of(command->bundle)->outstanding;
        if (real_time_) {
            outbox_.hand_back(command, Handback::Kind::job);
        } else {
            const Performance outer = performance_;
            SCS_UNPROVEN_BEGIN // nobody hears this engine
            command->work();
            (void)finish(command); // offline there is always time
            SCS_UNPROVEN_END
            performance_ = outer;
        }
        return true;
    }
    return true;
}

bool CommandRunner::go_on() noexcept {
    for (; performance_.next; performance_.next = performance_.next->next)
        if (!tree_.freeing().finish() || deadline_.spend(Deadline::unknown) || !start(performance_.next))
            return false;
    if (!tree_.freeing().finish())
        return false;
    if (!performance_.bundle)
        return true;
    const Performance done = std::exchange(performance_, {});
    if (!done.finished)
        error_mode_.local = 0;
    else if (!done.finished->bundle)
        done.finished->dispose();
    else if (done.replies)
        outbox_.hand_back(done.finished, Handback::Kind::reply);
    settle(root_of(done.bundle));
    return true;
}

bool CommandRunner::perform(CommandBundle* bundle) noexcept {
    bundle->outstanding = 1; // counts the run itself
    performance_ = {bundle, bundle->first, nullptr, false};
    return go_on();
}

bool CommandRunner::finish(Command* command) noexcept {
    const Outcome outcome = command->apply(engine_);
    CommandBundle* const bundle = command->bundle;
    if (!bundle)
        return finish_own(command, std::exchange(command->completion, nullptr));
    performance_ = {bundle, nullptr, command, outcome == Outcome::reply};
    if (command->completion && command->run_completion) {
        command->completion->outer = bundle;
        performance_.next = command->completion->first;
    }
    return go_on();
}

/// Of a plugin's own command.
bool CommandRunner::finish_own(Command* command, CommandBundle* completion) noexcept {
    if (!completion) {
        command->dispose();
        return true;
    }
    completion->outstanding = 1; // counts the run itself
    performance_ = {completion, command->run_completion ? completion->first : nullptr, command, false};
    return go_on();
}

void CommandRunner::settle(CommandBundle* root) noexcept {
    if (--root->outstanding > 0)
        return;
    inbox_.retire();
    outbox_.hand_back(root, Handback::Kind::retired);
}

// ---- which are next

bool CommandRunner::accept(CommandBundle* bundle, NtpTime now) noexcept {
    const bool scheduled = bundle->time > immediately;
    if (scheduled && bundle->time >= now && scheduler_.add(bundle))
        return true;
    if (scheduled && now) {
        const LateEvent event{{EventKind::late, sizeof event}, ntp_seconds_between(bundle->time, now)};
        outbox_.notify(event);
        status_.late_bundles.fetch_add(1, std::memory_order_relaxed);
    }
    if (real_time_)
        return perform(bundle);
    // The start of a score is a time like others. scsynth adds half a frame to each before it drops the fraction.
    world_.set_offset(0, 0.5f);
    const bool whole = perform(bundle);
    world_.set_offset(0, 0.f);
    return whole;
}

bool CommandRunner::take_in(NtpTime now) noexcept {
    bool whole = go_on();
    for (size_t n = 0; whole && n < 2 * inbox_.most_bundles(); ++n) {
        if (deadline_.spend(bundle_cost))
            return true;
        if (Command* result = inbox_.take_result())
            whole = finish(result);
        else if (CommandBundle* bundle = inbox_.take_bundle())
            whole = accept(bundle, now);
        else
            return true;
    }
    return whole;
}

bool CommandRunner::run_due(NtpTime start, double rate) noexcept {
    bool whole = true;
    while (whole && is_due(start, rate)) {
        CommandBundle* bundle = scheduler_.take();
        float fraction;
        const int frame = frame_in_block(bundle->time, start, rate, block_size_, &fraction);
        world_.set_offset(frame, fraction);
        whole = perform(bundle);
    }
    world_.set_offset(0, 0.f);
    return whole;
}

bool CommandRunner::is_due(NtpTime start, double rate) const noexcept {
    const NtpTime next = start + NtpTime(block_size_ * 0x1p32 / rate);
    return !scheduler_.empty() && scheduler_.next_time() <= next;
}

// ---- dropping

bool CommandRunner::clear_schedule() noexcept {
    while (!scheduler_.empty()) {
        if (deadline_.spend(bundle_cost))
            return false;
        CommandBundle* bundle = scheduler_.take();
        bundle->outstanding = 1;
        settle(bundle);
    }
    return true;
}

bool CommandRunner::free_definitions() noexcept {
    Definition* unused = nullptr;
    while (!deadline_.spend(bundle_cost)) {
        if (!definitions_.remove_any(unused))
            return true;
        if (unused)
            outbox_.hand_back(unused, Handback::Kind::release);
    }
    return false;
}

void CommandRunner::delete_unfinished(const std::function<void(const std::string&)>& tell) {
    // A bundle whose job was under way is known only through that job.
    std::set<Handback*> orphans;
    const auto adopt = [&](Command* command) {
        if (command->bundle) {
            orphans.insert(root_of(command->bundle));
            return;
        }
        if (command->completion)
            orphans.insert(std::exchange(command->completion, nullptr));
        command->dispose();
    };
    if (performance_.bundle)
        orphans.insert(root_of(performance_.bundle));
    if (performance_.finished && !performance_.finished->bundle)
        performance_.finished->dispose();
    while (Command* command = inbox_.take_result())
        adopt(command);
    while (CommandBundle* bundle = inbox_.take_bundle())
        orphans.insert(bundle);
    RecordRing& ring = outbox_.ring();
    do {
        outbox_.flush();
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
            } else if (header.kind == EventKind::complain && tell) {
                const auto text = record.subspan(sizeof header);
                tell({reinterpret_cast<const char*>(text.data()), text.size()});
            }
            ring.pop();
        }
    } while (outbox_.waiting());
    for (Handback* orphan : orphans)
        delete orphan;
}

} // namespace scs
