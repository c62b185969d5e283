// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/rt/cache-line.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/schedule/thread-maker.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace scs {

class Helpers;

/// The threads that help all owners of tasks (Helpers) that share the pool: as many as the owner that wants most of
/// them. Each helps one owner at a time: one that has called, then one that may call again as its cycle isn't over. It
/// sleeps when there is none.
///
/// All that the threads do is host code under guard. A fault in one breaks the owner that it was helping, and the
/// thread goes on with the others. Nobody waits for a thread that doesn't come back: another takes its number.
class HelperPool {
public:
    static constexpr size_t most_owners = 64; ///< others get no help, and do all themselves
    static constexpr size_t most_threads = 64;

    /// `hurried`: what the threads do ends if it takes too long, as FaultGuard has it. A thread that can't be watched,
    /// as the system has no timer left, doesn't help.
    HelperPool(std::shared_ptr<ThreadMaker> maker, bool hurried) noexcept
        : maker_(std::move(maker)), hurried_(hurried) {}
    /// [worker] There must be no owner.
    ~HelperPool();
    HelperPool(const HelperPool&) = delete;
    HelperPool& operator=(const HelperPool&) = delete;

    bool hurried() const noexcept { return hurried_; }
    /// [any] Whether the first `threads` threads have found that they have the priority that they need. Each looks for
    /// it when it has nothing to do, for ten seconds, as the host may get it for them only then.
    bool urgent(size_t threads) const noexcept SCS_NONBLOCKING;

private:
    friend Helpers;
    /// What threads look at, to find which owner calls.
    struct alignas(cache_line) Caller {
        std::atomic<Helpers*> owner{nullptr};
        std::atomic<size_t> threads{0}; ///< those with numbers up to that help; 0: no owner has this place
        std::atomic<uint32_t> round{0}; ///< how often it has called
        std::atomic<bool> in_cycle{false};
    };
    struct alignas(cache_line) Thread {
        HelperPool* pool;
        size_t number; ///< from 1 on
        void* thread = nullptr;
        std::atomic<Helpers*> with{nullptr}; ///< whom it helps, and whose memory it may touch
        std::atomic<bool> ending{false}, left{false};
        size_t next = 0;         ///< at which caller it looks first
        int64_t looks_until = 0; ///< ns of the clock, for its priority; 0: no longer
        struct Known {
            uint32_t round = 0;  ///< the last one that it has seen
            bool waited = false; ///< for another one in vain
        };
        std::array<Known, most_owners> known;
        FaultGuard::SecondStack second_stack;
    };

    // ---- Helpers'

    /// [worker] A place for an owner that wants this many threads, at least 1, and comes to it by setting
    /// Caller::owner. Null: there are too many owners. Throws if a thread can't be started.
    Caller* join(size_t threads);
    /// [worker] No thread touches the owner any more afterwards. Waits for that, for `nsec` at most if that isn't
    /// negative; false: some do still, and have been given up. May be called again then.
    bool leave(Helpers&, Caller*, int64_t nsec) noexcept;
    /// [rt] There is a new round. `wakes`: threads that sleep are woken, by one system call.
    void call(Caller&, bool wakes) noexcept SCS_NONBLOCKING;
    /// [any] How often all owners have called.
    uint32_t calls() const noexcept { return calls_.load(std::memory_order_acquire); }

    // ---- a thread's

    void serve(Thread&) noexcept;
    void work(Thread&) noexcept;
    bool help_somebody(Thread&, uint32_t calls) noexcept;
    bool help(Thread&, size_t caller, uint32_t calls) noexcept;
    void sleep(Thread&, uint32_t calls) noexcept;
    bool looks_for_priority(Thread&) noexcept;

    // ---- [worker], with the lock

    std::unique_ptr<Thread> start(size_t number);
    bool resize() noexcept;
    void tell_to_end(Thread&) noexcept;
    void end(Thread&) noexcept;
    bool anybody_with(const Helpers&) const noexcept;
    void give_up_those_with(const Helpers&) noexcept;
    void bury_lost() noexcept;

    const std::shared_ptr<ThreadMaker> maker_;
    const bool hurried_;
    std::mutex lock_;                              ///< of the threads, and of the owners that join
    std::vector<std::unique_ptr<Thread>> threads_; ///< by their numbers; null: it couldn't be replaced
    std::vector<std::unique_ptr<Thread>> lost_;    ///< those that didn't come back in time, until they do
    std::array<std::atomic<bool>, most_threads> urgent_{};
    std::array<Caller, most_owners> callers_;
    std::atomic<size_t> caller_count_{0}; ///< how many places have been used
    alignas(cache_line) std::atomic<uint32_t> calls_{0};
    alignas(cache_line) std::atomic<uint32_t> sleeping_{0};
};

} // namespace scs
