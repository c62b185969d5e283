// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/helpers.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/rt/deadline.hpp"

#include <utility>

namespace scs {
namespace {

constexpr int errand_pauses = 128; ///< until the owner does an errand itself
constexpr size_t errand_begun = SIZE_MAX;

void delay_for_test(Helpers::Moment moment) noexcept {
    if (const auto delay = Helpers::delay.load(std::memory_order_relaxed))
        delay(moment);
}

} // namespace

std::atomic<void (*)(Helpers::Moment) noexcept> Helpers::delay{nullptr};

Helpers::Helpers(JobList& list, Run run, Errand errand, void* data, const Settings& settings,
                 std::shared_ptr<HelperPool> pool)
    : list_(list),
      run_(run),
      do_(errand),
      data_(data),
      settings_(settings),
      pool_(std::move(pool)),
      hands_(size_t(settings.threads) + 1) {
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

void Helpers::begin_round() noexcept {
    const int64_t traced = settings_.trace->begin();
    const bool wakes = std::exchange(wakes_, false);
    if (caller_)
        pool_->call(*caller_, wakes);
    settings_.trace->end(0, TraceKind::signal, traced);
    delay_for_test(Moment::round);
}

bool Helpers::wait_for(size_t job) noexcept {
    if (list_.done(job))
        return true;
    size_t other = list_.take_ahead(job);
    if (other == JobList::none)
        other = list_.take_gated(hands_[0].looked);
    if (other != JobList::none) {
        run_(data_, 0, other);
        list_.finish(other);
        return list_.done(job);
    }
    return wait_briefly([&] { return list_.done(job); });
}

void Helpers::send(size_t who) noexcept {
    errand_.store(who, std::memory_order_release);
    for (int i = 0; i < errand_pauses && errand_.load(std::memory_order_relaxed) == who; ++i)
        spin_pause();
    size_t waiting = who;
    if (errand_.compare_exchange_strong(waiting, 0, std::memory_order_acquire))
        do_(data_, 0);
}

bool Helpers::back() noexcept {
    return wait_briefly([&] { return !errand_.load(std::memory_order_acquire); });
}

// ---- a helper's

bool Helpers::help(size_t who, uint32_t& round, uint32_t others) noexcept {
    const int64_t traced = settings_.trace->begin();
    do_jobs(who);
    Next next;
    while ((next = wait_for_round(who, round, others)) == Next::round) {
        round = caller_->round.load(std::memory_order_acquire);
        do_jobs(who);
    }
    settings_.trace->end(who, TraceKind::awake, traced);
    return next == Next::elsewhere;
}

void Helpers::do_jobs(size_t who) noexcept {
    JobList::Place place = list_.place(who - 1, size_t(settings_.threads));
    while (!closed_.load(std::memory_order_relaxed)) {
        const size_t job = list_.take_next(place);
        if (job == JobList::none)
            return;
        do_job(who, job);
    }
}

void Helpers::do_job(size_t who, size_t job) noexcept {
    FaultGuard::progress();
    (void)do_errand(who);
    delay_for_test(Moment::job);
    run_(data_, who, job);
    list_.finish(job);
    delay_for_test(Moment::job);
}

/// false: there was none.
bool Helpers::do_errand(size_t who) noexcept {
    size_t mine = who;
    if (errand_.load(std::memory_order_relaxed) != mine ||
        !errand_.compare_exchange_strong(mine, errand_begun, std::memory_order_acquire))
        return false;
    do_(data_, who);
    errand_.store(0, std::memory_order_release);
    return true;
}

/// Meanwhile it does errands, and jobs whose gates open.
Helpers::Next Helpers::wait_for_round(size_t who, uint32_t round, uint32_t others) noexcept {
    const NanoClock clock = NanoClock::system();
    int64_t idle_since = clock.now();
    while (caller_->in_cycle.load(std::memory_order_relaxed)) {
        FaultGuard::progress();
        bool idle = true;
        for (int i = 0; i < looks_at_once; ++i) {
            // An owner counts its own round first, so that nobody takes that for another's.
            const uint32_t calls = pool_->calls();
            if (caller_->round.load(std::memory_order_acquire) != round)
                return Next::round;
            if (closed_.load(std::memory_order_relaxed))
                return Next::sleep;
            if (calls - round != others)
                return Next::elsewhere;
            idle = !do_errand(who) && idle;
            if (const size_t job = list_.take_gated(hands_[who].looked); job != JobList::none) {
                do_job(who, job);
                idle = false;
            }
            spin_pause();
        }
        const int64_t now = clock.now();
        if (!idle)
            idle_since = now;
        // If nothing has come for so long, the owner has most likely broken off the round, or does these jobs itself.
        const bool stays = stays_.load(std::memory_order_relaxed) || list_.any_gated(hands_[who].looked);
        if (now - idle_since >= (stays ? settings_.longest : settings_.patience))
            return Next::sleep;
    }
    return Next::elsewhere;
}

} // namespace scs
