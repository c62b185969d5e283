// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/turns.hpp"

namespace scs {
namespace {

constexpr int search_interval = 8;    // blocks between two searches of a voice for partners; a power of two
constexpr int deferred_interval = 64; // the same where a search holds others up

} // namespace

Node* Turns::take(Synth& synth) noexcept {
    if (!batches_) {
        runner_.run(synth);
        return synth.next;
    }
    const bool computed = computed_ahead(synth);
    if (computed && !synth.voice->batch->interleaved)
        return defer(synth);
    if (ahead_)
        ahead_->flush();
    Node* next = synth.next;
    if (pending(synth)) {
        add_held(synth);
    } else if (computed) {
        Batch& batch = *synth.voice->batch;
        runner_.run_kept(batch, ahead_->kept());
        next = end_turn(synth, batch);
    } else if (Batch* batch = batch_to_run(synth)) {
        runner_.run(*batch);
        next = end_turn(synth, *batch);
    } else {
        if (synth.voice->backoff)
            --synth.voice->backoff;
        runner_.run(synth);
        if (ahead_ && !acts_on_itself(synth))
            list_.pass_barrier();
    }
    batching_.after_turn(synth, ((runner_.block_number() ^ synth.id) & (search_interval - 1)) == 0);
    return next;
}

/// The turn of a batch of neighbours that is computed. It isn't joined with others each time, as it is to stay as it is
/// until it has been added.
Node* Turns::defer(Synth& synth) noexcept {
    Batch& batch = *synth.voice->batch;
    ahead_->defer(batch);
    Node* const next = end_turn(synth, batch);
    if (((runner_.block_number() ^ synth.id) & (deferred_interval - 1)) == 0) {
        ahead_->flush();
        batching_.after_turn(synth, true);
    }
    return next;
}

bool Turns::computed_ahead(const Synth& synth) noexcept {
    Batch* const batch = synth.voice->batch;
    return batch && batch->job >= 0 && ahead_->take(*batch);
}

/// After the turn of a batch, which is this voice's. Returns the node behind the last that has had its turn.
Node* Turns::end_turn(Synth& synth, Batch& batch) noexcept {
    if (ahead_)
        list_.add(batch);
    if (!batch.interleaved)
        return batch.synths[batch.last()]->next;
    batch.pending = batch.live;
    add_held(synth);
    return synth.next;
}

/// The batch to compute in this voice's turn; null: the voice alone.
Batch* Turns::batch_to_run(Synth& synth) noexcept {
    Batch* batch = batching_.before_turn(synth);
    if (!batch)
        return nullptr;
    bool together = true;
    if (!batch->interleaved && !batch->code->bus_uses.empty()) {
        runner_.follow_maps(*batch);
        if (!reaches_apart(*batch)) {
            // They can still be a batch if each adds to buses in its own turn and affects others in no other way.
            together = batch->interleaved = batch->code->commutes;
            batch->checked = synth.parent->entered;
        }
    }
    if (batch->interleaved)
        together = held_.take_slot(*batch);
    if (together)
        return batch;
    batching_.break_up(*batch);
    return nullptr;
}

void Turns::add_held(Synth& synth) noexcept {
    runner_.add_held(synth);
    Batch& batch = *synth.voice->batch;
    batch.pending &= ~(1u << synth.voice->lane);
    if (!batch.pending)
        held_.free_slot(batch);
}

} // namespace scs
