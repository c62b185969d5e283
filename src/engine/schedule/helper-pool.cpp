// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/helper-pool.hpp"
#include "engine/base/nonblocking.hpp"

#include "engine/base/c-locale.hpp"
#include "engine/schedule/helpers.hpp"

#include <algorithm>
#include <climits>
#include <csignal>
#include <linux/futex.h>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <utility>

namespace scs {
namespace {

constexpr int64_t between_looks = 50'000'000;        // ns, at a thread's priority, when it has started …
constexpr int64_t longest_look_out = 10'000'000'000; // … until it is known that it gets none

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

void wake(std::atomic<uint32_t>& word, uint32_t whom) noexcept SCS_NONBLOCKING {
    SCS_UNPROVEN_BEGIN // it doesn't wait
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, INT_MAX, nullptr,
            nullptr, whom);
    SCS_UNPROVEN_END
}

/// Sleeps while the word has this value, for `nsec` at most if that isn't 0.
void sleep_while(std::atomic<uint32_t>& word, uint32_t value, uint32_t bits, int64_t nsec) noexcept {
    const int64_t until = NanoClock::system().now() + nsec;
    const timespec end{until / 1'000'000'000, until % 1'000'000'000};
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value,
            nsec ? &end : nullptr, nullptr, bits);
}

/// By which bit a thread is woken; several may have the same.
uint32_t bit_of(size_t number) noexcept {
    return 1u << (number - 1) % 32;
}

/// The bits of the first `threads` threads.
uint32_t bits_up_to(size_t threads) noexcept {
    return threads < 32 ? (1u << threads) - 1 : UINT32_MAX;
}

} // namespace

HelperPool::~HelperPool() {
    const std::lock_guard lock(lock_);
    (void)resize();
    // No owner holds them any more, so they are about to leave.
    for (const auto& thread : lost_)
        maker_->join(thread->thread);
}

bool HelperPool::urgent(size_t threads) const noexcept {
    return std::all_of(urgent_.begin(), urgent_.begin() + std::min(threads, urgent_.size()),
                       [](const auto& one) { return one.load(std::memory_order_relaxed); });
}

// ---- owners

HelperPool::Caller* HelperPool::join(size_t threads) {
    const std::lock_guard lock(lock_);
    bury_lost();
    const auto free = [](const Caller& caller) { return caller.threads.load(std::memory_order_relaxed) == 0; };
    const auto caller = std::find_if(callers_.begin(), callers_.end(), free);
    if (caller == callers_.end())
        return nullptr;
    caller->in_cycle.store(false, std::memory_order_relaxed);
    caller->threads.store(threads, std::memory_order_relaxed);
    if (!resize()) {
        caller->threads.store(0, std::memory_order_relaxed);
        (void)resize();
        throw std::runtime_error("the threads that help could not be started");
    }
    const size_t used = size_t(caller - callers_.begin()) + 1;
    caller_count_.store(std::max(used, caller_count_.load(std::memory_order_relaxed)), std::memory_order_release);
    return &*caller;
}

bool HelperPool::leave(Helpers& owner, Caller* caller, int64_t nsec) noexcept {
    std::unique_lock lock(lock_);
    const bool is_there = caller && caller->owner.load(std::memory_order_relaxed) == &owner;
    // Either this sees that a thread is with the owner, or that one sees, with seq_cst, that the owner has gone.
    if (is_there)
        caller->owner.store(nullptr, std::memory_order_seq_cst);
    const NanoClock clock = NanoClock::system();
    const int64_t until = clock.now() + nsec;
    bool anybody;
    while ((anybody = anybody_with(owner)) && (nsec < 0 || clock.now() < until)) {
        lock.unlock();
        const timespec moment{0, 1'000'000};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, nullptr);
        lock.lock();
    }
    if (anybody)
        give_up_those_with(owner);
    if (is_there)
        caller->threads.store(0, std::memory_order_relaxed); // others may have this place now
    bury_lost();
    (void)resize();
    return !anybody;
}

