// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/voices/batch-lanes.hpp"
#include "engine/voices/may-batch.hpp"

namespace scs {

/// Decides which voices are in a batch together: neighbours in one group, or voices that have only nodes between them
/// that they may pass (interleaved batches). Batches change only between two turns. [rt]
class Batching {
public:
    Batching(Records& records, int lanes) noexcept // [worker]
        : records_(records), lanes_(records, lanes) {}

    /// Called when a voice's turn comes. Removes voices that can't stay from its batch, and returns the batch; null if
    /// the voice is lone.
    Batch* before_turn(Synth&) noexcept SCS_NONBLOCKING;
    /// Called after the turn of a voice, or of all its batch: joins it with what is in front of it. Looks beyond
    /// neighbours only if it `searches`, as that takes time.
    void after_turn(Synth& synth, bool searches) noexcept {
        const bool beside = same_code(synth, synth.previous);
        const Batch* own = synth.voice->batch;
        if (searches || (beside && !(own && own->interleaved)))
            join_before(synth, searches);
    }

    /// Joins lone neighbours of one SynthDef, from `first` to `last`, none of which has had its first turn yet, with
    /// each other or with the batch that begins with the next node.
    void join_started(Synth& first, Synth& last) noexcept SCS_NONBLOCKING;

    /// Makes the voice lone.
    void leave(Synth&) noexcept SCS_NONBLOCKING;
    /// Makes all voices of the batch lone for some blocks (Voice::backoff).
    void break_up(Batch&) noexcept SCS_NONBLOCKING;
    /// Called when a node has come into its group, or when a voice has left its batch: splits the batch of neighbours
    /// around it.
    void split_at(Node&) noexcept SCS_NONBLOCKING;

private:
    void drop_unfit(Batch&) noexcept SCS_NONBLOCKING;
    void join_behind(Synth&) noexcept SCS_NONBLOCKING;
    void join_before(Synth&, bool searches) noexcept SCS_NONBLOCKING;
    void join_neighbours(Synth&, Synth& previous, bool fill) noexcept SCS_NONBLOCKING;
    void join_partner(Synth&) noexcept SCS_NONBLOCKING;
    void check_between(Batch&, Synth& first) noexcept SCS_NONBLOCKING;

    Records& records_;
    BatchLanes lanes_;
};

} // namespace scs
