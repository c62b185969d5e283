// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/voices/batching.hpp"
#include "engine/voices/voice-runner.hpp"

namespace scs {

/// When voices are computed: each when the walk through the tree comes to it, its turn, but those of a batch all in the
/// turn of the first. An interleaved batch holds what its voices add to buses until the turn of each. [rt]
class Turns {
public:
    Turns(Batching& batching, VoiceRunner& runner, HeldOutput& held, bool batches) noexcept // [worker]
        : batching_(batching), runner_(runner), held_(held), batches_(batches) {}

    /// Whether a voice has been computed in this block, but its turn is to come: it is to be taken though the voice may
    /// have been paused or ended since.
    static bool pending(const Synth& synth) noexcept {
        const Voice& voice = *synth.voice;
        return voice.batch && (voice.batch->pending >> voice.lane & 1u);
    }
    /// A voice's turn, and those of the neighbours in its batch. Returns the node behind the last of them, whose turn
    /// is next; null at the end of the group.
    Node* take(Synth&) noexcept;

private:
    Batch* batch_to_run(Synth&) noexcept;
    void add_held(Synth&) noexcept;

    Batching& batching_;
    VoiceRunner& runner_;
    HeldOutput& held_;
    bool batches_;
};

} // namespace scs
