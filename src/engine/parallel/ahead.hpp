// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/parallel/block-pipeline.hpp"
#include "engine/parallel/dependencies.hpp"
#include "engine/parallel/done-actions.hpp"
#include "engine/parallel/governor.hpp"
#include "engine/parallel/random-jump.hpp"
#include "engine/parallel/strand-plan.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/rt/float-mode.hpp"
#include "engine/schedule/helpers.hpp"
#include "engine/schedule/trace.hpp"
#include "engine/voices/render-list.hpp"
#include "engine/voices/voice-runner.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace scs {

/// Has helpers compute batches and lone voices before their turns, all but their done actions and what they write to
/// buses that others reach, too: these come in the turn, so the walk remains the only one to decide on an order.
/// docs/parallel.md says why no bit depends on which thread computes them. [rt], after construction.
class Ahead {
public:
    /// Of how many items at most a block consists, for that to happen.
    static size_t most_items(const Settings&) noexcept SCS_NONBLOCKING;

    /// [worker] settings.threads: at least 2. Throws if a thread can't be started. The arguments from `lanes` on are
    /// those of VoiceRunner.
    Ahead(const Settings&, Trace&, std::shared_ptr<HelperPool>, int lanes, Buses&, Buffers&, RandomState*, Pool&,
          HeldOutput&, Deadline&, Costs&);

    void set_host(void* host, VoiceRunner::DoneAction) noexcept SCS_NONBLOCKING;
    void set_listener(SynthListener&) noexcept SCS_NONBLOCKING;
    void set_sample_rate(double rate) noexcept SCS_NONBLOCKING;

    void begin_cycle() noexcept { helpers_->begin_cycle(); }
    /// Returns Governor::end_cycle().
    bool end_cycle() noexcept SCS_NONBLOCKING;
    static constexpr int most_blocks = BlockPipeline::most_blocks;
    /// Whether voices are to search for others before the next blocks, as walks let them. They do then.
    bool search_is_due(const RenderList&) noexcept SCS_NONBLOCKING;
    /// Between two walks: computes `blocks` blocks (most_blocks at most) from number `first` on without walks. That is
    /// possible if the current list is all there is to do in them, and nothing happens between them. Returns how many
    /// are computed: fewer if the deadline has passed, -1 if it isn't possible.
    int run_blocks(int32_t first, int blocks, const BlockInputs&, const RenderList&) noexcept SCS_NONBLOCKING;
    /// Of the last run_blocks(), see BlockPipeline.
    BlockPipeline& pipelined() noexcept { return pipeline_; }
    /// In the walk: how many blocks there were since voices have searched, or since the last walk, with its own.
    int blocks_since_search() const noexcept { return since_search_; }
    /// Whether helpers are asked in this cycle.
    bool asks() const noexcept { return governor_.asks(); }
    /// The walk of a block begins. If helpers are asked, open_block() is next.
    void begin_walk() noexcept { governor_.begin_walk(); }
    /// Opens those items of the block that may be computed ahead. The list is current, and nothing but the walk may
    /// change voices and batches until close_block().
    void open_block(int32_t number, const RenderList&) noexcept SCS_NONBLOCKING;
    /// The walk is at its end or is given up. No helper computes a batch any more afterwards.
    void close_block() noexcept SCS_NONBLOCKING;

    enum class State {
        to_compute, ///< as a whole
        computed,   ///< all but what is still to be written to buses; done actions are performed
        written,    ///< that, too
    };
    /// The turn of what is computed ahead begins.
    State take(Item) noexcept SCS_NONBLOCKING;
    /// Writes what take() has found computed.
    void write() noexcept { write_kept(0, *taken_); }
    /// In place of that: writes it later. The batch must be no interleaved one, and must stay as it is until flush().
    void defer() noexcept SCS_NONBLOCKING;
    /// Writes what was deferred to the buses, in the order of the turns. To be called before anything else reaches a
    /// bus, or changes a batch. The thread that has computed the batches does it: what there is to write is in that
    /// core's cache, and to move it takes longer than to compute it.
    void flush() noexcept {
        if (deferred_count_)
            add_deferred();
        helpers_->commit(reached_);
    }

