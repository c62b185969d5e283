// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/ensemble/turns.hpp"

#include <utility>

namespace scs {

/// All voices of an engine: makes them, frees them and sets their controls. Turns and what it uses decide how voices
/// are computed, alone or several of one program side by side (docs/native-ugens.md says which file decides what).
/// Either way the samples are the same bits. [rt], after construction.
class Ensemble {
public:
    /// [worker] Throws if settings.threads asks for threads that can't be started.
    Ensemble(const Settings&, Buses&, Buffers&, RandomState*, Pool&, Deadline&, Trace&, std::shared_ptr<HelperPool>);

    /// Sets what performs done actions.
    void set_host(void* host, VoiceRunner::DoneAction) noexcept SCS_NONBLOCKING;
    /// What hears what units tell.
    void set_listener(SynthListener&) noexcept SCS_NONBLOCKING;
    /// New voices get this rate, Hz; existing ones keep theirs.
    void set_sample_rate(double rate) noexcept SCS_NONBLOCKING;
    void begin_block(int32_t number) noexcept { runner_.begin_block(number); }
    int32_t block_number() const noexcept { return runner_.block_number(); }
    /// When its voices are computed.
    Turns& turns() noexcept { return turns_; }
    /// What computes with helpers; null: there are none.
    Ahead* ahead() const noexcept { return ahead_.get(); }
    /// Whether helpers are asked in this cycle, so that the items of blocks are to be listed.
    bool helped() const noexcept { return ahead_ && ahead_->asks(); }
    /// Whether a helper has crashed, so that voices are in no state to go on.
    bool failed() const noexcept { return ahead_ && ahead_->failed(); }
    /// Between two blocks: to be made anew, by Turns::list() of all synths in the order of the nodes, unless it is
    /// current.
    RenderList& list() noexcept { return list_; }
    /// What its synths and those of plugins' units take.
    Costs& costs() noexcept { return costs_; }

    /// Lays a voice out in `memory` (Voice::bytes()). Null if there is no memory for its record. `controls`: a value
    /// for each. The voice starts at frame `sample_offset` of its first block plus `subsample_offset` of a frame.
    Voice* make(void* memory, const NativeCode&, const float* controls, int sample_offset,
                float subsample_offset) noexcept SCS_NONBLOCKING;
    /// Takes the voice out of its batch and frees what it owns.
    void destroy(Synth&) noexcept SCS_NONBLOCKING;
    void set_control(Synth&, int index, float value) noexcept SCS_NONBLOCKING;
    /// Maps a control to a control bus (`to` = bus + 1) or an audio bus (-bus - 1), or unmaps it (0).
    void map_control(Synth&, int index, int32_t to) noexcept SCS_NONBLOCKING;

    /// Called when a node has come into its group.
    void entered(Node& node) noexcept {
        batching_.split_at(node);
        list_.note_change();
    }
    /// Whether or where nodes have their turns has changed, other than by entered(), leave() or run_changed().
    void order_changed() noexcept { list_.note_change(); }
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

    /// What native units in a graph of plugins' units are called with; the caller sets the synth and the address of the
    /// state. The rates are valid until the next call of set_sample_rate().
    Block block_for_graph() noexcept { return runner_.block(nullptr, runner_.rates()); }

private:
    HeldOutput held_;
    RenderList list_;
    Costs costs_;
    Records records_;
    VoiceRunner runner_;
    Batching batching_;
    std::unique_ptr<Ahead> ahead_; ///< null: there are no helpers
    Turns turns_;
};

} // namespace scs
