// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/schedule/help-policy.hpp"
#include "engine/schedule/helper-pool.hpp"
#include "engine/schedule/spin-pause.hpp"
#include "engine/schedule/task-graph.hpp"
#include "engine/schedule/trace.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <sched.h>
#include <vector>

namespace scs {

/// What threads of a pool do for one owner: tasks of a graph, before the owner needs them. The owner works in cycles,
/// and in rounds within these. Between two rounds, and for tasks that can't be begun yet, helpers wait without
/// sleeping, between two rounds for `patience` at most, unless they are to stay; between two cycles they sleep, if no
/// other owner calls.
///
/// A fault in a helper ends the others' help, too, and a thread that waits for what it had begun gives up (LongWait).
class Helpers {
public:
    /// [any thread of a helper, and the owner's] Does a task. `thread`: 0 the owner, from 1 on the helpers.
    using Run = void (*)(void* data, size_t thread, TaskGraph::Task) noexcept SCS_NONBLOCKING;
    /// The same: does what the owner has send() for.
    using Errand = void (*)(void* data, size_t thread) noexcept SCS_NONBLOCKING;
    struct Settings {
        int threads = 1;               ///< helpers
        int64_t patience = 200'000;    ///< ns
        int64_t longest = 20'000'000;  ///< ns that they stay, and wait for tasks; longer than a block takes
        bool lingers = false;          ///< they wait that long after a cycle, too, as the next one comes at once
        bool yields = false;           ///< a thread that waits lets others run: there is no deadline
        Trace* trace = &Trace::none(); ///< must live longer
        const HelpPolicy* policy = &HelpPolicy::usual; ///< must live longer
    };

    /// [worker] The graph and `data` must live longer. Throws if a thread can't be started.
    Helpers(TaskGraph&, Run, Errand, void* data, const Settings&, std::shared_ptr<HelperPool>);
    /// [worker] The owner must be in no round, unless leave_within() has been successful.
    ~Helpers();
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;

    /// [worker] For an owner that broke off in the midst of a round and begins no other: tells the helpers to leave it,
    /// and waits for at most `nsec` until they have. false: some helpers didn't leave, as a task of theirs doesn't end;
    /// all that they use must stay.
    bool leave_within(int64_t nsec) noexcept;

    /// [any] Whether a helper has crashed, or was ended as it took too long. What it had begun is never done.
    bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
    /// Whether the owner doesn't wait for ever.
    bool hurried() const noexcept { return pool_->hurried(); }
    /// HelpPolicy::longest_hang
    int64_t longest_hang() const noexcept { return settings_.policy->longest_hang; }
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
    /// Has the helpers look at the graph, in which a round has been opened. Those that sleep are woken in the first
    /// round of a cycle, by one system call. `patience`: ns that they wait for tasks of it that can't be begun yet.
    void begin_round(int64_t patience) noexcept SCS_NONBLOCKING;
    void begin_round() noexcept { begin_round(settings_.longest); }
    /// Until the end of the cycle helpers wait for another round however long that takes, as nothing wakes them again.
    void stay() noexcept { stays_.store(true, std::memory_order_relaxed); }
    /// TaskGraph::commit().
    void commit(size_t strands) noexcept {
        if (graph_.commit(strands))
            come_to(HelpPolicy::Moment::gate);
    }
    /// To be called again and again until a chain is closed, which it returns: no thread is in a task of it any more.
    /// Meanwhile does another task, or waits for less than a microsecond if there is none.
    bool wait_for(size_t chain) noexcept SCS_NONBLOCKING;
    /// Does a task that may be begun. false: there is none.
    bool do_task() noexcept { return do_task(0, 0); }
    /// Has a helper do an errand, as it has what that takes in its core's cache. If the helper doesn't come within some
    /// microseconds, the owner does it.
    void send(size_t thread) noexcept SCS_NONBLOCKING;
    /// To be called again and again until the errand is done, which it returns. Waits for less than a microsecond.
    bool back() noexcept SCS_NONBLOCKING;

    /// [any thread of a helper, and the owner's] Looks for less than a microsecond, apart from what it takes to look,
    /// whether something is there.
    template <class IsThere>
    bool wait_briefly(IsThere&& is_there) const noexcept SCS_NONBLOCKING {
        for (int i = 0; i < looks_at_once; ++i) {
            if (is_there())
                return true;
            spin_pause();
        }
        SCS_UNPROVEN_BEGIN // only where nobody hears it
        if (settings_.yields)
            sched_yield();
        SCS_UNPROVEN_END
        return false;
    }

private:
    friend HelperPool;
    static constexpr int looks_at_once = 32;
    struct alignas(cache_line) Hand {
        TaskGraph::Hand of;
    };

    size_t threads() const noexcept { return size_t(settings_.threads); }
    void come_to(HelpPolicy::Moment moment) const noexcept SCS_NONBLOCKING {
        if (settings_.policy->at)
            settings_.policy->at(moment);
    }

    // ---- a helper's, with its number

    /// Does what there is to do, until there is nothing more in this cycle, or another owner calls. `round`: the one it
    /// comes to, then the last one that it has seen. `others`: how often other owners have called. false: it has waited
    /// for another round in vain.
    bool help(size_t thread, uint32_t& round, uint32_t others) noexcept;
    bool work(size_t thread, uint32_t& round, uint32_t others) noexcept;
    bool do_all(size_t thread) noexcept;
    bool do_task(size_t thread, size_t from) noexcept SCS_NONBLOCKING;
    bool do_errand(size_t thread) noexcept;
    int64_t patience_of(size_t thread) const noexcept;
    /// It has crashed.
    void fail() noexcept {
        failed_.store(true, std::memory_order_relaxed);
        closed_.store(true, std::memory_order_relaxed);
    }

    TaskGraph& graph_;
    Run run_;
    Errand do_;
    void* data_;
    Settings settings_;
    const std::shared_ptr<HelperPool> pool_;
    std::vector<Hand> hands_;              ///< the owner's and the helpers'
    HelperPool::Caller* caller_ = nullptr; ///< null: no thread helps
    bool wakes_ = false;                   ///< the next round is a cycle's first
    alignas(cache_line) std::atomic<bool> closed_{false}, failed_{false}, stays_{false};
    std::atomic<int64_t> patience_{0};                  ///< ns, of this round
    alignas(cache_line) std::atomic<size_t> errand_{0}; ///< whose; 0: there is none
};

} // namespace scs
