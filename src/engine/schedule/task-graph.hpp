// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/rt/cache-line.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace scs {

/// The tasks of a round, and which of them may be begun now. A task is a block of a *chain*: a strand, or a stage. It
/// may be begun when the chain's block before is done, and when what its chain waits for has come far enough:
///
/// - Strands have one block each. The owner needs them one after the other, and commits what they write in that order.
///   A strand may wait for a number of commits: that stands for all writers of what it reads, as they commit in order.
/// - Stages have several blocks, of which at most `at_once` are under way, as each needs buses of its own. A stage
///   waits until the stage before it has done the same block. The first stage waits until the last one has done the
///   block `at_once` before.
///
/// So each dependency is one counter that is compared with a number. Which task a thread takes of those that may be
/// begun is a preference: a helper keeps to the same strands round after round, and a thread to its own stages, whose
/// memory is in its core's cache. Each task is done once, by the first thread that takes it. What was written in it is
/// visible to the thread that does what waits for it, and what the owner wrote before it opened the round to each that
/// takes a task of it. Lock-free. [rt], after construction.
class TaskGraph {
public:
    static constexpr size_t none = SIZE_MAX;
    struct Task {
        size_t chain, block; ///< chain `none`: there is no task
    };
    /// What a thread remembers of a round.
    struct Hand {
        size_t thread = 0;       ///< 0: the owner, from 1 on helpers
        uint64_t opened = 0;     ///< the round
        size_t up = 0, down = 0; ///< strands that it looks at next
        size_t gated = 0;        ///< how many of those that wait for commits it has looked at
        int looks = 0;           ///< in vain, for a task of its own stages
    };

    /// How often a thread looks for a task of its own stages, some microseconds in all, before it takes one of others'.
    static constexpr int looks_for_own = 128;
    static constexpr size_t most_chains = 65'535, most_blocks = 32'767;
    /// [worker] most: chains in a round, most_chains at most. threads: the owner and its helpers.
    TaskGraph(size_t most, size_t threads) : chains_(most), gates_(most), gated_(most), threads_(threads) {}
    size_t most() const noexcept { return chains_.size(); }

    // ---- the owner's

    /// Has a strand of the next round wait for a number of commits: at least 1, and at least as many as in the last
    /// call. At most one call for each strand.
    void gate(size_t strand, size_t commits) noexcept SCS_NONBLOCKING;
    /// Begins a round of strands 0 … count - 1. Those from `split` on are the helpers' to begin with: the owner and
    /// they meet as late as possible. Every chain of the round before must have been closed.
    void open_strands(size_t count, size_t split) noexcept SCS_NONBLOCKING;
    /// Begins a round of `blocks` blocks of `stages` stages. At most `at_once` blocks are under way: begun, and not yet
    /// through all stages. All three are at least 1. Every chain of the round before must have been closed.
    void open_stages(size_t stages, size_t blocks, size_t at_once) noexcept SCS_NONBLOCKING;
    /// The owner has come to strand number `strands` - 1, and has committed all strands before it. A thread that takes
    /// a strand which waited for that sees what the owner has written until now. false: no strand of the round waits.
    bool commit(size_t strands) noexcept {
        if (!gated_count_.load(std::memory_order_relaxed))
            return false;
        committed_.store(strands * one_block, std::memory_order_release);
        return true;
    }
    /// No task of the chain is begun any more. false: a thread is in one, which only time changes.
    bool close(size_t chain) noexcept SCS_NONBLOCKING;
    /// How many blocks of a chain are done; of a closed one, what was written in them is visible.
    size_t done(size_t chain) const noexcept { return done_of(chains_[chain].now.load(std::memory_order_relaxed)); }

    // ---- anybody's

    /// Takes a task that may be begun. It must be finished. Of the strands before `from` it takes those alone that wait
    /// for commits.
    Task take(Hand&, size_t from = 0) noexcept SCS_NONBLOCKING;
    void finish(size_t chain) noexcept {
        std::atomic<uint64_t>& now = chains_[chain].now;
        now.store(now.load(std::memory_order_relaxed) + one_block - begun, std::memory_order_release);
    }
    /// Whether a task that can't be begun yet may be soon.
    bool any_left(const Hand&) const noexcept SCS_NONBLOCKING;

    // ---- of stages

    /// No task is begun any more, but for those that are being taken.
    void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
    bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }
    /// Whether this is a round of stages in which something is left to be begun.
    bool stages_left() const noexcept {
        const uint64_t opened = opened_.load(std::memory_order_relaxed);
        return (opened & of_stages) && !stopped() && !through(count_of(opened) - 1, opened);
    }

private:
    // Chain::now and opened_ have the round in their upper halves, so that no thread takes one round's for another's.
    static constexpr uint64_t begun = 1, closed = 2, one_block = 4; // of Chain::now; of committed_: one_block a commit
    // Of opened_, which has the number of blocks above that of chains: both are of one round for a thread that reads
    // it.
    static constexpr uint64_t of_stages = uint64_t(1) << 31, one_in_blocks = uint64_t(1) << 16;
    struct alignas(cache_line) Chain {
        std::atomic<uint64_t> now{0};
        std::atomic<int64_t> lead{0}; ///< how much farther than a block's number what it waits for must have come
    };
    static uint64_t round_of(uint64_t word) noexcept { return word >> 32; }
    static size_t done_of(uint64_t word) noexcept { return size_t(word & UINT32_MAX) / one_block; }
    static size_t count_of(uint64_t opened) noexcept { return size_t(opened % one_in_blocks); }
    static size_t blocks_of(uint64_t opened) noexcept { return size_t(opened % of_stages / one_in_blocks); }

    void begin_round() noexcept SCS_NONBLOCKING;
    void open_chain(size_t chain, int64_t lead) noexcept SCS_NONBLOCKING;
    void publish(size_t chains, size_t blocks, uint64_t shape) noexcept SCS_NONBLOCKING;
    void look_at(Hand&, uint64_t opened, size_t from) const noexcept SCS_NONBLOCKING;
    size_t take_strand(Hand&) noexcept SCS_NONBLOCKING;
    size_t take_gated(Hand&) noexcept SCS_NONBLOCKING;
    size_t take_stage(Hand&) noexcept SCS_NONBLOCKING;
    bool begin(size_t chain, const Hand&) noexcept SCS_NONBLOCKING;
    bool may_begin(size_t chain, size_t block, uint64_t opened) const noexcept SCS_NONBLOCKING;
    bool lags(size_t stage) const noexcept SCS_NONBLOCKING;
    bool through(size_t chain, uint64_t opened) const noexcept { return done(chain) == blocks_of(opened); }

    std::vector<Chain> chains_;
    std::vector<uint32_t> gates_;              ///< the owner's: commits that each strand waits for; 0: it doesn't
    std::vector<std::atomic<uint32_t>> gated_; ///< which strands wait, the fewest commits first
    const size_t threads_;
    uint64_t round_ = 0;    ///< the owner's
    size_t next_gated_ = 0; ///< the owner's: how many there are so far in the next round
    alignas(cache_line) std::atomic<uint64_t> opened_{0};
    std::atomic<size_t> split_{0}, gated_count_{0};
    alignas(cache_line) std::atomic<uint64_t> committed_{0};
    alignas(cache_line) std::atomic<bool> stopped_{false};
};

} // namespace scs
