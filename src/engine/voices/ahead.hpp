// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/deadline.hpp"
#include "engine/rt/float-mode.hpp"
#include "engine/schedule/helpers.hpp"
#include "engine/schedule/trace.hpp"
#include "engine/voices/block-pipeline.hpp"
#include "engine/voices/demand.hpp"
#include "engine/voices/gates.hpp"
#include "engine/voices/random-jump.hpp"
#include "engine/voices/render-list.hpp"
#include "engine/voices/strands.hpp"
#include "engine/voices/voice-runner.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace scs {

/// Has helpers compute batches and lone voices before their turns, all but their done actions and what they write to
/// buses that others reach, too: these come in the turn, so the walk remains the only one to decide on an order.
/// docs/parallel.md says why no bit depends on who computes them. [rt], after construction.
class Ahead {
public:
    /// What is worth it to be told to helpers; tests change it.
    struct Limits {
        /// Operations. A lone voice of fewer is computed sooner than it is handed over.
        size_t fewest_ops = 8;
        /// In a block: operations, one of a batch counting as four.
        size_t least_work = 64;
        /// The same of blocks that are computed several at once: in those that pass the stages together.
        size_t least_pipelined = 256;
    };
    static Limits limits;
    /// How many batches and lone voices at most are computed ahead in a block.
    static size_t most_jobs(const Settings&) noexcept;
    /// Of how many turns at most a block consists, for that to happen.
    static size_t most_turns(const Settings&) noexcept;

    /// [worker] settings.threads: at least 2. Throws if a thread can't be started. The arguments from `lanes` on are
    /// those of VoiceRunner.
    Ahead(const Settings&, Trace&, std::shared_ptr<HelperPool>, int lanes, Buses&, Buffers&, RandomState*, Pool&,
          HeldOutput&, Deadline&);

    void set_host(void* host, VoiceRunner::DoneAction) noexcept;
    void set_sample_rate(double rate) noexcept;

    void begin_cycle() noexcept { helpers_->begin_cycle(); }
    /// Returns Demand::end_cycle().
    bool end_cycle() noexcept;
    static constexpr int most_blocks = BlockPipeline::most_blocks;
    /// Whether blocks may be computed at once at all.
    bool may_run_blocks() const noexcept;
    /// Whether voices are to search for others before the next blocks, as walks let them, and that they have done so.
    bool search_is_due(const RenderList&) const noexcept;
    void note_search() noexcept { unsearched_ = 0; }
    /// Between two walks: computes blocks from number `first` on in place of their walks, if the current list is all
    /// there is to do in them. `blocks`: at most so many, and most_blocks; nothing may happen between them. Returns how
    /// many are computed, fewer if the deadline has passed; -1: it can't be done so.
    int run_blocks(int32_t first, int blocks, const BlockInputs&, const RenderList&) noexcept;
    /// Of the last run_blocks(), see BlockPipeline.
    const BlockPipeline& pipelined() const noexcept { return pipeline_; }
    std::span<BlockPipeline::Ending> endings() noexcept { return pipeline_.endings(); }
    /// In the walk: how many blocks there were since voices have searched, or since the last walk, with its own.
    int blocks_since_search() const noexcept { return since_search_; }
    /// Whether helpers are asked in this cycle.
    bool asks() const noexcept { return demand_.asks(); }
    /// The walk of a block begins. If helpers are asked, open_block() is next.
    void begin_walk() noexcept { demand_.begin_walk(); }
    /// Opens the jobs among the items of the block. The list is current, and nothing but the walk may change voices and
    /// batches until close_block().
    void open_block(int32_t number, const RenderList&) noexcept;
    /// The walk is at its end or is given up. No helper computes a batch any more afterwards.
    void close_block() noexcept;

    enum class Turn {
        to_compute, ///< as a whole
        computed,   ///< all but what is still to be written to buses; done actions are performed
        written,    ///< that, too
    };
    /// The turn of what has a job begins.
    Turn take(Item) noexcept;
    /// Writes what take() has found computed.
    void write(Batch& batch) noexcept { runners_[0].run_kept(batch, taken_->kept, taken_->at_once); }
    void write(Synth& synth) noexcept { runners_[0].run_kept(synth, taken_->kept, taken_->at_once); }
    /// In place of that: writes it later. The batch must be no interleaved one, and must stay as it is until flush().
    void defer() noexcept;
    /// Writes what was deferred to the buses, in the order of the turns. To be called before anything else reaches a
    /// bus, or changes a batch. Whoever has computed the batches does it: what there is to write is in that core's
    /// cache, and to move it takes longer than to compute it.
    void flush() noexcept {
        if (deferred_count_)
            add_deferred();
        helpers_->pass(reached_);
    }

    /// [any] How many batches and lone voices helpers have computed so far.
    uint64_t computed() const noexcept { return computed_.load(std::memory_order_relaxed) + pipeline_.by_helpers(); }
    /// Whether a helper has crashed. What it was computing is lost.
    bool failed() const noexcept { return helpers_->failed(); }
    /// [worker] Helpers::leave_within().
    bool dismiss_helpers(int64_t nsec) noexcept { return helpers_->leave_within(nsec); }

private:
    /// A batch or a lone voice, and what was computed of it.
    struct alignas(cache_line) Job {
        Item of;
        float* kept;
        uint32_t at_once; ///< what it writes that nobody else reaches: bits as for VoiceRunner::run_ahead()
        bool all_at_once;
        bool over; ///< it has had its turn
        uint32_t strand;
        RandomState random; ///< of what draws numbers: where the generator is before it, then behind it
        /// Done actions in the order in which they came, each once for a voice: a second one of the same kind changes
        /// nothing.
        struct Action {
            uint8_t lane, action;
        };
        std::array<Action, size_t(2) * most_lanes> actions;
        uint32_t action_count;

