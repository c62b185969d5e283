// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/voices/turns.hpp"

#include <utility>

namespace scs {

/// All voices of an engine: makes them, frees them and sets their controls. Turns and what it uses decide how voices
/// are computed, alone or several of one program side by side (docs/native-ugens.md says which file decides what).
/// Either way the samples are the same bits. [rt], after construction.
class Ensemble {
public:
    /// [worker] Throws if settings.threads asks for threads that can't be started.
    Ensemble(const Settings&, Buses&, Buffers&, RandomState*, Pool&, Deadline&, Trace&, std::shared_ptr<HelperPool>);

    /// Sets who performs done actions.
    void set_host(void* host, VoiceRunner::DoneAction) noexcept;
    /// New voices get this rate, Hz; existing ones keep theirs.
    void set_sample_rate(double rate) noexcept;
    void begin_block(int32_t number) noexcept { runner_.begin_block(number); }
    int32_t block_number() const noexcept { return runner_.block_number(); }
    // ---- with helper threads: nothing at all without
    void begin_cycle() noexcept {
        if (ahead_)
            ahead_->begin_cycle();
    }
    /// Returns Demand::end_cycle().
    bool end_cycle() noexcept { return ahead_ && ahead_->end_cycle(); }
    /// The walk of a block begins; after that, open_block() if helpers are asked, with the list of its items.
    void begin_walk() noexcept {
        if (!ahead_)
            return;
        ahead_->begin_walk();
        turns_.begin_walk(nullptr);
    }
    void open_block() noexcept {
        ahead_->open_block(block_number(), list_);
        turns_.begin_walk(ahead_.get());
    }
    /// It is at its end, or is given up: then this comes before drop_block().
    void end_walk() noexcept {
        if (ahead_)
            ahead_->close_block();
    }
    /// Whether helpers are asked in this cycle, so that the items of blocks are to be listed.
    bool helped() const noexcept { return ahead_ && ahead_->asks(); }
    /// Between two blocks: to be made anew, by list_synth() of all synths in the order of the nodes, unless it is
    /// current.
    RenderList& list() noexcept { return list_; }
    /// Returns the node that comes after what the synth's turn computes.
    Node* list_synth(Synth& synth) noexcept { return turns_.list(synth); }
    /// Whether voices are to search for others to be batched with before run_blocks(), where there is no walk in which
    /// they would: then search() of all synths, in the order of the nodes.
    bool search_is_due() const noexcept { return ahead_->search_is_due(list_); }
    void begin_search() noexcept { ahead_->note_search(); }
    Node* search(Synth& synth) noexcept {
        return synth.voice && synth.run == Run::on ? turns_.search(synth) : synth.next;
    }
    /// The same with voices beside it alone.
    Node* join(Synth& synth) noexcept { return synth.voice && synth.run == Run::on ? turns_.join(synth) : synth.next; }
    // In place of walks, see Ahead; begin_block() comes before.
    static constexpr int most_blocks = Ahead::most_blocks;
    int run_blocks(int blocks, const BlockInputs& inputs) noexcept {
        return ahead_->run_blocks(block_number(), blocks, inputs, list_);
    }
    std::span<BlockPipeline::Ending> endings() noexcept { return ahead_->endings(); }
    template <class Visit>
    void each_cost(Visit&& visit) const {
        ahead_->pipelined().each_cost(visit);
    }
    void put_block(int index, Buses& buses) const noexcept { ahead_->pipelined().put(index, buses, block_number()); }
    /// To be called before anything but a turn reaches a bus or changes a voice.
    void flush() noexcept {
        if (ahead_)
            ahead_->flush();
    }
    /// Whether or where nodes have their turns has changed, other than by entered(), leave() or run_changed().
    void order_changed() noexcept { list_.note_change(); }
    /// [any] How many batches helpers have computed so far.
    uint64_t computed_ahead() const noexcept { return ahead_ ? ahead_->computed() : 0; }
    /// Whether a helper has crashed, so that voices are in no state to go on.
    bool failed() const noexcept { return ahead_ && ahead_->failed(); }
    /// [worker] Helpers::leave_within().
    bool dismiss_helpers(int64_t nsec) noexcept { return !ahead_ || ahead_->dismiss_helpers(nsec); }

