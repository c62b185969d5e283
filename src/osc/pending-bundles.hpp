// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"
#include "osc/endpoint.hpp"
#include "osc/fair-queue.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

namespace scs {
class Engine;
}

namespace scs::osc {

/// The bundles from when they are decoded until the engine has retired them: first they wait here, then the engine has
/// them. Counts them by what they wait for, which decides whether more can be taken and whether the data loop has
/// anything to do for us. A sender who has much waiting leaves room for others, and doesn't delay them: the engine gets
/// no more at once than it does within a few cycles, and next what is next in fairness (FairQueue). [osc]
class PendingBundles {
public:
    /// Bytes of bundles for now, and their replies, that the engine has at once.
    static constexpr size_t most_at_once = size_t(2) << 20;

    /// Whether `bundles` more can be taken of this sender, `scheduled` of them for a later time. `free_bytes`: of the
    /// memory for packets and replies.
    bool have_room_for(const Endpoint& from, size_t bundles, size_t scheduled, size_t free_bytes) const noexcept;
    /// Whether more can be taken of a sender who needs not be refused, as what it sends can be left where it is.
    bool have_room_soon(const Endpoint& from, size_t free_bytes) const noexcept;
    /// Its `weight` is what it counts for. Its `sender` is set.
    void push_back(std::unique_ptr<CommandBundle>, const Endpoint& from);
    /// To be run before all others.
    void push_front(std::unique_ptr<CommandBundle>);

    /// Whether there is one that the engine doesn't have yet.
    bool any_waiting() const noexcept { return !waiting_.empty(); }
    /// Gives the first one that waits to the engine. False: it has enough for now, and the bundle waits on.
    bool submit_first(Engine&) noexcept;
    /// A bundle that the engine gets with a command, and not by submit_first(): for no later time.
    void note_given() noexcept;
    /// Answers all that wait with the reason why no engine will take them.
    void refuse_waiting(ReplyPort&, std::string_view why);

    /// The engine has handed back a command: as a job for the worker, or with its reply.
    void note_job(Command&) noexcept;
    void note_reply(const Command&) noexcept;
    /// The engine has retired a bundle: deletes it.
    void retire(CommandBundle*) noexcept;
    /// The engine broke: what it had never comes back.
    void forget_submitted() noexcept;

    /// Whether the engine has any.
    bool any_submitted() const noexcept { return submitted_ > 0; }
    /// Those that the engine has and runs as soon as it can.
    size_t immediate() const noexcept { return immediate_; }
    /// Whether the engine has nothing to run but what is for a later time, and no job is under way.
    bool engine_is_idle() const noexcept { return immediate_ == 0 && open_jobs_ == 0; }
    /// Whether the next step is the data loop's: to take something in, to run it, or to finish a job that the worker,
    /// which still has `worker_jobs`, has done.
    bool await_data_loop(int worker_jobs) const noexcept;
    /// The earliest time that a bundle with the engine is for.
    std::optional<NtpTime> next_time() const noexcept;

private:
    size_t free() const noexcept;
    size_t free_scheduled() const noexcept;
    size_t scheduled_of(uint64_t sender) const noexcept;
    void note_scheduled(const CommandBundle&) noexcept;
    void forget_scheduled(const CommandBundle&) noexcept;
    void uncharge(CommandBundle&) noexcept;

    FairQueue waiting_;
    size_t waiting_scheduled_ = 0;
    size_t submitted_ = 0;
    size_t charged_ = 0;           ///< bytes of the submitted ones that are run as soon as can be, but for jobs
    size_t immediate_ = 0;         ///< of the submitted ones, those for no later time
    std::multiset<NtpTime> times_; ///< of the other submitted ones
    size_t scheduled_ = 0;         ///< of the submitted ones, those for a later time …
    std::unordered_map<uint64_t, size_t> scheduled_by_; ///< … and by whom
    int open_jobs_ = 0;                                 ///< commands with the worker or on the way back from it
};

} // namespace scs::osc