void HelperPool::call(Caller& caller, bool wakes) noexcept {
    // With seq_cst here and in sleep(), either this sees that a thread sleeps, or that one sees the call.
    caller.round.store(caller.round.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    calls_.fetch_add(1, std::memory_order_seq_cst);
    if (wakes && sleeping_.load(std::memory_order_seq_cst))
        wake(calls_, bits_up_to(caller.threads.load(std::memory_order_relaxed)));
}

// ---- a thread's

void HelperPool::serve(Thread& self) noexcept {
    const CLocale numbers;
    self.second_stack.use();
    if (!hurried_ || FaultGuard::watch_thread(FaultGuard::Patience::little))
        while (!FaultGuard::run_host([&] { work(self); })) {
            Helpers* const owner = self.with.load(std::memory_order_relaxed);
            if (!owner)
                break; // it would happen again
            owner->fail();
            self.with.store(nullptr, std::memory_order_release);
        }
    if (hurried_)
        FaultGuard::unwatch_thread();
    self.second_stack.leave();
    self.left.store(true, std::memory_order_release);
}

void HelperPool::work(Thread& self) noexcept {
    for (;;) {
        FaultGuard::progress();
        // In this order: what says that it is to end calls afterwards, so a thread that misses one doesn't sleep.
        const uint32_t calls = calls_.load(std::memory_order_seq_cst);
        if (self.ending.load(std::memory_order_relaxed))
            return;
        if (!help_somebody(self, calls))
            sleep(self, calls);
    }
}

bool HelperPool::help_somebody(Thread& self, uint32_t calls) noexcept {
    const size_t count = caller_count_.load(std::memory_order_acquire);
    for (const bool stands_by : {false, true})
        for (size_t i = 0; i < count; ++i) {
            const size_t at = (self.next + i) % count;
            const Caller& caller = callers_[at];
            const Thread::Known& known = self.known[at];
            if (self.number > caller.threads.load(std::memory_order_relaxed))
                continue;
            if (stands_by ? caller.in_cycle.load(std::memory_order_relaxed) && !known.waited
                          : caller.round.load(std::memory_order_acquire) != known.round)
                if (help(self, at, calls))
                    return true;
        }
    return false;
}

bool HelperPool::help(Thread& self, size_t at, uint32_t calls) noexcept {
    Caller& caller = callers_[at];
    Thread::Known& known = self.known[at];
    known.round = caller.round.load(std::memory_order_acquire);
    known.waited = true; // unless it comes back from the owner, and says otherwise
    Helpers* const owner = caller.owner.load(std::memory_order_acquire);
    if (!owner)
        return false;
    self.with.store(owner, std::memory_order_seq_cst);
    // Another owner may have this place by now, and want fewer threads.
    const bool there = caller.owner.load(std::memory_order_seq_cst) == owner && self.number <= owner->threads();
    if (there) {
        self.next = at + 1;
        known.waited = !owner->help(self.number, known.round, calls - known.round);
    }
    self.with.store(nullptr, std::memory_order_release);
    return there;
}

void HelperPool::sleep(Thread& self, uint32_t calls) noexcept {
    sleeping_.fetch_add(1, std::memory_order_seq_cst);
    // The kernel compares, too, so no call is missed in between.
    while (calls_.load(std::memory_order_seq_cst) == calls)
        sleep_while(calls_, calls, bit_of(self.number), looks_for_priority(self) ? between_looks : 0);
    sleeping_.fetch_sub(1, std::memory_order_relaxed);
}

/// Looks whether the thread has its priority now. Returns whether it still has to.
bool HelperPool::looks_for_priority(Thread& self) noexcept {
    if (!self.looks_until)
        return false;
    const auto urgency = maker_->urgency();
    if (urgency == ThreadMaker::Urgency::urgent)
        urgent_[self.number - 1].store(true, std::memory_order_relaxed);
    if (urgency != ThreadMaker::Urgency::not_yet || NanoClock::system().now() > self.looks_until)
        self.looks_until = 0;
    return self.looks_until != 0;
}

// ---- threads

std::unique_ptr<HelperPool::Thread> HelperPool::start(size_t number) {
    const FaultsOnly mask;
    auto thread = std::make_unique<Thread>();
    thread->pool = this;
    thread->number = number;
    thread->looks_until = NanoClock::system().now() + longest_look_out;
    urgent_[number - 1].store(false, std::memory_order_relaxed);
    const auto body = [](void* argument) -> void* {
        auto& self = *static_cast<Thread*>(argument);
        self.pool->serve(self);
        return nullptr;
    };
    thread->thread = maker_->start(body, thread.get());
    return thread->thread ? std::move(thread) : nullptr;
}

/// Starts and ends threads until there are as many as owners want. false: one can't be started.
bool HelperPool::resize() noexcept {
    size_t wanted = 0;
    for (const Caller& caller : callers_)
        wanted = std::max(wanted, caller.threads.load(std::memory_order_relaxed));
    for (; threads_.size() > wanted; threads_.pop_back())
        if (threads_.back())
            end(*threads_.back());
    try {
        threads_.resize(wanted);
        for (size_t i = 0; i < wanted; ++i)
            if (!threads_[i] && !(threads_[i] = start(i + 1)))
                return false;
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

void HelperPool::tell_to_end(Thread& thread) noexcept {
    thread.ending.store(true, std::memory_order_relaxed);
    calls_.fetch_add(1, std::memory_order_seq_cst);
    wake(calls_, bit_of(thread.number));
}

void HelperPool::end(Thread& thread) noexcept {
    tell_to_end(thread);
    maker_->join(thread.thread);
}

bool HelperPool::anybody_with(const Helpers& owner) const noexcept {
    const auto is_with = [&](const auto& thread) {
        return thread && thread->with.load(std::memory_order_seq_cst) == &owner;
    };
    return std::any_of(threads_.begin(), threads_.end(), is_with) || std::any_of(lost_.begin(), lost_.end(), is_with);
}

/// They end when they come back.
void HelperPool::give_up_those_with(const Helpers& owner) noexcept {
    for (auto& thread : threads_)
        if (thread && thread->with.load(std::memory_order_relaxed) == &owner) {
            tell_to_end(*thread);
            lost_.push_back(std::move(thread));
        }
}

void HelperPool::bury_lost() noexcept {
    std::erase_if(lost_, [this](const auto& thread) {
        const bool left = thread->left.load(std::memory_order_acquire);
        if (left)
            maker_->join(thread->thread);
        return left;
    });
}

} // namespace scs
