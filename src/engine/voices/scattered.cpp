// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tree/node.hpp"
#include "engine/voices/ensemble.hpp"

#include <bit>

// Voices of several SynthDefs take turns in one group: A B A B A. Those of A can still be a batch if whether B has its
// turn before or after an A makes no difference but in one thing, the order in which they add to buses, where the last
// bits of a sum depend on it. So the first A that has its turn computes all of them, holds what each adds to buses, and each
// adds its own when its turn comes.
//
// The lanes of such a batch are in no order. What is between its voices is looked at again when something has come into
// the group.

namespace scs {
namespace {

constexpr int reach = 32;          // nodes that are searched for one of the same kind
constexpr int longest_span = 1024; // from a batch's first voice to its last

} // namespace

bool Ensemble::commutes(const Node& node) noexcept {
    if (node.is_group)
        return false;
    const Voice* voice = static_cast<const Synth&>(node).voice;
    return voice && voice->code->commutes && !voice->audio_maps;
}

/// What is between its voices is to be looked at.
void Ensemble::scatter(Batch& batch) noexcept {
    batch.scattered = true;
    batch.reviewed = batch.synths[batch.first()]->parent->entered - 1;
}

/// The next one of its kind before it that it could be in a batch with. `first`: the first of its own batch behind that.
Synth* Ensemble::partner_before(Synth& synth, Synth*& first) const noexcept {
    const Batch* own = synth.voice->batch;
    first = &synth;
    Node* node = synth.previous;
    for (int i = 0; i < reach && node && commutes(*node); ++i, node = node->previous) {
        auto& other = static_cast<Synth&>(*node);
        if (!ready(node))
            continue;
        if (own && other.voice->batch == own)
            first = &other;
        else if (alike(other, synth))
            return &other;
    }
    return nullptr;
}

/// After the voice's turn: to those of its kind before it, alone or with its batch.
void Ensemble::join_scattered(Synth& synth) noexcept {
    if (!commutes(synth))
        return;
    Synth* first;
    Synth* other = partner_before(synth, first);
    if (!other)
        return;
    Batch* own = synth.voice->batch;
    Batch* front = other->voice->batch;
    if (front && front->stale)
        return;
    if (front && own) {
        if (front->count() == lanes_)
            return;
        scatter(*front);
        scatter(*own);
        return fill_up(*front, *own, *first, true);
    }
    if (front || own) {
        Batch& batch = front ? *front : *own;
        scatter(batch);
        (void)append(batch, front ? synth : *other);
        return;
    }
    Synth* third = partner_before(*other, first);
    if (!third || third->voice->batch)
        return;
    if (Batch* batch = make_batch(*synth.voice)) {
        batch->scattered = true;
        for (Synth* one : {third, other, &synth})
            (void)append(*batch, *one);
    }
}

/// Before the turn of its first voice: those behind something that doesn't commute are lone from now on. With nothing
/// between them they are in order again and not scattered.
void Ensemble::review(Batch& batch, Synth& first) noexcept {
    if (batch.reviewed == first.parent->entered)
        return;
    batch.reviewed = first.parent->entered;
    Synth* reached[most_lanes];
    uint32_t unreached = batch.live;
    int span = 0, count = 0;
    for (Node* node = &first; span < longest_span && node && commutes(*node) && unreached; ++span, node = node->next)
        if (auto& synth = static_cast<Synth&>(*node); synth.voice->batch == &batch) {
            unreached &= ~(1u << synth.voice->lane);
            reached[count++] = &synth;
        }
    for (uint32_t left = unreached & batch.live; left; left &= batch.live & (left - 1))
        put_out(batch, *batch.synths[std::countr_zero(left)]);
    if (span != count || !batch.live)
        return;
    if (Batch* neighbours = make_batch(*first.voice)) {
        for (int i = 0; i < count; ++i)
            move(*reached[i], *neighbours, i);
        release(batch);
    }
}

bool Ensemble::take_slot(Batch& batch) noexcept {
    if (batch.slot < 0 && free_slots_) {
        batch.slot = int8_t(std::countr_zero(free_slots_));
        free_slots_ &= free_slots_ - 1;
    }
    return batch.slot >= 0;
}

void Ensemble::give_slot(Batch& batch) noexcept {
    if (batch.slot >= 0)
        free_slots_ |= 1u << batch.slot;
    batch.slot = -1;
}

/// Kernels reach the batch's slot instead of the rows that all share.
void Ensemble::hold_in(const Batch& batch, const NativeCode::Hold& hold) noexcept {
    const size_t sets = size_t(batch.slot) * row_sets + hold.set, lanes = size_t(lanes_);
    space_.rows = held_rows_.get() + sets * lanes * size_t(space_.block_size);
    space_.held_buses = held_buses_.data() + sets * lanes;
}

void Ensemble::render_scattered(Batch& batch, Block& block) noexcept {
    const auto& ops = batch.code->batch.ops;
    auto hold = batch.code->holds.begin();
    for (uint32_t i = 0; i < ops.size(); ++i) {
        if (hold == batch.code->holds.end() || hold->op != i) {
            ops[i].run(ops[i], block);
            continue;
        }
        hold_in(batch, *hold);
        hold->hold(ops[i], block);
        space_.rows = rows_.get();
        ++hold;
    }
    batch.pending = batch.live;
}

bool Ensemble::pending(const Synth& synth) const noexcept {
    const Voice& voice = *synth.voice;
    return voice.batch && (voice.batch->pending >> voice.lane & 1u);
}

void Ensemble::hand_over(Synth& synth) noexcept {
    Voice& voice = *synth.voice;
    Batch& batch = *voice.batch;
    Block block;
    prepare(block, batch.record(), *batch.rates);
    block.live = 1u << voice.lane;
    block.synths = batch.synths;
    block.mapped = nullptr;
    for (const NativeCode::Hold& hold : batch.code->holds) {
        hold_in(batch, hold);
        hold.hand_over(batch.code->batch.ops[hold.op], block);
    }
    space_.rows = rows_.get();
    batch.pending &= ~block.live;
    if (!batch.pending)
        give_slot(batch);
}

} // namespace scs
