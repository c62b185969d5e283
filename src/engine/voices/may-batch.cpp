// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/may-batch.hpp"

#include <algorithm>

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

/// The first and the last bus that an operation reaches in any lane; empty if it reaches none.
struct Reach {
    int64_t low = INT64_MAX, high = INT64_MIN;
};

bool audio(Effect effect) noexcept {
    return effect == Effect::writes_audio || effect == Effect::reads_audio;
}
bool writes(Effect effect) noexcept {
    return effect == Effect::writes_audio || effect == Effect::writes_control;
}

Reach reach_of(const NativeCode::BusUse& use, Batch& batch) noexcept {
    const Op& op = batch.code->batch.ops[use.op];
    const Operand& bus = op.operands[0];
    const auto* numbers = reinterpret_cast<const float*>(
        bus.offset + (bus.base == Base::record ? reinterpret_cast<uintptr_t>(batch.record()) : 0));
    const int64_t channels = writes(use.effect) ? op.inputs - use.first_channel : op.outputs;
    Reach reach;
    for (uint32_t left = batch.live; left; left &= left - 1) {
        const float number = numbers[std::countr_zero(left)];
        if (!(number < 1e9f))
            continue;
        const auto first = int64_t(std::max(number, 0.f)); // a number below 0 means bus 0
        reach.low = std::min(reach.low, first);
        reach.high = std::max(reach.high, first + channels - 1);
    }
    return reach;
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
    const auto& uses = batch.code->bus_uses;
    for (size_t a = 0; a < uses.size(); ++a) {
        const Reach one = reach_of(uses[a], batch);
        for (size_t b = a + 1; b < uses.size(); ++b) {
            if (audio(uses[a].effect) != audio(uses[b].effect) || !(writes(uses[a].effect) || writes(uses[b].effect)))
                continue;
            const Reach other = reach_of(uses[b], batch);
            if (one.low <= other.high && other.low <= one.high)
                return false;
        }
    }
    return true;
}

} // namespace scs
