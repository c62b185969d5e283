// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/batching.hpp"

namespace scs {
namespace {

constexpr int backoff_blocks = 64; // how long voices stay lone after their batch was broken up
constexpr int longest_span = 1024; // nodes, from an interleaved batch's first voice to its last

} // namespace

// ---- before a turn

Batch* Batching::before_turn(Synth& synth) noexcept {
    const Voice& voice = *synth.voice;
    if (voice.batch && voice.batch->stale)
        drop_unfit(*voice.batch);
    if (!voice.batch)
        join_behind(synth);
    if (voice.batch && voice.batch->interleaved)
        check_between(*voice.batch, synth);
    return voice.batch;
}

void Batching::drop_unfit(Batch& batch) noexcept {
    batch.stale = false;
    for (Synth* synth : batch.members()) {
        // If there is no memory, all leave with the first one.
        if (synth->voice->batch != &batch || may_batch(synth))
            continue;
        const bool last = batch.count() == 1;
        leave(*synth);
        if (last)
            return;
        if (!batch.interleaved)
            split_at(*synth);
    }
}

/// Adds a lone voice to the batch that begins with the next node.
void Batching::join_behind(Synth& synth) noexcept {
    if (!same_code(synth, synth.next) || !may_batch(&synth) || !may_batch(synth.next))
        return;
    const Synth& next = static_cast<const Synth&>(*synth.next);
    if (Batch* behind = next.voice->batch;
        behind && behind->ahead.planned < 0 && !behind->stale && !behind->interleaved && alike(synth, next))
        (void)lanes_.prepend(*behind, synth);
}

/// Checks an interleaved batch again if nodes have come into the group. Voices after a node that doesn't let them pass
/// become lone. If nothing is left between the voices, they become a batch of neighbours. `first` is the first voice of
/// the batch.
void Batching::check_between(Batch& batch, Synth& first) noexcept {
    if (batch.checked == first.parent->entered)
        return;
    batch.checked = first.parent->entered;
    Synth* reached[most_lanes];
    uint32_t unreached = batch.live;
    int span = 0, count = 0;
    for (Node* node = &first; span < longest_span && node && unreached; ++span, node = node->next) {
        if (const Voice* voice = voice_of(node); voice && voice->batch == &batch) {
            unreached &= ~(1u << voice->lane);
            reached[count++] = static_cast<Synth*>(node);
        } else if (!passes(*batch.code, *node)) {
            break;
        }
    }
    for (uint32_t left = unreached & batch.live; left; left &= batch.live & (left - 1))
        records_.unpack(batch, *batch.synths[std::countr_zero(left)]);
    if (span != count || !batch.live)
        return;
    if (Batch* neighbours = records_.make_batch(*first.voice)) {
        for (int i = 0; i < count; ++i)
            records_.move(*reached[i], *neighbours, i);
        records_.free(batch);
    }
}

// ---- after a turn

void Batching::join_before(Synth& synth, bool searches) noexcept {
    if (!may_batch(&synth))
        return;
    if (same_code(synth, synth.previous) && may_batch(synth.previous)) {
        Synth& previous = static_cast<Synth&>(*synth.previous);
        if (alike(previous, synth))
            return join_neighbours(synth, previous, searches);
    }
    if (searches && synth.voice->code->commutes)
        join_partner(synth);
}

void Batching::join_neighbours(Synth& synth, Synth& previous, bool fill) noexcept {
    Batch *own = synth.voice->batch, *front = previous.voice->batch;
    if (front && front->stale)
        return;
    if (own && !front) {
        (void)lanes_.prepend(*own, previous);
    } else if (own) {
        if (front != own)
            lanes_.combine(*front, *own, synth, fill);
    } else if (front) {
        (void)lanes_.append(*front, synth);
    } else if (same_code(synth, previous.previous) && may_batch(previous.previous)) {
        // A batch pays off from three voices on.
        Synth& first = static_cast<Synth&>(*previous.previous);
        if (first.voice->batch || !alike(first, synth))
            return;
        if (Batch* batch = records_.make_batch(*synth.voice))
            for (Synth* one : {&first, &previous, &synth})
                (void)lanes_.append(*batch, *one);
    }
}

void Batching::join_partner(Synth& synth) noexcept {
    const Partner partner = partner_before(synth);
    if (!partner.voice)
        return;
    Batch *own = synth.voice->batch, *front = partner.voice->voice->batch;
    if (front && (front->stale || (own && lanes_.full(*front))))
        return;
    for (Batch* batch : {front, own})
        if (batch)
            lanes_.interleave(*batch);
    if (front && own) {
        lanes_.combine(*front, *own, *partner.behind, true);
    } else if (front) {
        (void)lanes_.append(*front, synth);
    } else if (own) {
        (void)lanes_.prepend(*own, *partner.voice);
    } else {
        Synth* first = partner_before(*partner.voice).voice;
        if (!first || first->voice->batch)
            return;
        if (Batch* batch = records_.make_batch(*synth.voice)) {
            batch->interleaved = true;
            for (Synth* one : {first, partner.voice, &synth})
                (void)lanes_.append(*batch, *one);
        }
    }
}

void Batching::join_started(Synth& first, Synth& last) noexcept {
    Synth* end = &last;
    while (true) {
        join_behind(*end);
        if (!end->voice->batch || end == &first)
            break;
        end = static_cast<Synth*>(end->previous);
    }
    if (end->voice->batch || !may_batch(&first) || end == &first || end->previous == &first)
        return; // a batch pays off from three voices on
    if (Batch* batch = records_.make_batch(*first.voice))
        for (Synth* one = &first;; one = static_cast<Synth*>(one->next)) {
            (void)lanes_.append(*batch, *one);
            if (one == end)
                break;
        }
}

// ---- leaving

void Batching::leave(Synth& synth) noexcept {
    Batch* batch = synth.voice->batch;
    if (!batch)
        return;
    records_.unpack(*batch, synth);
    if (batch->live && batch->interleaved && batch->ordered())
        lanes_.interleave(*batch); // it is between the others now, and may draw random numbers
    if (!batch->live && !batch->tenants)
        records_.free(*batch);
}

void Batching::break_up(Batch& batch) noexcept {
    const Batch::Members members = batch.members();
    while (batch.live)
        records_.unpack(batch, *batch.synths[batch.first()]);
    if (!batch.tenants)
        records_.free(batch);
    for (const Synth* synth : members)
        synth->voice->backoff = backoff_blocks;
}

void Batching::split_at(Node& node) noexcept {
    if (node.parent)
        ++node.parent->entered;
    const auto batch_of = [](const Node* n) {
        const Voice* voice = voice_of(n);
        return voice ? voice->batch : nullptr;
    };
    Batch* batch = batch_of(node.previous);
    if (!batch || batch->interleaved || batch != batch_of(node.next))
        return;
    // The voices after the node become lone until they are batched again.
    for (Node* n = node.next; batch_of(n) == batch; n = n->next)
        records_.unpack(*batch, *static_cast<Synth*>(n));
}

} // namespace scs