    /// The block isn't computed to its end: forgets what voices would still have added to buses.
    void drop_block() noexcept { held_.drop_all(); }

    /// Lays a voice out in `memory` (Voice::bytes()). Null if there is no memory for its record. `controls`: a value
    /// for each. The voice starts at frame `sample_offset` of its first block plus `subsample_offset` of a frame.
    Voice* make(void* memory, const NativeCode&, const float* controls, int sample_offset,
                float subsample_offset) noexcept;
    /// Starts the voice's units. false: the deadline passed before the end; call go_on_starting() before any other
    /// turn, or abandon_start().
    bool start(Synth&) noexcept;
    /// A voice for whose start there was no time yet; null: none.
    Synth* starting() const noexcept { return starting_; }
    /// Goes on with that. Returns as start().
    bool go_on_starting() noexcept {
        Synth& synth = *std::exchange(starting_, nullptr);
        return start(synth);
    }
    void abandon_start() noexcept {
        runner_.abandon_start();
        starting_ = nullptr;
    }
    /// Takes the voice out of its batch and frees what it owns.
    void destroy(Synth&) noexcept;
    void set_control(Synth&, int index, float value) noexcept;
    /// Maps a control to a control bus (`to` = bus + 1) or an audio bus (-bus - 1), or unmaps it (0).
    void map_control(Synth&, int index, int32_t to) noexcept;

    /// Called when a node has come into its group.
    void entered(Node& node) noexcept {
        batching_.split_at(node);
        list_.note_change();
    }
    /// Whether a voice that starts may do so before the block that is being listed: if none of the items so far matters
    /// to that.
    bool starts_anywhere(const Synth& synth) const noexcept {
        return list_.lets_start() && synth.voice && synth.voice->code->starts_anywhere && !synth.voice->maps;
    }
    /// Called when a synth's Run was set. A voice's batch may be being computed right now, so the voice leaves it
    /// before the next turn.
    void run_changed(const Synth& synth) noexcept {
        list_.note_change();
        if (synth.voice && synth.voice->batch)
            synth.voice->batch->stale = true;
    }
    /// Called when a control of a synth of plugins' units was set; `mapped`: or mapped to a bus, or unmapped.
    void graph_control_changed(const Synth& synth, int index, bool mapped) noexcept {
        if (mapped || synth.facts->is_bus(index))
            list_.note_change();
    }
    /// Called when a synth leaves its group. Where it goes to may be paused.
    void leave(Synth& synth) noexcept {
        list_.note_change();
        if (synth.voice)
            batching_.leave(synth);
    }

    /// How many voices the turn of this one computes; 0: none, or that can't be told before.
    static int voices_in_turn(const Synth& synth) noexcept {
        const Batch* batch = synth.voice->batch;
        return !batch ? synth.ahead.job < 0 : pending(synth) || batch->ahead.job >= 0 ? 0 : batch->count();
    }
    /// Whether it is the first voice of a batch, so that batches can be counted by their voices.
    static bool leads_batch(const Synth& synth) noexcept {
        const Batch* batch = synth.voice ? synth.voice->batch : nullptr;
        return batch && batch->live && batch->synths[batch->first()] == &synth;
    }
    static bool pending(const Synth& synth) noexcept { return Turns::pending(synth); }
    Node* take_turn(Synth& synth) noexcept { return turns_.take(synth); }
    /// Makes a voice lone and takes its turn, printing each unit's inputs and outputs. For /n_trace.
    void take_turn_traced(Synth&, const Program&, Outbox&) noexcept;

    /// What native units in a graph of plugins' units are called with; the caller sets the synth and the address of the
    /// state. The rates are valid until the next call of set_sample_rate().
    Block block_for_graph() noexcept { return runner_.block(nullptr, runner_.rates()); }

private:
    HeldOutput held_;
    RenderList list_;
    Synth* starting_ = nullptr;
    Records records_;
    VoiceRunner runner_;
    Batching batching_;
    std::unique_ptr<Ahead> ahead_; ///< null: there are no helpers
    Turns turns_;
};

} // namespace scs
