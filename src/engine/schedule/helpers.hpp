// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/schedule/helper-pool.hpp"
#include "engine/schedule/job-list.hpp"
#include "engine/schedule/spin-pause.hpp"
#include "engine/schedule/trace.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <sched.h>
#include <vector>

namespace scs {

/// What threads of a pool do for one owner: jobs of a list, before the owner needs them. The owner works in cycles, and
/// in rounds within these. Between two rounds, and for gates to open, helpers wait without sleeping, between two rounds
/// for `patience` at most, unless they are to stay; between two cycles they sleep, if no other owner calls.
///
/// A fault in a helper ends the others' help, too, and whoever waits for what it had begun gives up (LongWait).
class Helpers {
public:
    /// [any thread of a helper, and the owner's] Does a job. `who`: 0 the owner, from 1 on the helpers.
    using Run = void (*)(void* data, size_t who, size_t job) noexcept;
    /// The same: does what the owner has send() for.
    using Errand = void (*)(void* data, size_t who) noexcept;
    struct Settings {
        int threads = 1;               ///< helpers
        int64_t patience = 200'000;    ///< ns
        int64_t longest = 20'000'000;  ///< ns that they stay, and wait for gates; longer than a block takes
        bool lingers = false;          ///< they wait so long after a cycle, too, as the next one comes at once
        bool yields = false;           ///< who waits lets others run: there is no deadline
        Trace* trace = &Trace::none(); ///< must live longer
    };

    /// [worker] The list and `data` must live longer. Throws if a thread can't be started.
    Helpers(JobList&, Run, Errand, void* data, const Settings&, std::shared_ptr<HelperPool>);
    /// [worker] The owner must be in no round, unless leave_within() has been successful.
    ~Helpers();
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;

    /// [worker] For an owner that broke off in the midst of a round and begins no other: tells the helpers to leave it,
    /// and waits for that for `nsec` at most. false: some are in a job that doesn't end, and are left behind; all that
    /// they use must stay.
    bool leave_within(int64_t nsec) noexcept;

    /// [any] Whether a helper has crashed, or was ended as it took too long. What it had begun is never done.
    bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
    /// Whether the owner doesn't wait for ever.
    bool hurried() const noexcept { return pool_->hurried(); }
    /// [any] HelperPool::urgent() of these helpers.
    bool urgent() const noexcept { return pool_->urgent(size_t(settings_.threads)); }

    // ---- the owner's, [rt]

    /// From now on rounds may come. Makes no system call.
    void begin_cycle() noexcept {
        wakes_ = true;
        if (caller_)
            caller_->in_cycle.store(true, std::memory_order_relaxed);
    }
    void end_cycle() noexcept {
        stays_.store(false, std::memory_order_relaxed);
        if (caller_ && !settings_.lingers)
            caller_->in_cycle.store(false, std::memory_order_relaxed);
    }
    /// Has the helpers look at the list, which has been opened. Those that sleep are woken in the first round of a
    /// cycle, by one system call.
    void begin_round() noexcept;
    /// Until the end of the cycle helpers wait for another round however long that takes, as nobody wakes them again.
    void stay() noexcept { stays_.store(true, std::memory_order_relaxed); }
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
    friend HelperPool;
    static constexpr int looks_at_once = 32;
    struct alignas(cache_line) Hand {
        JobList::Looked looked;
    };
    enum class Next { round, elsewhere, sleep };

    size_t threads() const noexcept { return size_t(settings_.threads); }

    // ---- a helper's, with its number

    /// Does what there is to do, until there is nothing more in this cycle, or another owner calls. `round`: the one it
    /// comes to, then the last one that it has seen. `others`: how often other owners have called. false: it has waited
    /// for another round in vain.
    bool help(size_t who, uint32_t& round, uint32_t others) noexcept;
    void do_jobs(size_t who) noexcept;
    void do_job(size_t who, size_t job) noexcept;
    bool do_errand(size_t who) noexcept;
    Next wait_for_round(size_t who, uint32_t round, uint32_t others) noexcept;
    /// It has crashed.
    void fail() noexcept {
        failed_.store(true, std::memory_order_relaxed);
        closed_.store(true, std::memory_order_relaxed);
    }

    JobList& list_;
    Run run_;
    Errand do_;
    void* data_;
    Settings settings_;
    const std::shared_ptr<HelperPool> pool_;
    std::vector<Hand> hands_;              ///< the owner's and the helpers'
    HelperPool::Caller* caller_ = nullptr; ///< null: nobody helps
    bool wakes_ = false;                   ///< the next round is a cycle's first
    alignas(cache_line) std::atomic<bool> closed_{false}, failed_{false}, stays_{false};
    alignas(cache_line) std::atomic<size_t> errand_{0}; ///< whose; 0: there is none
};

} // namespace scs
