// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/may-batch.hpp"

#include "engine/compile/bus-range.hpp"

namespace scs {
namespace {

constexpr int search_nodes = 32; // how many nodes are searched for a partner

/// Whether `front` is lone or the last voice of its batch, `back` is lone or the first of its own, and neither batch
/// has turns to come in this block. If so, the joined lanes are in the order of the turns, as voices that draw need.
bool in_order(const Synth& front, const Synth& back) noexcept {
    const Batch *f = front.voice->batch, *b = back.voice->batch;
    return (!f || (f->synths[f->last()] == &front && !f->pending)) &&
           (!b || (b->synths[b->first()] == &back && !b->pending));
}

} // namespace

bool passes(const NativeCode& code, const Node& node) noexcept {
    const Voice* voice = voice_of(&node);
    if (!voice || !voice->code->only_adds || voice->audio_maps)
        return false;
    // A voice may draw random numbers when it starts even if its blocks don't.
    return !code.draws || (!voice->code->draws && voice->constructed);
}

Partner partner_before(Synth& synth) noexcept {
    const NativeCode& code = *synth.voice->code;
    const Batch* own = synth.voice->batch;
    Synth* behind = &synth;
    Node* node = synth.previous;
    for (int i = 0; i < search_nodes && node; ++i, node = node->previous) {
        if (same_code(synth, node) && may_batch(node)) {
            auto& other = static_cast<Synth&>(*node);
            if (own && other.voice->batch == own) {
                behind = &other;
                continue;
            }
            if (alike(other, synth))
                return {code.draws && !in_order(other, *behind) ? nullptr : &other, behind};
        }
        if (!passes(code, *node))
            break;
    }
    return {nullptr, behind};
}

bool reaches_apart(Batch& batch) noexcept {
    const NativeCode& code = *batch.code;
    const auto& uses = code.batch_reaches;
    const auto reach = [&](const NativeCode::BusUse& use) {
        return reach_of(use, code.batch, batch.record(), batch.live);
    };
    for (size_t a = 0; a < uses.size(); ++a) {
        const BusRange one = reach(uses[a]);
        for (size_t b = a + 1; b < uses.size(); ++b) {
            if (audio(uses[a].effect) != audio(uses[b].effect) || !(writes(uses[a].effect) || writes(uses[b].effect)))
                continue;
            const BusRange other = reach(uses[b]);
            if (one.low <= other.high && other.low <= one.high)
                return false;
        }
    }
    return true;
}

bool keeps_together(Batch& batch) noexcept {
    if (!batch.live || batch.stale)
        return false;
    if (batch.interleaved)
        return !batch.pending && batch.checked == batch.synths[batch.first()]->parent->entered;
    return !batch.code->reaches_may_meet || reaches_apart(batch);
}

} // namespace scs
