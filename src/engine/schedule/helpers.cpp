// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/helpers.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/schedule/spin-pause.hpp"

#include <climits>
#include <csignal>
#include <linux/futex.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <utility>

namespace scs {
namespace {

constexpr int errand_pauses = 128; ///< until the owner does an errand itself
constexpr size_t errand_begun = SIZE_MAX;
/// ns that a helper waits for a gate without sleeping: longer than a block takes. If it still doesn't open, the owner
/// has most likely broken off the round. Otherwise it does these jobs itself.
constexpr int64_t longest_at_gate = 20'000'000;
constexpr timespec between_looks{0, 50'000'000}; // at a helper's priority, when it has started …
constexpr int most_looks = 200;                  // … until it is known that it gets none

/// While it lives, threads that are started get no signals but the faults that they cause themselves: a blocked fault
/// ends the process without calling the handler.
class FaultsOnly {
public:
    FaultsOnly() {
        sigset_t all;
        sigfillset(&all);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
            sigdelset(&all, fault);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~FaultsOnly() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    FaultsOnly(const FaultsOnly&) = delete;
    FaultsOnly& operator=(const FaultsOnly&) = delete;

private:
    sigset_t before_;
};

void futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* longest = nullptr) noexcept {
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation | FUTEX_PRIVATE_FLAG, value, longest, nullptr, 0);
}

void delay_for_test(Helpers::Moment moment) noexcept {
    if (const auto delay = Helpers::delay.load(std::memory_order_relaxed))
        delay(moment);
}

} // namespace

std::atomic<void (*)(Helpers::Moment) noexcept> Helpers::delay{nullptr};

Helpers::Helpers(JobList& list, Run run, Errand errand, void* data, const Settings& settings,
                 std::shared_ptr<ThreadMaker> maker)
    : list_(list),
      run_(run),
      do_(errand),
      data_(data),
      settings_(settings),
      maker_(std::move(maker)),
      helpers_(size_t(settings.threads)) {
    const FaultsOnly mask;
    for (Helper& helper : helpers_) {
        helper.pool = this;
        helper.number = size_t(&helper - helpers_.data()) + 1;
        const auto body = [](void* argument) -> void* {
            auto& self = *static_cast<Helper*>(argument);
            self.pool->serve(self);
            return nullptr;
        };
        helper.thread = maker_->start(body, &helper);
        if (!helper.thread) {
            join();
            throw std::runtime_error("the threads that help could not be started");
        }
    }
}

Helpers::~Helpers() {
    join();
}

void Helpers::tell_end() noexcept {
    ending_.store(true, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_seq_cst);
    futex(round_, FUTEX_WAKE, INT_MAX);
}

bool Helpers::end_within(int64_t nsec) noexcept {
    tell_end();
    const NanoClock clock = NanoClock::system();
    const int64_t until = clock.now() + nsec;
    bool ended = true;
    for (Helper& helper : helpers_) {
        const timespec moment{0, 1'000'000};
        while (!helper.left.load(std::memory_order_acquire) && clock.now() < until)
            clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, nullptr);
        if (!helper.left.load(std::memory_order_acquire))
            ended = false;
        else if (void* thread = std::exchange(helper.thread, nullptr))
            maker_->join(thread);
    }
    return ended;
}

void Helpers::join() noexcept {
    tell_end();
    for (const Helper& helper : helpers_)
        if (helper.thread)
            maker_->join(helper.thread);
}

// ---- the owner's

void Helpers::begin_round() noexcept {
    const int64_t traced = settings_.trace->begin();
    // With seq_cst here and in wait_for_round(), either this sees that a helper sleeps, or that one sees the round.
    round_.fetch_add(1, std::memory_order_seq_cst);
    if (std::exchange(wakes_, false) && sleeping_.load(std::memory_order_seq_cst))
        futex(round_, FUTEX_WAKE, INT_MAX);
    settings_.trace->end(0, TraceKind::signal, traced);
    delay_for_test(Moment::round);
}

bool Helpers::wait_for(size_t job) noexcept {
    if (list_.done(job))
        return true;
    size_t other = list_.take_ahead(job);
    if (other == JobList::none)
        other = list_.take_gated(looked_);
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

void Helpers::serve(Helper& self) noexcept {
    self.second_stack.use();
    if (settings_.asks_priority)
        await_priority();
    const bool ready = !settings_.hurried || FaultGuard::watch_thread(FaultGuard::Patience::little);
    if (ready && !FaultGuard::run_host([&] { work(self); })) {
        failed_.store(true, std::memory_order_relaxed);
        tell_end();
    }
    if (settings_.hurried)
        FaultGuard::unwatch_thread();
    self.second_stack.leave();
    self.left.store(true, std::memory_order_release);
}

void Helpers::await_priority() noexcept {
    for (int looks = 0; looks < most_looks && !ending_.load(std::memory_order_relaxed); ++looks) {
        if (maker_->urgent()) {
            urgent_.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        // Nobody begins a round meanwhile.
        futex(round_, FUTEX_WAIT, 0, &between_looks);
    }
}

void Helpers::work(Helper& self) noexcept {
    uint32_t seen = 0;
    while (!ending_.load(std::memory_order_relaxed)) {
        JobList::Place place = list_.place(self.number - 1, helpers_.size());
        for (size_t job; (job = list_.take_next(place)) != JobList::none;) {
            do_job(self, job);
            if (ending_.load(std::memory_order_relaxed))
                return;
        }
        wait_for_round(self, seen);
        seen = round_.load(std::memory_order_acquire);
    }
}

void Helpers::do_job(Helper& self, size_t job) noexcept {
    FaultGuard::progress();
    do_errand(self);
    delay_for_test(Moment::job);
    run_(data_, self.number, job);
    list_.finish(job);
    delay_for_test(Moment::job);
}

void Helpers::do_errand(const Helper& self) noexcept {
    size_t mine = self.number;
    if (errand_.load(std::memory_order_relaxed) == mine &&
        errand_.compare_exchange_strong(mine, errand_begun, std::memory_order_acquire)) {
        do_(data_, self.number);
        errand_.store(0, std::memory_order_release);
    }
}

void Helpers::wait_for_round(Helper& self, uint32_t seen) noexcept {
    const NanoClock clock = NanoClock::system();
    const int64_t until = clock.now() + settings_.patience;
    while (active_.load(std::memory_order_relaxed) || settings_.lingers) {
        FaultGuard::progress();
        for (int i = 0; i < looks_at_once; ++i) {
            if (round_.load(std::memory_order_acquire) != seen)
                return;
            do_errand(self);
            if (const size_t job = list_.take_gated(self.looked); job != JobList::none)
                do_job(self, job);
            spin_pause();
        }
        const int64_t waited = clock.now() - until;
        if (waited >= longest_at_gate || (waited >= 0 && !list_.any_gated(self.looked)))
            break;
    }
    settings_.trace->end(self.number, TraceKind::awake, self.awake);
    sleeping_.fetch_add(1, std::memory_order_seq_cst);
    // The kernel compares, too, so no round is missed in between.
    while (round_.load(std::memory_order_seq_cst) == seen)
        futex(round_, FUTEX_WAIT, seen);
    sleeping_.fetch_sub(1, std::memory_order_relaxed);
    self.awake = settings_.trace->begin();
}

} // namespace scs
