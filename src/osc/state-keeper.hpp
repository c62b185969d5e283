// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"
#include "engine/messages/handback-list.hpp"
#include "osc/server-state.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace scs::osc {

class Clients;
class StatePage;

/// Has the tree copied now and then, page by page, so that it can be made anew when the engine breaks. [osc] where
/// nothing else is said.
class StateKeeper {
public:
    using Clock = std::chrono::steady_clock;

    /// `always`: whenever something has changed; else only for wait_for_copy().
    explicit StateKeeper(bool always) : always_(always) {}

    /// A node has come, gone or moved.
    void note_change() noexcept { changed_ = always_; }
    /// The engine is done with a bundle.
    void note_end(const CommandBundle& bundle) noexcept {
        for (const Command* command = bundle.first; command && !changed_; command = command->next)
            if (command->may_change())
                note_change();
    }
    /// A bundle that copies the next page, for the engine to run at once; null: it isn't time for one yet.
    /// note_asked() says that it was given.
    std::unique_ptr<CommandBundle> next_query(int control_buses, const Clients&, Clock::time_point now);
    void note_asked() noexcept { asked_ = true; }
    /// How many copies are complete. [any]
    uint64_t copies() const noexcept { return copies_.load(std::memory_order_acquire); }
    /// How long until there is another one; none: nothing has to be copied.
    std::optional<std::chrono::microseconds> time_to_next(Clock::time_point now) const noexcept;
    /// Keeps the job until a copy that begins from now on is complete; then it comes from take_ready().
    void wait_for_copy(Command& job) noexcept { waiting_.push_back(&job); }
    /// Whether it has jobs: then those that come later have to wait, too.
    bool has_jobs() const noexcept { return !waiting_.empty() || !served_.empty() || !ready_.empty(); }
    Handback* take_ready() noexcept { return ready_.pop_front(); }
    /// There will be no copy any more: all jobs come from take_ready().
    void end_waiting() noexcept;
    /// The engine broke: what was asked of it never comes back.
    void forget_engine() noexcept;

    /// [any] The last complete copy; null: there is none yet.
    std::shared_ptr<const TreeState> latest() const;
    /// [any] The same, and forgets it: it is of an engine that broke.
    std::shared_ptr<const TreeState> take_latest() noexcept;

private:
    void take_page();
    bool append_page() noexcept;
    void note_logins(const Clients&);

    const bool always_;
    bool changed_ = false;
    std::shared_ptr<StatePage> page_;
    bool asked_ = false;                    ///< the engine has the page
    std::unique_ptr<TreeState> growing_;    ///< null: no copy is under way
    Clock::time_point next_{};              ///< when the next page is asked for at the earliest
    int pages_ = 0;                         ///< of this copy
    HandbackList waiting_, served_, ready_; ///< for the next copy, for this one, whose copy is complete
    mutable std::mutex mutex_;
    std::shared_ptr<const TreeState> latest_;
    std::vector<LoginState> logins_;
    std::atomic<uint64_t> copies_{0};
};

} // namespace scs::osc