        void note(int lane, int action) noexcept;
    };
    /// Jobs one behind the other that are done as one.
    struct alignas(cache_line) Strand {
        uint32_t first, count;
        uint32_t who;      ///< has done it, as in Helpers::Run
        uint32_t computed; ///< how many of its jobs are done ahead
    };

    /// Of a turn that is computed ahead.
    struct Need {
        size_t sets;   ///< of a batch's rows, that it keeps
        size_t work;   ///< operations, one of a batch counting as four
        size_t writes; ///< operations that write to buses
    };

    void fulfil_plan(int32_t number) noexcept;
    void close_plan() noexcept;
    bool may_open(Batch&) noexcept;
    bool may_open(const Item&) noexcept;
    bool is_worth_it(const Item&) const noexcept;
    static size_t work_in(const Item&) noexcept;
    Need need_of(const Item&) const noexcept;
    size_t gate_for(const Item&) const noexcept;
    void note_writes(const Item&, size_t turns, size_t first, size_t end) noexcept;
    static uint32_t numbers_of(const Item&) noexcept;
    [[gnu::noinline]] void plan(const RenderList&) noexcept; // rare, and counted by bench/helper_costs.py
    template <class Opens>
    void plan_strands(std::span<const Item>, Opens&&) noexcept;
    template <class Opens>
    void plan_apart(std::span<const Item>, Opens&&) noexcept;
    bool open_apart(const Item&, const Need&) noexcept;
    bool open_strand(size_t first, size_t end) noexcept;
    bool hands_on_well(const Item&, size_t first, size_t end) const noexcept;
    Job& new_job(const Item&, const Need&) noexcept;
    void open_job(const Item&, size_t first, size_t end) noexcept;
    void note_draws(const Item&, int32_t job) noexcept;
    void foresee_draws() noexcept;
    void wait_for(size_t job) noexcept;
    bool is_late() noexcept;
    void run(size_t who, size_t strand) noexcept;
    bool plan_pipeline(int blocks, const RenderList&) noexcept;
    bool step_pipeline(size_t who, int& idle) noexcept;
    int64_t drive_pipeline() noexcept;
    void help_pipeline(size_t who) noexcept;
    void compute(VoiceRunner&, Job&) noexcept;
    void let_go(Job&) noexcept;
    void give_up() noexcept;
    void perform(const Job&) noexcept;
    void add_deferred() noexcept;
    void do_errand(size_t who) noexcept;

    Trace& trace_;
    RandomState* const random_;
    HeldOutput& held_;
    Deadline& deadline_;
    const RandomJump jump_;
    Gates gates_;
    Strands found_strands_;
    const NanoClock clock_ = NanoClock::system();
    const bool groups_alone_; ///< only what is in parallel groups
    const int threads_;
    const int lanes_;
    const size_t set_floats_;          ///< of a set of rows that is kept
    std::vector<VoiceRunner> runners_; ///< the walk's, for when it waits, then the helpers'
    std::vector<Job> jobs_;
    std::vector<Strand> strands_;
    size_t kept_sets_;
    AlignedArray<float> kept_;
    void* host_ = nullptr;
    VoiceRunner::DoneAction done_action_ = nullptr;
    // What there is to do in a block, which stays the same until something changes.
    struct PlannedTurn {
        Item of;
        bool opens; ///< it may be computed ahead
    };
    std::vector<PlannedTurn> turns_; ///< while it is planned
    /// What draws random numbers, in order, as far as it is known how many.
    struct Draw {
        int32_t job; ///< -1: it isn't computed ahead
        uint32_t numbers;
    };
    std::vector<Draw> draws_;
    bool planned_ = false;         ///< for the items and their buses of …
    uint32_t planned_version_ = 0; ///< … this version of the list
    size_t planned_jobs_ = 0, planned_strands_ = 0, planned_gate_count_ = 0, planned_sets_ = 0, planned_work_ = 0,
           planned_draws_ = 0;
    std::vector<std::pair<uint32_t, uint32_t>> planned_gates_; ///< gate and strand, in the order of the gates
    // Of the present block.
    size_t count_ = 0;       ///< strands
    size_t reached_ = 0;     ///< those up to the last one whose turn has begun
    size_t taken_count_ = 0; ///< jobs that have had their turn
    size_t by_helpers_ = 0;  ///< strands that had been begun when their turn came …
    size_t by_walk_ = 0;     ///< … by the walk itself
    Job* taken_ = nullptr;   ///< by take()
    std::vector<const Job*> deferred_;
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
    Demand demand_;
    bool opened_ = false; ///< jobs were opened in this walk
    double share_ = 0.5;  ///< the jobs that are left to the walk at first, of all
    std::atomic<uint64_t> computed_{0};
    std::atomic<bool> stops_{false};   ///< no job is begun any more
    JobList job_list_;                 ///< of strands
    std::unique_ptr<Helpers> helpers_; ///< destroyed first, as the threads use the others
};

} // namespace scs
