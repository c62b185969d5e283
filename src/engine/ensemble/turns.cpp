// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ensemble/turns.hpp"

namespace scs {
namespace {

constexpr int search_interval = 8;    // blocks between two searches of a voice for partners; a power of two
constexpr int deferred_interval = 64; // the same where a search holds others up

/// Whether a voice is to search for partners in the walk of this block, the first time in some blocks.
bool searches(int32_t block, const Synth& synth, int interval, int blocks = 1) noexcept {
    return ((block ^ synth.id) & (interval - 1)) < blocks;
}

} // namespace

bool Turns::start(Synth& synth) noexcept {
    synth.voice->constructed = true;
    if (runner_.start(synth))
        return true;
    starting_ = &synth;
    return false;
}

void Turns::take_traced(Synth& synth, const Program& program, Outbox& outbox) noexcept {
    batching_.leave(synth);
    batching_.split_at(synth);
    runner_.run_traced(synth, program, outbox);
}

Node* Turns::take(Synth& synth) noexcept {
    if (!batches_) {
        runner_.run(synth);
        return synth.next;
    }
    Batch* const own = synth.voice->batch;
    bool computed = false;
    if (ahead_) {
        traced_ = 0;
        const Ahead::State state = begin_turn(synth);
        if (state == Ahead::State::written)
            return end_early(synth);
        computed = state == Ahead::State::computed;
        if (computed && own && !own->interleaved) {
            ahead_->defer();
            return end_early(synth);
        }
        ahead_->flush();
        traced_ = computed ? 0 : trace_.begin();
    }
    Node* next = synth.next;
    if (pending(synth)) {
        add_held(synth);
    } else if (computed && own) {
        ahead_->write();
        next = end_turn(synth, *own);
    } else if (computed) {
        ahead_->write();
    } else if (Batch* batch = batch_to_run(synth)) {
        runner_.run(*batch);
        next = end_turn(synth, *batch);
    } else {
        if (synth.voice->backoff)
            --synth.voice->backoff;
        runner_.run(synth);
        if (ahead_)
            trace_turn({nullptr, &synth});
    }
    const int blocks = ahead_ ? ahead_->blocks_since_search() : 1;
    batching_.after_turn(synth, searches(runner_.block_number(), synth, search_interval, blocks));
    return next;
}

// Only in the first turn of an interleaved batch is it seen to which voices are in it, as in the walk.
Node* Turns::list(Synth& synth) noexcept {
    if (!acts_on_itself(synth)) {
        list_.end_early();
        return synth.next;
    }
    switch (synth.run) {
    case Run::off: return synth.next;
    case Run::first:
    case Run::first_paused: list_.add_newcomer(); return synth.next;
    case Run::traced:
    case Run::ending: // when it is freed, it may write the end of its sound
        list_.need_walk();
        list_.add(synth);
        return synth.next;
    case Run::on: break;
    }
    if (!synth.voice) {
        list_.add(synth);
        return synth.next;
    }
    Batch* batch = synth.voice->batch;
    if (!batch || !list_.has({batch, nullptr}))
        batch = batching_.before_turn(synth);
    if (batch)
        list_.add(*batch);
    if (!batch || batch->interleaved)
        list_.add(synth);
    return behind(synth);
}

Node* Turns::search(Synth& synth) noexcept {
    if (!may_be_joined(synth))
        return synth.next;
    Node* const next = behind(synth);
    if (synth.voice->backoff)
        --synth.voice->backoff;
    else
        batching_.after_turn(synth, true);
    return next;
}

Node* Turns::join(Synth& synth) noexcept {
    if (!may_be_joined(synth))
        return synth.next;
    Node* const next = behind(synth);
    batching_.after_turn(synth, false);
    return next;
}

/// The node whose turn comes after the voice's, and those of its neighbours in its batch.
Node* Turns::behind(const Synth& synth) noexcept {
    const Batch* batch = synth.voice->batch;
    return batch && !batch->interleaved ? batch->synths[batch->last()]->next : synth.next;
}

/// After the turn of what is computed and will be written by itself. It isn't joined with others each time, as it is to
/// stay as it is until then.
Node* Turns::end_early(Synth& synth) noexcept {
    Node* next = synth.next;
    if (Batch* batch = synth.voice->batch)
        next = end_turn(synth, *batch);
    if (searches(runner_.block_number(), synth, deferred_interval)) {
        ahead_->flush();
        batching_.after_turn(synth, true);
    }
    return next;
}

Ahead::State Turns::begin_turn(Synth& synth) noexcept {
    Batch* const batch = synth.voice->batch;
    const Item own{batch, batch ? nullptr : &synth};
    return own.place().planned >= 0 ? ahead_->take(own) : Ahead::State::to_compute;
}

/// After the turn of a batch, which is this voice's. Returns the node after the last that has had its turn.
Node* Turns::end_turn(Synth& synth, Batch& batch) noexcept {
    if (ahead_)
        trace_turn({&batch, nullptr});
    if (!batch.interleaved)
        return behind(synth);
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
    if (!batch->interleaved && batch->code->reaches_may_meet) {
        runner_.follow_maps(*batch);
        if (!reaches_apart(*batch)) {
            // They can still be a batch if each adds to buses in its own turn and affects others in no other way.
            together = batch->interleaved = batch->code->commutes;
            list_.note_change();
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
