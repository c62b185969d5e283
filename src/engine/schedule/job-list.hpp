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
/// round after round, whose memory is in its core's cache then. A job may have a gate: how many jobs the
/// owner has to come to first. Lock-free. [rt], after construction.
class JobList {
public:
    static constexpr size_t none = SIZE_MAX;
    /// [worker] most: jobs in a round.
    explicit JobList(size_t most) : states_(most), gates_(most), gated_(most) {}
    size_t most() const noexcept { return states_.size(); }

    // ---- the owner's

    /// Gives a job of the next round a gate: so many jobs, not 0, and no fewer than the last call gave. Once for a job.
    void gate(size_t job, size_t gate) noexcept;
    /// Begins a round with jobs 0 … count - 1. Those from `split` on are the helpers' to begin with. Every job of the
    /// round before must have been taken or settled.
    void open(size_t count, size_t split) noexcept;
    /// The owner has come to so many jobs and has done all that comes before the last of them: opens the gates up to
    /// that. What it wrote by then is visible to who takes a job behind these. false: there are none in this round.
    bool pass(size_t jobs) noexcept {
        if (!gated_count_.load(std::memory_order_relaxed))
            return false;
        passed_.store(word(gated, jobs), std::memory_order_release);
        return true;
    }
    /// Takes a job, to be done by the owner itself. false: somebody has begun it, see done().
    bool take(size_t job) noexcept;
    /// Whether a job that somebody has begun is done.
    bool done(size_t job) const noexcept { return states_[job].now.load(std::memory_order_acquire) == done_; }
    /// Whether somebody has begun it, or even done it.
    bool begun(size_t job) const noexcept {
        const uint64_t now = states_[job].now.load(std::memory_order_relaxed);
        return now == begun_ || now == done_;
    }
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
    /// How far a thread has looked at the jobs with a gate: those before are begun.
    struct Looked {
        uint64_t round = 0;
        size_t next = 0;
    };
    /// Takes a job whose gate has been opened; none: there is none. Also the owner's. It must be finished.
    size_t take_gated(Looked&) noexcept;
    /// Whether there are jobs with a gate that nobody has begun.
    bool any_gated(Looked) const noexcept;
    /// The job is done. Also the owner's, after take_ahead().
    void finish(size_t job) noexcept { states_[job].now.store(done_, std::memory_order_release); }

private:
    enum : uint64_t { over, open_, gated, begun_, done_ };
    struct alignas(cache_line) State {
        std::atomic<uint64_t> now{over};
    };
    /// Of a job with a gate, and of passed_: with the round, so that nobody takes one of a later round by the gate of
    /// an older one.
    uint64_t word(uint64_t kind, size_t gate) const noexcept { return kind | uint64_t(gate) << 3 | round_ << 32; }
    static uint64_t round_of(uint64_t word) noexcept { return word >> 32; }
    static uint64_t gate_of(uint64_t word) noexcept { return word >> 3 & 0x1fffffff; }

    bool begin(size_t job, uint64_t expected) noexcept {
        return states_[job].now.compare_exchange_strong(expected, begun_, std::memory_order_acquire,
                                                        std::memory_order_relaxed);
    }
    bool begin(size_t job) noexcept {
        return states_[job].now.load(std::memory_order_relaxed) == open_ && begin(job, open_);
    }

    std::vector<State> states_;
    std::vector<uint32_t> gates_;              ///< the owner's: of each job of the round; 0: it has none
    std::vector<std::atomic<uint32_t>> gated_; ///< which jobs have one, the lowest gate first
    uint64_t round_ = 0;                       ///< the owner's
    size_t next_gated_ = 0;                    ///< the owner's: how many there are so far in the next round
    alignas(cache_line) std::atomic<size_t> count_{0};
    std::atomic<size_t> split_{0};
    std::atomic<size_t> gated_count_{0};
    alignas(cache_line) std::atomic<uint64_t> passed_{0};
};

} // namespace scs
