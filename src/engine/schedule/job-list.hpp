// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/cache-line.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace scs {

/// Jobs that an owner needs done one after the other, and that helpers may do before. Each is done once, by whoever
/// takes it first. The jobs are numbers; what they mean is kept elsewhere. What somebody wrote while doing a job is
/// visible to the owner once done() says so, and what the owner wrote before open() to whoever takes a job.
///
/// Helpers begin where the owner will come last, so that both meet as late as possible and each does the same jobs
/// round after round, whose memory is in its core's cache then. Lock-free. [rt], after construction.
class JobList {
public:
    static constexpr size_t none = SIZE_MAX;

    /// [worker] most: jobs in a round.
    explicit JobList(size_t most) : states_(most) {}
    size_t most() const noexcept { return states_.size(); }

    // ---- the owner's

    /// Begins a round with jobs 0 … count - 1. Those from `split` on are the helpers' to begin with. Every job of the
    /// round before must have been taken or settled.
    void open(size_t count, size_t split) noexcept;
    /// Takes a job, to be done by the owner itself. false: somebody has begun it, see done().
    bool take(size_t job) noexcept;
    /// Whether a job that somebody has begun is done.
    bool done(size_t job) const noexcept { return states_[job].now.load(std::memory_order_acquire) == done_; }
    /// The owner has used what was done: the job is over.
    void settle(size_t job) noexcept { states_[job].now.store(over, std::memory_order_relaxed); }
    /// Takes a job behind this one that nobody has begun, to be done before it is needed and to be finished as by a
    /// helper; none: there is none.
    size_t take_ahead(size_t job) noexcept;

    // ---- a helper's

    /// Where a helper looks for its next job.
    struct Place {
        size_t up = 0, down = 0;
    };
    /// The place of helper `which` of `helpers` at the start of a round.
    Place place(size_t which, size_t helpers) const noexcept;
    /// Takes a job that nobody has begun; none: there is none. It must be finished.
    size_t take_next(Place&) noexcept;
    /// The job is done. Also the owner's, after take_ahead().
    void finish(size_t job) noexcept { states_[job].now.store(done_, std::memory_order_release); }

private:
    enum : uint32_t { over, open_, begun, done_ };
    struct alignas(cache_line) State {
        std::atomic<uint32_t> now{over};
    };

    bool begin(size_t job) noexcept {
        auto& now = states_[job].now;
        uint32_t expected = open_;
        return now.load(std::memory_order_relaxed) == open_ &&
               now.compare_exchange_strong(expected, begun, std::memory_order_acquire, std::memory_order_relaxed);
    }

    std::vector<State> states_;
    alignas(cache_line) std::atomic<size_t> count_{0};
    std::atomic<size_t> split_{0};
};

} // namespace scs
