// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/aligned-array.hpp"
#include "engine/base/nonblocking.hpp"
#include "engine/base/settings.hpp"
#include "engine/parallel/dependencies.hpp"
#include "engine/parallel/done-actions.hpp"
#include "engine/parallel/random-jump.hpp"
#include "engine/parallel/stage-cuts.hpp"
#include "engine/rt/cache-line.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/schedule/task-graph.hpp"
#include "engine/schedule/trace.hpp"
#include "engine/voices/costs.hpp"
#include "engine/voices/voice-runner.hpp"
#include "engine/world/block-inputs.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace scs {

/// Computes several blocks at once, while nothing happens between them: one thread is already at the first tasks of the
/// next block while another is at the last tasks of this one. Each block under way has audio buses of its own, so tasks
/// write to buses at once and in their order, and what a task reads is there. Done actions are kept, and what has ended
/// itself isn't computed any more. docs/parallel.md says why no bit depends on it. [rt], after construction.
class BlockPipeline {
public:
    static constexpr int most_blocks = 64; ///< at once

    /// [worker] threads: each has a runner. lanes: of a batch.
    BlockPipeline(const Settings&, size_t most_items, int lanes, std::span<VoiceRunner>, Dependencies&, Buses&,
                  HeldOutput&, RandomState*, const RandomJump&, Trace&, const Deadline&, Costs&, TaskGraph&);

    /// Whether blocks of these tasks may be computed so. The tasks must stay as they are until close().
    bool plan(std::span<const Item>) noexcept SCS_NONBLOCKING;
    /// After plan(): how much there is to do in those of `blocks` blocks that pass the stages together: operations, one
    /// of a batch counting as four.
    size_t work_at_a_time(int blocks) const noexcept { return work_ * span_of(blocks); }
    /// Whether the stages have turned out so unequal that it is better planned anew.
    bool outdated() const noexcept { return unequal_ >= unequal_runs; }

    /// Opens the graph's next round. The first block has number `first`. `blocks`: 2 to most_blocks. The inputs must
    /// stay until close(). If the deadline passes, or the graph is stopped, threads stop within a stage.
    void open(int32_t first, int blocks, const BlockInputs&) noexcept SCS_NONBLOCKING;
    /// [any thread that computes] A task of the graph: a stage of a block, or of some that pass it together.
    void run(size_t thread, size_t stage, size_t block) noexcept SCS_NONBLOCKING;
    size_t stages() const noexcept { return stage_count_; }
    /// The stages are closed. Returns how many blocks are computed: all, unless it was stopped. What others have begun
    /// is lost then.
    int close() noexcept SCS_NONBLOCKING;

    /// ns, of the last blocks: how long a thread has to wait for others at their begin or end, as a stage of theirs
    /// takes so long.
    int64_t usual_wait() const noexcept SCS_NONBLOCKING;
    /// What that was before open().
    int64_t expected_wait() const noexcept { return expected_wait_; }

    /// Puts what a computed block has on the server's outputs on the engine's own buses. `index`: from 0 on.
    void put(int index, Buses&, int32_t block) const noexcept SCS_NONBLOCKING;

    /// A synth has ended or paused itself, or has crashed.
    struct Ending {
        static constexpr uint8_t crash = 255; ///< in place of a done action
        uint32_t index;                       ///< of the block
        uint32_t task;                        ///< in which task it did so …
        uint32_t order;                       ///< … and in which order
        uint32_t own;                         ///< its own task, and its lane in that: voices are freed in this order
        uint8_t lane, action;
        Synth* synth;
    };
    /// After close(), in the order in which done actions are performed.
    std::span<Ending> endings() noexcept SCS_NONBLOCKING;
    /// How many tasks helpers have computed so far.
    uint64_t by_helpers() const noexcept { return by_helpers_.load(std::memory_order_relaxed); }

private:
    static constexpr int unequal_runs = 8;
    static constexpr int64_t unmeasured = INT64_MAX;  ///< ns
    static constexpr size_t most_paused_bytes = 8192; ///< of a voice's record, where it pauses itself

