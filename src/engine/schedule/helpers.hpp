// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/guard/fault-guard.hpp"
#include "engine/schedule/job-list.hpp"
#include "engine/schedule/spin-pause.hpp"
#include "engine/schedule/thread-maker.hpp"
#include "engine/schedule/trace.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <sched.h>
#include <vector>

namespace scs {

/// Threads that do jobs of a list before their owner needs them. The owner works in cycles, and in rounds within these.
/// Between two rounds, and for gates to open, the helpers wait without sleeping, between two rounds for `patience` at
/// most; between two cycles they sleep.
///
/// All that helpers do is host code under guard. A fault in one ends it, and the others with it, and whoever waits for
/// what it had begun gives up (LongWait).
class Helpers {
public:
    /// [any thread of a helper, and the owner's] Does a job. `who`: 0 the owner, from 1 on the helpers.
    using Run = void (*)(void* data, size_t who, size_t job) noexcept;
    /// The same: does what the owner has send() for.
    using Errand = void (*)(void* data, size_t who) noexcept;
    struct Settings {
        int threads = 1;            ///< helpers
        int64_t patience = 200'000; ///< ns
        bool lingers = false;       ///< they wait so long after a cycle, too, as the next one comes at once
        bool yields = false;        ///< who waits lets others run: there is no deadline
        /// The owner doesn't wait for ever, and what helpers do ends if it takes too long, as FaultGuard has it. A
        /// helper that can't be watched, as the system has no timer left, doesn't help.
        bool hurried = false;
        bool asks_priority = false;    ///< urgent() is asked for
        Trace* trace = &Trace::none(); ///< must live longer
    };

    /// [worker] The list and `data` must live longer. Throws if a thread can't be started.
    Helpers(JobList&, Run, Errand, void* data, const Settings&, std::shared_ptr<ThreadMaker>);
    /// [worker] Ends the threads. The owner must be in no round, unless end_within() has ended all of them.
    ~Helpers();
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;

    /// [worker] For an owner that broke off in the midst of a round and begins no other: tells the threads to end, and
    /// waits for that for `nsec` at most. false: some are in a job that doesn't end, and are left behind; all that they
    /// use must stay. They end when they can.
    bool end_within(int64_t nsec) noexcept;

    /// [any] Whether a helper has crashed, or was ended as it took too long. What it had begun is never done.
    bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
    bool hurried() const noexcept { return settings_.hurried; }
    /// [any] Whether all helpers have found that they have the priority that they need, ThreadMaker::urgent().
    bool urgent() const noexcept { return urgent_.load(std::memory_order_relaxed) == helpers_.size(); }

    // ---- the owner's, [rt]

    /// From now on rounds may come. Makes no system call.
    void begin_cycle() noexcept {
        wakes_ = true;
        active_.store(true, std::memory_order_relaxed);
    }
    void end_cycle() noexcept { active_.store(false, std::memory_order_relaxed); }
    /// Has the helpers look at the list, which has been opened. Those that sleep are woken in the first round of a
    /// cycle, by one system call.
    void begin_round() noexcept;
    /// JobList::pass().
    void pass(size_t jobs) noexcept {
        if (list_.pass(jobs))
            if (const auto wait = delay.load(std::memory_order_relaxed))
                wait(Moment::gate);
    }
    /// To be called again and again until a job is done that somebody has begun, which it returns. Meanwhile does
    /// another job, or waits for less than a microsecond if all are begun.
    bool wait_for(size_t job) noexcept;
    /// Has a helper do an errand, as it has what that takes in its core's cache. If the helper doesn't come within some
    /// microseconds, the owner does it.
    void send(size_t who) noexcept;
    /// To be called again and again until the errand is done, which it returns. Waits for less than a microsecond.
    bool back() noexcept;

    /// [any thread of a helper, and the owner's] Looks for less than a microsecond, apart from what it takes to look,
    /// whether something is there.
    template <class IsThere>
    bool wait_briefly(IsThere&& is_there) const noexcept {
        for (int i = 0; i < looks_at_once; ++i) {
            if (is_there())
                return true;
            spin_pause();
        }
        if (settings_.yields)
            sched_yield();
        return false;
    }

    /// For tests: called on helpers before and after each job, on the owner when it has begun a round and when it has
    /// opened gates.
    enum class Moment { job, round, gate };
    static std::atomic<void (*)(Moment) noexcept> delay;

private:
    static constexpr int looks_at_once = 32;
    struct alignas(cache_line) Helper {
        Helpers* pool;
        size_t number; ///< from 1 on
        void* thread = nullptr;
        std::atomic<bool> left{false}; ///< it touches nothing any more
        int64_t awake = 0;             ///< since when, if that is traced
        JobList::Looked looked;
        FaultGuard::SecondStack second_stack;
    };
    void serve(Helper&) noexcept;
    void await_priority() noexcept;
    void work(Helper&) noexcept;
    void do_job(Helper&, size_t job) noexcept;
    void do_errand(const Helper&) noexcept;
    /// Does jobs whose gates open, and returns when there is another round than `seen`, or the end.
    void wait_for_round(Helper&, uint32_t seen) noexcept;
    void tell_end() noexcept;
    void join() noexcept;

    JobList& list_;
    Run run_;
    Errand do_;
    void* data_;
    Settings settings_;
    std::shared_ptr<ThreadMaker> maker_;
    std::vector<Helper> helpers_;
    std::atomic<size_t> urgent_{0}; ///< so many have
    bool wakes_ = false;            ///< the next round is a cycle's first
    JobList::Looked looked_;        ///< the owner
    alignas(cache_line) std::atomic<uint32_t> round_{0};
    std::atomic<bool> active_{false}, ending_{false}, failed_{false};
    alignas(cache_line) std::atomic<uint32_t> sleeping_{0};
    alignas(cache_line) std::atomic<size_t> errand_{0}; ///< whose; 0: there is none
};

} // namespace scs
