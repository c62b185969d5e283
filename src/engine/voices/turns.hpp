// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/voices/ahead.hpp"
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
    /// Takes the turn of a voice and of the neighbours in its batch. Returns the node behind the last of them, which is
    /// next; null at the end of the group.
    Node* take(Synth&) noexcept;
    /// Between two blocks: lists what is computed in a synth's turn in the next one, and returns the next node, as
    /// take() does.
    Node* list(Synth&) noexcept;
    /// Between two blocks: lets a voice search for others to be batched with, and returns the next node, as take()
    /// does.
    Node* search(Synth&) noexcept;
    /// The same with its neighbours alone.
    Node* join(Synth&) noexcept;

private:
    Ahead::Turn begin_turn(Synth&) noexcept;
    static Node* behind(const Synth&) noexcept;
    Node* end_early(Synth&) noexcept;
    Batch* batch_to_run(Synth&) noexcept;
    Node* end_turn(Synth&, Batch&) noexcept;
    void add_held(Synth&) noexcept;
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
    int64_t traced_ = 0; ///< what Trace::begin() returned, if the walk computes what has its turn
    bool batches_;
};

} // namespace scs
