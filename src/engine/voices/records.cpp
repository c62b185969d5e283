// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/records.hpp"

#include "engine/nodes/node.hpp"
#include "engine/rt/pool.hpp"
#include "engine/voices/rest.hpp"

#include <bit>
#include <cassert>
#include <cstring>
#include <new>
#include <type_traits>

namespace scs {
namespace {

/// Voices with records larger than this keep their own memory while they are in a batch.
constexpr uint32_t most_moved_bytes = 2048;

/// Calls copy(own, side, bytes) for each item of these pieces of a record: its place in a voice's own record, the first
/// lane's place in a batch's record, and its size, which is also the distance from lane to lane. 4-byte items come in
/// pairs. `copy` should capture by value: what is captured by reference is read anew after each item that is written.
template <class Copy>
[[gnu::always_inline]] inline void each_item(const std::vector<NativeCode::Piece>& pieces, size_t lanes, Copy copy) {
    for (const NativeCode::Piece& piece : pieces) {
        size_t own = piece.offset, side = piece.offset * lanes;
        for (uint32_t left = piece.items64; left; --left, own += 8, side += lanes * 8)
            copy(own, side, std::integral_constant<size_t, 8>());
        for (uint32_t left = piece.items32 / 2u; left; --left, own += 8, side += lanes * 8) {
            copy(own, side, std::integral_constant<size_t, 4>());
            copy(own + 4, side + lanes * 4, std::integral_constant<size_t, 4>());
        }
    }
}

void occupy(Batch& batch, Synth& synth, size_t lane, bool mapped) noexcept {
    assert(batch.ahead.planned < 0 && synth.ahead.planned < 0);
    batch.live |= 1u << lane;
    batch.mapped |= uint32_t(mapped) << lane;
    batch.synths[lane] = &synth;
    synth.voice->batch = &batch;
    synth.voice->lane = uint8_t(lane);
    wake(*synth.voice);
}

} // namespace

Records::Records(Pool& pool, HeldOutput& held, RenderList& list, int lanes)
    : pool_(pool), held_(held), list_(list), lanes_(size_t(lanes)), scratch_(lanes_ * most_moved_bytes) {}

std::byte* Records::make(const NativeCode& code) noexcept {
    return static_cast<std::byte*>(pool_.allocate(code.record_bytes));
}

void Records::free(Voice& voice) noexcept {
    if (!voice.retired)
        pool_.free(voice.record);
    else if (--voice.retired->tenants == 0)
        free(*voice.retired);
    voice.record = nullptr;
    voice.retired = nullptr;
}

Batch* Records::make_batch(const Voice& like) noexcept {
    void* memory = pool_.allocate(Batch::bytes(*like.code));
    if (!memory)
        return nullptr;
    auto* batch = new (memory) Batch{};
    batch->code = like.code;
    batch->slot = -1;
    std::memset(batch->record(), 0, Batch::bytes(*like.code) - sizeof(Batch));
    return batch;
}

void Records::free(Batch& batch) noexcept {
    assert(batch.ahead.planned < 0);
    held_.free_slot(batch);
    pool_.free(&batch);
}

void Records::pack(Batch& batch, Synth& synth, int lane) noexcept {
    Voice& voice = *synth.voice;
    const std::byte* record = voice.record;
    std::byte* to = batch.record();
    each_item(voice.code->pieces, lanes_, [=](size_t own, size_t side, auto bytes) {
        std::memcpy(to + side + size_t(lane) * bytes, record + own, bytes);
    });
    if (voice.code->record_bytes <= most_moved_bytes)
        free(voice);
    list_.note_change();
    occupy(batch, synth, size_t(lane), voice.maps);
}

void Records::copy_out(Batch& batch, const std::vector<NativeCode::Piece>& pieces, size_t lane,
                       std::byte* record) const noexcept {
    const std::byte* from = batch.record();
    each_item(pieces, lanes_, [=](size_t own, size_t side, auto bytes) {
        std::memcpy(record + own, from + side + lane * bytes, bytes);
    });
}

void Records::copy_lanes(const Batch& batch, uint32_t lanes, const std::byte* from, std::byte* to) noexcept {
    each_item(batch.code->pieces, size_t(batch.code->batch.lanes), [=](size_t, size_t side, auto bytes) {
        for (uint32_t left = lanes; left; left &= left - 1) {
            const size_t at = side + size_t(std::countr_zero(left)) * bytes;
            std::memcpy(to + at, from + at, bytes);
        }
    });
}

void Records::unpack(Batch& batch, Synth& synth) noexcept {
    Voice& voice = *synth.voice;
    if (!voice.record && !(voice.record = make(*voice.code)))
        return retire(batch);
    copy_out(batch, batch.code->pieces, voice.lane, voice.record);
    vacate(voice);
    wake(voice);
}

std::byte* Records::copy_for_stops(const Voice& voice) noexcept {
    std::byte* const record = voice.record ? voice.record : scratch_.data();
    copy_out(*voice.batch, voice.code->stop_pieces, voice.lane, record);
    return record;
}

void Records::retire(Batch& batch) noexcept {
    const size_t bytes = batch.code->record_bytes;
    const Batch::Members members = batch.members();
    std::byte* to = scratch_.data();
    for (const Synth* synth : members) {
        copy_out(batch, batch.code->pieces, synth->voice->lane, to);
        to += bytes;
    }
    std::memcpy(batch.record(), scratch_.data(), size_t(to - scratch_.data()));
    to = batch.record();
    for (const Synth* synth : members) {
        Voice& voice = *synth->voice;
        vacate(voice);
        voice.record = to;
        voice.retired = &batch;
        wake(voice);
        to += bytes;
    }
    batch.tenants = uint8_t(members.count);
    held_.free_slot(batch);
}

void Records::move(Synth& synth, Batch& to, int lane) noexcept {
    Voice& voice = *synth.voice;
    Batch& from = *voice.batch;
    const size_t old = voice.lane;
    if (&from == &to && old == size_t(lane))
        return;
    const bool mapped = from.mapped >> old & 1u;
    const std::byte* source = from.record();
    std::byte* target = to.record();
    each_item(voice.code->pieces, lanes_, [=](size_t, size_t side, auto bytes) {
        std::memcpy(target + side + size_t(lane) * bytes, source + side + old * bytes, bytes);
    });
    vacate(voice);
    occupy(to, synth, size_t(lane), mapped);
}

void Records::vacate(Voice& voice) noexcept {
    Batch& batch = *voice.batch;
    assert(batch.ahead.planned < 0);
    const uint32_t others = ~(1u << voice.lane);
    batch.live &= others;
    batch.mapped &= others;
    batch.pending &= others;
    voice.batch = nullptr;
    list_.note_change();
}

} // namespace scs
