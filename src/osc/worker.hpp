// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"
#include "engine/messages/handback-list.hpp"
#include "osc/wakeup.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace scs {
class Engine;
}

namespace scs::osc {

/// The queue of slow work: the jobs of commands, and objects to delete. They are done in order, but those that run
/// plugins' code have a thread of their own, which one of them may keep busy for minutes. For a moment the others wait
/// for it, as in scsynth; then those go on that may (JobOrder).
class Worker {
public:
    /// Starts a thread that runs a function; false: there is none.
    using StartThread = std::function<bool(std::function<void()>)>;

    /// What plugins' jobs need.
    struct ForPlugins {
        StartThread start_thread;                     ///< without it they are done in place
        std::function<std::string()> owner;           ///< whose they are, for the log of another server
        std::function<void(const std::string&)> tell; ///< [any but rt] a line for the log
        int limit = 0;                                ///< seconds that one may take; 0: any
    };

    /// `done` is rung after each job; `keep` is called on the worker after note_copy().
    Worker(Wakeup& done, ForPlugins, std::function<void()> keep);
    ~Worker();

    /// [osc] Takes a command with a job to do, which stays the engine's, or something to delete; `handed_as` says
    /// which. Never fails.
    void add(Handback*) noexcept;
    /// [osc] There is a new copy of the tree.
    void note_copy() noexcept;
    /// [any] Makes run() return after its present job. The jobs left are given back to the engine undone, so that it
    /// can free them. The plugins' thread, if it is in the midst of a job, gives that back when it is done.
    void stop();
    /// [any]
    bool stopping() const noexcept { return stop_.load(std::memory_order_acquire); }
    /// [osc] Makes run() return after its present job and forgets the others: their engine broke. Nothing may be added
    /// until there is another engine.
    void abandon();
    /// [worker] Does the work until stop() or abandon().
    void run(Engine&);
    /// [worker] After abandon(): whether a plugin's job that hasn't ended may still write to this buffer.
    bool left_busy(int32_t buffer) const noexcept;
    /// [any] How many jobs wait or are being done, but for plugins' own commands without a completion.
    int jobs() const noexcept { return jobs_.load(std::memory_order_acquire); }

    /// [any] How many jobs have been done so far.
    uint64_t returned() const noexcept { return returned_.load(std::memory_order_acquire); }

private:
    using Clock = std::chrono::steady_clock;
    struct PluginThread;
    class Releases;
    struct Run;

    static bool is_counted(const Command& job) noexcept { return job.bundle || job.completion; }
    void work_in_place(Run&, Command&);
    void wait(const Run&, std::unique_lock<std::mutex>&, std::optional<Clock::time_point> until);
    Command* take_ended(Run&);
    Handback* next_task(Run&, std::optional<Clock::time_point>& until);
    std::shared_ptr<PluginThread> start_plugins(Engine&);
    bool hand_to_plugins(Run&, Command&);
    void run_plugins(PluginThread&);
    void give_back(Engine&, Command*);
    void note_busy(const Command*);
    void end(Run&);

    Wakeup& done_;
    const ForPlugins for_plugins_;
    const std::function<void()> keep_;
    std::mutex mutex_; ///< over all that follows, and what plugins' threads share
    std::condition_variable changed_;
    HandbackList tasks_;
    std::atomic<bool> stop_{false};
    bool abandon_ = false, copied_ = false;
    std::vector<int32_t> busy_; ///< buffers of the job that was left behind
    bool all_busy_ = false;     ///< it may touch any
    std::atomic<int> jobs_{0};
    std::atomic<uint64_t> returned_{0};
};

} // namespace scs::osc