    /// An item, which is computed in each of the blocks.
    struct alignas(cache_line) Task {
        Item of;
        uint32_t work;   ///< operations, one of a batch counting as four
        uint32_t live;   ///< lanes of a batch that go on; 1 or 0 of another synth
        bool takes_long; ///< the deadline is asked before it
        uint32_t paused; ///< lanes of a batch that paused themselves in these blocks
        uint32_t ran;    ///< those that were computed in the present block
        uint32_t ended;  ///< those that ended themselves in the present block …
        uint32_t tails;  ///< … and in the one before, so that they write the end of their sound now
        int32_t holder;  ///< the task in which a batch held what this voice adds to buses; -1: it is no such voice's
        Costs::Measured took; ///< when it was measured last, with those after it; no items: it wasn't
    };
    struct alignas(cache_line) Stage {
        uint32_t first, end; ///< tasks
        RandomState random;
        uint32_t numbers; ///< that are drawn in a block, if that is known
        bool draws;
        uint32_t whole; ///< blocks that were computed without being stopped
        int64_t least;  ///< ns, of the quickest of those that were measured
    };
    /// The audio buses of a block that is under way.
    struct Context {
        float* buses;
        int32_t* touched;
    };
    /// What notes a task's done actions.
    struct Noting {
        BlockPipeline* self;
        uint32_t index, task;
        DoneActions done{};
        void note(Synth&, int action) noexcept SCS_NONBLOCKING;
        void add(Synth&, uint32_t lane, uint8_t action) noexcept SCS_NONBLOCKING;
    };

    bool fits(const Item&, size_t task, int32_t& holder) const noexcept SCS_NONBLOCKING;
    static bool fits(Batch&) noexcept SCS_NONBLOCKING;
    static bool fits_graph(const Synth&) noexcept SCS_NONBLOCKING;
    uint32_t cost_of(const Task& task) const noexcept { return costs_.of(task.of.facts(), task.of.kind(), task.work); }
    bool add_task(const Item&) noexcept SCS_NONBLOCKING;
    bool cut() noexcept SCS_NONBLOCKING;
    bool find_cuts(const Runs&) noexcept SCS_NONBLOCKING;
    size_t items() const noexcept { return (count_ + span_ - 1) / span_; }
    size_t span_of(int blocks) const noexcept SCS_NONBLOCKING;
    bool run_block(size_t thread, size_t stage, size_t index, bool measured) noexcept SCS_NONBLOCKING;
    class Sample;
    bool run_tasks(size_t thread, Stage&, size_t index, bool measured) noexcept SCS_NONBLOCKING;
    bool run_task(size_t thread, Task&, Noting&) noexcept SCS_NONBLOCKING;
    bool run_graph(size_t thread, Synth&, Noting&) noexcept SCS_NONBLOCKING;
    bool stops() noexcept SCS_NONBLOCKING;
    void take_written() noexcept SCS_NONBLOCKING;
    void take_inputs(const Context&, size_t index) const noexcept SCS_NONBLOCKING;
    void keep_outputs(const Context&, size_t index) noexcept SCS_NONBLOCKING;
    void note_costs() noexcept SCS_NONBLOCKING;
    void balance() noexcept SCS_NONBLOCKING;
    Context context(size_t index) noexcept SCS_NONBLOCKING;

    const NanoClock clock_ = NanoClock::system();
    std::span<VoiceRunner> runners_;
    Dependencies& dependencies_; ///< of the items that are planned
    Buses& buses_;
    HeldOutput& held_;
    RandomState* const random_;
    const RandomJump& jump_;
    Trace& trace_;
    const Deadline& deadline_;
    StageCuts cuts_;
    TaskGraph& graph_;
    const size_t block_, inputs_, outputs_, audio_buses_;
    size_t context_count_;
    AlignedArray<float> context_buses_;
    AlignedArray<int32_t> context_touched_;
    AlignedArray<float> wires_; ///< of plugins' units: memory for each thread but the data loop's
    const size_t wire_floats_;
    AlignedArray<float> kept_; ///< of each block its outputs
    std::vector<uint8_t> kept_any_;
    const size_t paused_bytes_;     ///< of the largest record of a batch whose voices may pause themselves
    std::vector<std::byte> paused_; ///< a copy of such a record for each thread
    std::vector<Task> tasks_;
    size_t task_count_ = 0;
    size_t work_ = 0; ///< of all tasks
    size_t span_ = 1; ///< blocks that are one of the graph
    std::array<Stage, StageCuts::most_stages> stages_{};
    size_t stage_count_ = 0;
    Costs& costs_;
    std::vector<double> shares_; ///< of all work, each thread's
    double hand_over_ = 200;     ///< ns that a stage takes beside its tasks
    double items_ = 16;          ///< of the last blocks, in the mean
    int unequal_ = 0;
    bool guessed_ = false;      ///< a task's cost, when the stages were cut
    int64_t expected_wait_ = 0; ///< ns
    uint32_t numbers_ = 0;      ///< drawn in a block …
    bool draws_vary_ = false;   ///< … unless that isn't known
    bool hears_ = false;        ///< a task may reach the server's inputs
    const bool sends_;          ///< messages of synths go to clients
    int32_t first_ = 0;
    size_t count_ = 0;
    BlockInputs heard_{};
    std::vector<Ending> endings_;
    // Helpers write these while everybody reads what is above.
    alignas(cache_line) std::atomic<uint32_t> ending_count_{0};
    std::atomic<uint64_t> by_helpers_{0};
};

} // namespace scs
