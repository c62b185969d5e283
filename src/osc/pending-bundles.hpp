// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

namespace scs {
class Engine;
}

namespace scs::osc {

/// The bundles from when they are decoded until the engine has retired them: first they wait here, then the engine has
/// them. Counts them by what they wait for, which decides whether more can be taken and whether the data loop has
/// anything to do for us. [osc]
class PendingBundles {
public:
    /// Whether so many more can be taken, `scheduled` of them for a later time.
    bool have_room_for(size_t bundles, size_t scheduled) const noexcept;
    void push_back(std::unique_ptr<CommandBundle>);
    /// To be run before all others.
    void push_front(std::unique_ptr<CommandBundle>);

    /// Whether there is one that the engine doesn't have yet.
    bool any_waiting() const noexcept { return !waiting_.empty(); }
    /// Gives the first one that waits to the engine. False: its queue is full, and the bundle waits on.
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
    /// Those that wait here, and those that the engine runs as soon as it can.
    size_t waiting_or_immediate() const noexcept { return waiting_.size() + immediate_; }
    /// Whether the engine has nothing to run but what is for a later time, and no job is under way.
    bool engine_is_idle() const noexcept { return immediate_ == 0 && open_jobs_ == 0; }
    /// Whether the next step is the data loop's: to take something in, to run it, or to finish a job that the worker,
    /// which still has `worker_jobs`, has done.
    bool await_data_loop(int worker_jobs) const noexcept;
    /// The earliest time that a bundle with the engine is for.
    std::optional<NtpTime> next_time() const noexcept;

private:
    std::deque<std::unique_ptr<CommandBundle>> waiting_;
    size_t submitted_ = 0;
    size_t immediate_ = 0;         ///< of the submitted ones, those for no later time
    std::multiset<NtpTime> times_; ///< of the other submitted ones
    size_t scheduled_ = 0;         ///< those for a later time, waiting or submitted
    int open_jobs_ = 0;            ///< commands with the worker or on the way back from it
};

} // namespace scs::osc
