// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/helpers.hpp"
#include "engine/base/nonblocking.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/rt/deadline.hpp"

#include <utility>

namespace scs {
namespace {

constexpr int errand_pauses = 128; ///< until the owner does an errand itself
constexpr size_t errand_begun = SIZE_MAX;

} // namespace

Helpers::Helpers(TaskGraph& graph, Run run, Errand errand, void* data, const Settings& settings,
                 std::shared_ptr<HelperPool> pool)
    : graph_(graph),
      run_(run),
      do_(errand),
      data_(data),
      settings_(settings),
      pool_(std::move(pool)),
      hands_(size_t(settings.threads) + 1) {
    for (size_t thread = 0; thread < hands_.size(); ++thread)
        hands_[thread].of.thread = thread;
    caller_ = pool_->join(size_t(settings.threads));
    if (caller_)
        caller_->owner.store(this, std::memory_order_release);
}

Helpers::~Helpers() {
    closed_.store(true, std::memory_order_relaxed);
    (void)pool_->leave(*this, caller_, -1);
}

bool Helpers::leave_within(int64_t nsec) noexcept {
    closed_.store(true, std::memory_order_relaxed);
    return pool_->leave(*this, caller_, nsec);
}

// ---- the owner's

void Helpers::begin_round(int64_t patience) noexcept {
    patience_.store(patience, std::memory_order_relaxed);
    const int64_t traced = settings_.trace->begin();
    const bool wakes = std::exchange(wakes_, false);
    if (caller_)
        pool_->call(*caller_, wakes);
    settings_.trace->end(0, TraceKind::signal, traced);
    come_to(HelpPolicy::Moment::round);
}

bool Helpers::wait_for(size_t chain) noexcept {
    if (graph_.close(chain))
        return true;
    if (do_task(0, chain + 1))
        return graph_.close(chain);
    return wait_briefly([&] { return graph_.close(chain); });
}

void Helpers::send(size_t thread) noexcept {
    errand_.store(thread, std::memory_order_release);
    for (int i = 0; i < errand_pauses && errand_.load(std::memory_order_relaxed) == thread; ++i)
        spin_pause();
    size_t waiting = thread;
    if (errand_.compare_exchange_strong(waiting, 0, std::memory_order_acquire))
        do_(data_, 0);
}

bool Helpers::back() noexcept {
    return wait_briefly([&] { return !errand_.load(std::memory_order_acquire); });
}

// ---- a helper's

bool Helpers::help(size_t thread, uint32_t& round, uint32_t others) noexcept {
    const int64_t traced = settings_.trace->begin();
    const bool elsewhere = work(thread, round, others);
    settings_.trace->end(thread, TraceKind::awake, traced);
    return elsewhere;
}

bool Helpers::work(size_t thread, uint32_t& round, uint32_t others) noexcept {
    const NanoClock clock = NanoClock::system();
    int64_t idle_since = clock.now();
    do {
        FaultGuard::progress();
        bool idle = true;
        for (int i = 0; i < looks_at_once; ++i) {
            if (closed_.load(std::memory_order_relaxed))
                return false;
            // An owner counts its own round first, so that no helper takes that for another's.
            const uint32_t calls = pool_->calls();
            const bool new_round = std::exchange(round, caller_->round.load(std::memory_order_acquire)) != round;
            if (do_all(thread) || new_round)
                idle = false;
            else if (calls - round != others && !graph_.stages_left())
                return true;
            spin_pause();
        }
        const int64_t now = clock.now();
        if (!idle)
            idle_since = now;
        // If nothing has come for that long, the owner has most likely broken off the round, or does these tasks
        // itself.
        if (now - idle_since >= patience_of(thread))
            return false;
        if (settings_.yields && idle && graph_.stages_left())
            sched_yield();
    } while (caller_->in_cycle.load(std::memory_order_relaxed));
    return true;
}

int64_t Helpers::patience_of(size_t thread) const noexcept {
    if (graph_.any_left(hands_[thread].of))
        return patience_.load(std::memory_order_relaxed);
    return stays_.load(std::memory_order_relaxed) ? settings_.longest : settings_.patience;
}

/// What may be begun now. false: there was nothing.
bool Helpers::do_all(size_t thread) noexcept {
    bool found = do_errand(thread);
    while (!closed_.load(std::memory_order_relaxed) && do_task(thread, 0))
        found = true;
    return found;
}

bool Helpers::do_task(size_t thread, size_t from) noexcept {
    const TaskGraph::Task task = graph_.take(hands_[thread].of, from);
    if (task.chain == TaskGraph::none)
        return false;
    FaultGuard::progress();
    if (thread)
        (void)do_errand(thread);
    come_to(thread ? HelpPolicy::Moment::task : HelpPolicy::Moment::gate);
    run_(data_, thread, task);
    graph_.finish(task.chain);
    if (thread)
        come_to(HelpPolicy::Moment::task);
    return true;
}

/// false: there was none.
bool Helpers::do_errand(size_t thread) noexcept {
    size_t mine = thread;
    if (errand_.load(std::memory_order_relaxed) != mine ||
        !errand_.compare_exchange_strong(mine, errand_begun, std::memory_order_acquire))
        return false;
    do_(data_, thread);
    errand_.store(0, std::memory_order_release);
    return true;
}

} // namespace scs