    /// [any] How many batches and lone voices helpers have computed so far.
    uint64_t computed() const noexcept { return computed_.load(std::memory_order_relaxed) + pipeline_.by_helpers(); }
    /// Whether a helper has crashed. What it was computing is lost.
    bool failed() const noexcept { return helpers_->failed(); }
    /// [worker] Helpers::leave_within().
    bool dismiss_helpers(int64_t nsec) noexcept { return helpers_->leave_within(nsec); }

private:
    using PlannedItem = StrandPlan::PlannedItem;
    using Strand = StrandPlan::Strand;

    void fulfil_plan(int32_t number) noexcept SCS_NONBLOCKING;
    void close_plan() noexcept SCS_NONBLOCKING;
    void wait_for(size_t chain) noexcept SCS_NONBLOCKING;
    bool close(size_t strand) noexcept SCS_NONBLOCKING;
    bool is_late() noexcept SCS_NONBLOCKING;
    void run(size_t thread, TaskGraph::Task) noexcept SCS_NONBLOCKING;
    bool plan_pipeline(int blocks, const RenderList&) noexcept SCS_NONBLOCKING;
    int64_t drive_pipeline() noexcept SCS_NONBLOCKING;
    void compute(VoiceRunner&, PlannedItem&) noexcept SCS_NONBLOCKING;
    void write_kept(size_t thread, const PlannedItem&) noexcept SCS_NONBLOCKING;
    void let_go(PlannedItem&) noexcept SCS_NONBLOCKING;
    void give_up() noexcept SCS_NONBLOCKING;
    void perform(const PlannedItem&) noexcept SCS_NONBLOCKING;
    void add_deferred() noexcept SCS_NONBLOCKING;
    void do_errand(size_t thread) noexcept SCS_NONBLOCKING;

    Trace& trace_;
    RandomState* const random_;
    HeldOutput& held_;
    Deadline& deadline_;
    const RandomJump jump_;
    Dependencies dependencies_; ///< of the items that are planned
    const NanoClock clock_ = NanoClock::system();
    const bool groups_alone_; ///< only what is in parallel groups
    const int threads_;
    Governor governor_;
    std::vector<VoiceRunner> runners_; ///< the walk's, for when it waits, then the helpers'
    StrandPlan plan_;
    TaskGraph graph_; ///< of strands, or of stages
    void* host_ = nullptr;
    VoiceRunner::DoneAction done_action_ = nullptr;
    // Of the present block.
    size_t count_ = 0;             ///< strands
    size_t reached_ = 0;           ///< those up to the last one whose turn has begun
    size_t taken_count_ = 0;       ///< items that have had their turn
    size_t by_helpers_ = 0;        ///< strands that had been begun when their turn came …
    size_t by_walk_ = 0;           ///< … by the walk itself
    PlannedItem* taken_ = nullptr; ///< by take()
    std::vector<const PlannedItem*> deferred_;
    size_t deferred_count_ = 0;
    FloatMode float_mode_ = 0;
    // Blocks computed several at once.
    BlockPipeline pipeline_;
    bool pipelining_ = false;       ///< now
    uint32_t pipeline_version_ = 0; ///< of the list: what pipeline_ was planned for, which …
    bool pipeline_fits_ = false;    ///< … can be computed so
    int unsearched_ = 0;            ///< blocks since voices have searched, or since the last walk
    int since_search_ = 1;
    // How the work is shared.
    bool opened_ = false; ///< items were opened in this walk
    double share_ = 0.5;  ///< the items that are left to the walk at first, of all
    std::atomic<uint64_t> computed_{0};
    std::atomic<bool> stops_{false};   ///< no item is begun any more
    std::unique_ptr<Helpers> helpers_; ///< destroyed first, as the threads use the others
};

} // namespace scs
