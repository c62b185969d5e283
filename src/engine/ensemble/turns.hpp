// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/parallel/ahead.hpp"
#include "engine/voices/batching.hpp"
#include "engine/voices/voice-runner.hpp"

#include <utility>

namespace scs {

/// Decides when voices are computed. A voice's turn is the moment when the walk through the tree reaches it. A lone
/// voice is computed then, a batch in the turn of its first voice. An interleaved batch holds what each voice adds to
/// buses until that voice's turn. [rt]
class Turns {
public:
    /// [worker]
    Turns(Batching& batching, VoiceRunner& runner, HeldOutput& held, RenderList& list, Trace& trace,
          bool batches) noexcept
        : batching_(batching), runner_(runner), held_(held), list_(list), trace_(trace), batches_(batches) {}

    // ---- when a voice starts

    /// Starts the voice's units. false: the deadline passed before the end; call go_on_starting() before any other
    /// turn, or abandon_start().
    bool start(Synth&) noexcept SCS_NONBLOCKING;
    /// A voice for whose start there was no time yet; null: none.
    Synth* starting() const noexcept { return starting_; }
    /// Goes on with that. Returns as start().
    bool go_on_starting() noexcept { return start(*std::exchange(starting_, nullptr)); }
    void abandon_start() noexcept {
        runner_.abandon_start();
        starting_ = nullptr;
    }
    /// Whether a voice that starts may do so before the block that is being listed: if none of the items so far matters
    /// to that.
    bool starts_anywhere(const Synth& synth) const noexcept {
        return list_.lets_start() && synth.voice && synth.voice->code->starts_anywhere && !synth.voice->maps;
    }

    /// Whether a new voice may start before the block of the one in front of it, of its kind, is computed. Never
    /// without batches.
    bool may_start_before(const Synth& one, const Node* next) const noexcept {
        return batches_ && next && next->run == Run::first && same_code(one, next) &&
               alike(one, *static_cast<const Synth*>(next)) && one.voice->code->batchable &&
               one.voice->code->starts_anywhere && !one.facts->writes_buffers &&
               !static_cast<const Synth*>(next)->voice->maps;
    }
    /// Batches voices that have just started, from `first` to `last`, none of which was computed yet.
    void join_started(Synth& first, Synth& last) noexcept { batching_.join_started(first, last); }

    // ---- in a walk

    /// The walk of a block begins. Null: nothing is computed ahead in it.
    void begin_walk(Ahead* ahead) noexcept {
        ahead_ = ahead;
        traced_ = 0;
    }

    /// Whether a voice is computed, but its turn in this block is still to come. take() must be called for it, even if
    /// it was paused or ended since.
    static bool pending(const Synth& synth) noexcept {
        const Voice& voice = *synth.voice;
        return voice.batch && (voice.batch->pending >> voice.lane & 1u);
    }
    /// Takes the turn of a voice and of the neighbours in its batch. Returns the node after the last of them, which is
    /// next; null at the end of the group.
    Node* take(Synth&) noexcept SCS_NONBLOCKING;
    /// Makes a voice lone and takes its turn, printing each unit's inputs and outputs. For /n_trace.
    void take_traced(Synth&, const Program&, Outbox&) noexcept SCS_NONBLOCKING;
    /// The block isn't computed to its end: forgets what voices would still have added to buses.
    void drop_block() noexcept { held_.drop_all(); }
    /// How many voices the turn of this one computes; 0: none, or that can't be told before.
    static int voices_in_turn(const Synth& synth) noexcept {
        const Batch* batch = synth.voice->batch;
        return !batch ? synth.ahead.planned < 0 : pending(synth) || batch->ahead.planned >= 0 ? 0 : batch->count();
    }

    /// Whether it is the first voice of a batch, so that batches can be counted by their voices.
    static bool leads_batch(const Synth& synth) noexcept {
        const Batch* batch = synth.voice ? synth.voice->batch : nullptr;
        return batch && batch->live && batch->synths[batch->first()] == &synth;
    }

    // ---- between two blocks

    /// Lists what is computed in a synth's turn in the next one, and returns the next node, as take() does.
    Node* list(Synth&) noexcept SCS_NONBLOCKING;
    /// Lets a voice search for others to be batched with, and returns the next node, as take() does.
    Node* search(Synth&) noexcept SCS_NONBLOCKING;
    /// As search(), but only among its neighbours.
    Node* join(Synth&) noexcept SCS_NONBLOCKING;

private:
    Ahead::State begin_turn(Synth&) noexcept SCS_NONBLOCKING;
    static bool may_be_joined(const Synth& synth) noexcept { return synth.voice && synth.run == Run::on; }
    static Node* behind(const Synth&) noexcept SCS_NONBLOCKING;
    Node* end_early(Synth&) noexcept SCS_NONBLOCKING;
    Batch* batch_to_run(Synth&) noexcept SCS_NONBLOCKING;
    Node* end_turn(Synth&, Batch&) noexcept SCS_NONBLOCKING;
    void add_held(Synth&) noexcept SCS_NONBLOCKING;
    /// With helpers, what the walk computes is traced as what they do is.
    void trace_turn(Item one) noexcept {
        if (traced_)
            trace_.end(0, TraceKind::job, std::exchange(traced_, 0), one.voices(), one.code().name);
    }

    Batching& batching_;
    VoiceRunner& runner_;
    HeldOutput& held_;
    RenderList& list_;
    Ahead* ahead_ = nullptr;
    Trace& trace_;
    Synth* starting_ = nullptr;
    int64_t traced_ = 0; ///< what Trace::begin() returned, if the walk computes what has its turn
    bool batches_;
};

} // namespace scs
