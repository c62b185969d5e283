// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"
#include "osc/wakeup.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace scs {
class Engine;
}

namespace scs::osc {

/// The queue of slow work, done in order: the jobs of commands, and objects to delete.
class Worker {
public:
    /// `done` is rung after each job.
    explicit Worker(Wakeup& done) : done_(done) {}
    ~Worker();

    /// [osc] Takes a command with a job to do, which stays the engine's, or something to delete; `handed_as` says
    /// which. Never fails.
    void add(Handback*) noexcept;
    /// [any] Makes run() return after its present job. The jobs left are given back to the engine undone, so that it
    /// can free them.
    void stop();
    /// [any]
    bool stopping() const noexcept { return stop_.load(std::memory_order_acquire); }
    /// [osc] Makes run() return after its present job and forgets the others: their engine broke. Nothing may be added
    /// until there is another engine.
    void abandon();
    /// [worker] Does the work until stop() or abandon().
    void run(Engine&);
    /// [any] How many jobs wait or are being done.
    int jobs() const noexcept { return jobs_.load(std::memory_order_acquire); }

private:
    void do_job(Engine&, Command*);

    Wakeup& done_;
    std::mutex mutex_;
    std::condition_variable changed_;
    Handback* first_ = nullptr; ///< linked by next_handback
    Handback* last_ = nullptr;
    std::atomic<bool> stop_{false};
    bool abandon_ = false;
    std::atomic<int> jobs_{0};
};

} // namespace scs::osc
