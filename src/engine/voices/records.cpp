// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/pool.hpp"
#include "engine/nodes/node.hpp"
#include "engine/voices/ensemble.hpp"

#include <bit>
#include <cstring>
#include <new>
#include <type_traits>

// Where voices' records are. A lone voice has its own, a piece of the pool; in a batch its items are in a lane, and the
// piece is given back. Leaving a batch takes another one and mustn't fail: without memory all voices of the batch become
// lone, and its memory the shelf that their records lie on, until the last of them has gone.

namespace scs {
namespace {

/// Calls copy(own, side, bytes) for the items of a record: where each is in a record, and where it is in a batch's for
/// its first lane, each lane `bytes` behind the one before. 4-byte items come in twos. `copy` holds copies: what it writes
/// could be anything, and then be read again for each item.
template <class Copy>
[[gnu::always_inline]] inline void each_item(const NativeCode& code, size_t lanes, Copy copy) {
    for (const NativeCode::Piece& piece : code.pieces) {
        size_t own = piece.offset, side = piece.offset * lanes;
        for (uint32_t left = piece.items64; left; --left, own += 8, side += lanes * 8)
            copy(own, side, std::integral_constant<size_t, 8>());
        for (uint32_t left = piece.items32 / 2u; left; --left, own += 8, side += lanes * 8) {
            copy(own, side, std::integral_constant<size_t, 4>());
            copy(own + 4, side + lanes * 4, std::integral_constant<size_t, 4>());
        }
    }
}

void copy_out(Batch& batch, size_t lanes, size_t lane, std::byte* record) {
    const std::byte* from = batch.record();
    each_item(*batch.code, lanes, [=](size_t own, size_t side, auto bytes) {
        std::memcpy(record + own, from + side + lane * bytes, bytes);
    });
}

} // namespace

std::byte* Ensemble::make_record(const NativeCode& code) noexcept {
    return static_cast<std::byte*>(pool_.allocate(code.record_bytes));
}

void Ensemble::free_record(Voice& voice) noexcept {
    if (!voice.shelf)
        pool_.free(voice.record);
    else if (--voice.shelf->tenants == 0)
        release(*voice.shelf);
    voice.record = nullptr;
    voice.shelf = nullptr;
}

Batch* Ensemble::make_batch(const Voice& like) noexcept {
    void* memory = pool_.allocate(Batch::bytes(*like.code));
    if (!memory)
        return nullptr;
    auto* batch = new (memory) Batch{};
    batch->code = like.code;
    batch->rates = like.rates;
    batch->slot = -1;
    std::memset(batch->record(), 0, Batch::bytes(*like.code) - sizeof(Batch));
    return batch;
}

void Ensemble::release(Batch& batch) noexcept {
    give_slot(batch);
    pool_.free(&batch);
}

void Ensemble::take_in(Batch& batch, Synth& synth, int lane) noexcept {
    Voice& voice = *synth.voice;
    const std::byte* record = voice.record;
    std::byte* to = batch.record();
    each_item(*voice.code, size_t(lanes_), [=](size_t own, size_t side, auto bytes) {
        std::memcpy(to + side + size_t(lane) * bytes, record + own, bytes);
    });
    if (voice.code->record_bytes <= most_moved_bytes)
        free_record(voice);
    batch.live |= 1u << lane;
    if (voice.maps)
        batch.mapped |= 1u << lane;
    batch.synths[lane] = &synth;
    voice.batch = &batch;
    voice.lane = uint8_t(lane);
}

/// The lane is free, and the voice nowhere.
void Ensemble::forget_lane(Voice& voice) noexcept {
    Batch& batch = *voice.batch;
    const uint32_t others = ~(1u << voice.lane);
    batch.live &= others;
    batch.mapped &= others;
    batch.pending &= others;
    voice.batch = nullptr;
}

/// The voice is lone; perhaps all of the batch are.
void Ensemble::put_out(Batch& batch, Synth& synth) noexcept {
    Voice& voice = *synth.voice;
    if (!voice.record && !(voice.record = make_record(*voice.code)))
        return shelve(batch);
    copy_out(batch, size_t(lanes_), voice.lane, voice.record);
    forget_lane(voice);
}

void Ensemble::shelve(Batch& batch) noexcept {
    const size_t bytes = batch.code->record_bytes;
    Synth* synths[most_lanes];
    const int count = members(batch, synths);
    for (int i = 0; i < count; ++i)
        copy_out(batch, size_t(lanes_), synths[i]->voice->lane, shelving_.data() + size_t(i) * bytes);
    std::memcpy(batch.record(), shelving_.data(), size_t(count) * bytes);
    for (int i = 0; i < count; ++i) {
        Voice& voice = *synths[i]->voice;
        forget_lane(voice);
        voice.record = batch.record() + size_t(i) * bytes;
        voice.shelf = &batch;
    }
    batch.tenants = uint8_t(count);
    give_slot(batch);
}

/// To a free lane of a batch of its kind; from that of another or the same one, or to where it is.
void Ensemble::move(Synth& synth, Batch& to, int lane) noexcept {
    Voice& voice = *synth.voice;
    Batch& from = *voice.batch;
    const size_t old = voice.lane;
    if (&from == &to && old == size_t(lane))
        return;
    const bool mapped = from.mapped >> old & 1u;
    const std::byte* source = from.record();
    std::byte* target = to.record();
    each_item(*voice.code, size_t(lanes_), [=](size_t, size_t side, auto bytes) {
        std::memcpy(target + side + size_t(lane) * bytes, source + side + old * bytes, bytes);
    });
    forget_lane(voice);
    to.live |= 1u << lane;
    to.mapped |= uint32_t(mapped) << lane;
    to.synths[lane] = &synth;
    voice.batch = &to;
    voice.lane = uint8_t(lane);
}

void Ensemble::leave(Synth& synth) noexcept {
    Batch* batch = synth.voice->batch;
    if (!batch)
        return;
    put_out(*batch, synth);
    if (batch->live && batch->scattered && batch->ordered())
        scatter(*batch); // it may draw between the others now
    if (!batch->live && !batch->tenants)
        release(*batch);
}

void Ensemble::dissolve(Batch& batch) noexcept {
    while (batch.live)
        put_out(batch, *batch.synths[batch.first()]);
    if (!batch.tenants)
        release(batch);
}

/// Its voices are alone for a while.
void Ensemble::dissolve_and_rest(Batch& batch) noexcept {
    Synth* synths[most_lanes];
    const int count = members(batch, synths);
    dissolve(batch);
    for (int i = 0; i < count; ++i)
        synths[i]->voice->rest = rest_blocks;
}

int Ensemble::members(const Batch& batch, Synth* (&synths)[most_lanes]) noexcept {
    int count = 0;
    for (uint32_t left = batch.live; left; left &= left - 1)
        synths[count++] = batch.synths[std::countr_zero(left)];
    return count;
}

} // namespace scs
