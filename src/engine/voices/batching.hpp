// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/voices/batch-lanes.hpp"
#include "engine/voices/may-batch.hpp"

namespace scs {

/// Which voices are in a batch together. Neighbours in one group are, or voices with only such nodes between them as
/// they may pass: those batches are interleaved. All that changes a batch, changes it between two turns. [rt]
class Batching {
public:
    Batching(Records& records, int lanes) noexcept : records_(records), lanes_(records, lanes) {} // [worker]

    /// The batch that a voice is in when its turn comes; null: it is lone. Those that can't stay have left it.
    Batch* before_turn(Synth&) noexcept;
    /// After the turn of a voice, or of all of its batch: joins it with what is before it. To look beyond its
    /// neighbours takes time, so that is done only if it `searches`.
    void after_turn(Synth& synth, bool searches) noexcept {
        const bool beside = same_code(synth, synth.previous);
        const Batch* own = synth.voice->batch;
        if (searches || (beside && !(own && own->interleaved)))
            join_before(synth, searches);
    }

    /// The voice is lone from now on.
    void leave(Synth&) noexcept;
    /// Its voices are lone, and stay so for a while.
    void break_up(Batch&) noexcept;
    /// A node has come into its group, or a voice isn't in its batch any more: no batch of neighbours reaches across
    /// it.
    void split_at(Node&) noexcept;

private:
    void drop_unfit(Batch&) noexcept;
    void join_behind(Synth&) noexcept;
    void join_before(Synth&, bool searches) noexcept;
    void join_neighbours(Synth&, Synth& previous, bool fill) noexcept;
    void join_partner(Synth&) noexcept;
    void check_between(Batch&, Synth& first) noexcept;

    Records& records_;
    BatchLanes lanes_;
};

} // namespace scs
