// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/voices/turns.hpp"

namespace scs {

/// All voices of native UGens of an engine: their lives and their controls. How they are computed, alone or several of
/// one program side by side, is decided below: docs/native-ugens.md says which file decides what. The bits are those
/// that each voice would have alone. [rt], after construction.
class Ensemble {
public:
    Ensemble(const Settings&, Buses&, Buffers&, RandomState*, Pool&); // [worker]

    /// Who is told what a UGen wants when it is done.
    void set_host(void* host, VoiceRunner::DoneAction done_action) noexcept { runner_.set_host(host, done_action); }
    /// New voices get this rate, Hz; the others keep theirs.
    void set_sample_rate(double rate) noexcept;
    void begin_block(int32_t number) noexcept { runner_.begin_block(number); }

    /// Lays a voice out in `memory` (Voice::bytes()); null without memory for its record. `controls`: a value each. It
    /// starts at the frame `sample_offset` of its first block and `subsample_offset` of a frame behind it.
    Voice* make(void* memory, const NativeCode&, const float* controls, int sample_offset,
                float subsample_offset) noexcept;
    /// Starts its units.
    void start(Synth&) noexcept;
    /// Gives back what it holds. It leaves its batch.
    void destroy(Synth&) noexcept;
    void set_control(Synth&, int index, float value) noexcept;
    /// To a control bus (bus + 1), an audio bus (-bus - 1), or 0: to none.
    void map_control(Synth&, int index, int32_t to) noexcept;

    /// A node has come into its group.
    void entered(Node& node) noexcept { batching_.split_at(node); }
    /// A voice's Run was set. Perhaps its batch is being computed, so it leaves that only before the next turn.
    static void run_changed(const Synth& synth) noexcept {
        if (synth.voice->batch)
            synth.voice->batch->stale = true;
    }
    /// A voice goes out of its group.
    void leave(Synth& synth) noexcept { batching_.leave(synth); }

    static bool pending(const Synth& synth) noexcept { return Turns::pending(synth); }
    Node* take_turn(Synth& synth) noexcept { return turns_.take(synth); }
    /// A turn of a voice that is lone from now on, printing each unit's inputs and outputs. For /n_trace.
    void take_turn_traced(Synth&, const Program&, Outbox&) noexcept;

    /// What native units in a graph of plugins' units run with, but for the synth and what they keep. The rates are
    /// valid until the next call of set_sample_rate().
    Block block_for_graph() noexcept { return runner_.block(nullptr, rates_); }

private:
    int block_size_;
    VoiceRates rates_{};
    HeldOutput held_;
    Records records_;
    VoiceRunner runner_;
    Batching batching_;
    Turns turns_;
};

} // namespace scs
