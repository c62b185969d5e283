// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/nodes/node.hpp"
#include "engine/voices/ensemble.hpp"

#include <bit>

// Voices of several SynthDefs take turns in one group: A B A B A. Those of A can still be a batch if whether B has its
// turn before or after an A makes no difference but in one thing, the order in which they add to buses, where the last
// bits of a sum depend on it. So the first A that has its turn computes all of them, holds what each adds to buses, and each
// adds its own when its turn comes.
//
// Voices that draw random numbers get the same ones as alone if nobody between them draws any, those of their own kind
// that aren't in the batch among them. Their lanes stay in the order of their turns; those of others are in no order.
// What is between a batch's voices is looked at again when something has come into the group.

namespace scs {
namespace {

constexpr int reach = 32;          // nodes that are searched for one of the same kind
constexpr int longest_span = 1024; // from a batch's first voice to its last

} // namespace

/// Whether it makes no difference if a voice of `code` has its turn before or after this node.
bool Ensemble::passes(const NativeCode& code, const Node& node) noexcept {
    if (node.is_group)
        return false;
    const Voice* voice = static_cast<const Synth&>(node).voice;
    if (!voice || !voice->code->only_adds || voice->audio_maps)
        return false;
    // One that starts may draw though its code doesn't.
    return !code.draws || (!voice->code->draws && voice->constructed);
}

/// What is between its voices is to be looked at.
void Ensemble::scatter(Batch& batch) noexcept {
    batch.scattered = true;
    batch.reviewed = batch.synths[batch.first()]->parent->entered - 1;
}

/// The next one of its kind before it that it could be in a batch with. `first`: the first of its own batch behind that.
Synth* Ensemble::partner_before(Synth& synth, Synth*& first) const noexcept {
    const NativeCode& code = *synth.voice->code;
    const Batch* own = synth.voice->batch;
    first = &synth;
    Node* node = synth.previous;
    for (int i = 0; i < reach && node; ++i, node = node->previous) {
        if (same_kind(synth, node) && ready(node)) {
            auto& other = static_cast<Synth&>(*node);
            if (own && other.voice->batch == own) {
                first = &other;
                continue;
            }
            if (alike(other, synth))
                return in_order(code, other.voice->batch, other, own, *first) ? &other : nullptr;
        }
        if (!passes(code, *node))
            return nullptr;
    }
    return nullptr;
}

/// Whether one is the last of its batch, if it has one, and the other the first of its own, and both have had all their
/// turns: if not, voices that draw have to stay where they are.
bool Ensemble::in_order(const NativeCode& code, const Batch* front, const Synth& last, const Batch* own,
                        const Synth& first) noexcept {
    return !code.draws || ((!front || (front->synths[front->last()] == &last && !front->pending)) &&
                           (!own || (own->synths[own->first()] == &first && !own->pending)));
}

/// After the voice's turn: to those of its kind before it, alone or with its batch.
void Ensemble::join_scattered(Synth& synth) noexcept {
    if (!synth.voice->code->commutes || synth.voice->audio_maps)
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
        (void)(front ? append(batch, synth) : prepend(batch, *other));
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

/// Before the turn of its first voice: those behind something that doesn't let them pass are lone from now on. With
/// nothing between them they are in order again and not scattered.
void Ensemble::review(Batch& batch, Synth& first) noexcept {
    if (batch.reviewed == first.parent->entered)
        return;
    batch.reviewed = first.parent->entered;
    Synth* reached[most_lanes];
    uint32_t unreached = batch.live;
    int span = 0, count = 0;
    for (Node* node = &first; span < longest_span && node && unreached; ++span, node = node->next) {
        const Voice* voice = node->is_group ? nullptr : static_cast<const Synth*>(node)->voice;
        if (voice && voice->batch == &batch) {
            unreached &= ~(1u << voice->lane);
            reached[count++] = static_cast<Synth*>(node);
        } else if (!passes(*batch.code, *node)) {
            break;
        }
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
