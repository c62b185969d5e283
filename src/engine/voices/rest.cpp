// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/rest.hpp"

#include "engine/voices/batch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace scs {
namespace {

// Blocks until states are compared: first when a trigger in the first block has come and gone, then after twice as many
// each time.
constexpr uint32_t first_look = 3, longest_pause = 48;

/// What is known of a record. In memory the words follow, with a bit for each operation that isn't at rest.
struct Awake {
    uint32_t wait;  ///< blocks until states are compared
    uint32_t pause; ///< blocks from then to the time after that
    uint64_t* words() noexcept { return reinterpret_cast<uint64_t*>(this + 1); }

    bool compares_now() noexcept {
        if (--wait)
            return false;
        wait = pause;
        pause = std::min(2 * pause, longest_pause);
        return true;
    }
};
static_assert(sizeof(Awake) == Resting::head_bytes);

Awake& awake_in(const Resting& resting, std::byte* record, size_t lanes) noexcept {
    return *reinterpret_cast<Awake*>(record + resting.place * lanes);
}

/// Runs an operation. Returns whether its state is the same afterwards in those lanes that have a voice.
bool keeps_state(const Op& op, const Resting::Items& items, size_t lanes, Block& block) noexcept {
    alignas(uint64_t) std::array<std::byte, Resting::most_state_bytes * most_lanes> before;
    const size_t bytes64 = items.items64 * 8u * lanes, bytes = items.bytes() * lanes;
    const std::byte* state = reinterpret_cast<std::byte*>(block.bases[size_t(Base::record)]) + op.state;
    std::memcpy(before.data(), state, bytes);
    op.run(op, block);
    const auto same = [&]<class T>(T difference, size_t begin, size_t end) {
        for (size_t at = begin, lane = 0; at < end; at += sizeof(T), lane = (lane + 1) % lanes) {
            T old, now;
            std::memcpy(&old, before.data() + at, sizeof(T));
            std::memcpy(&now, state + at, sizeof(T));
            difference |= (old ^ now) & (T(0) - T(block.live >> lane & 1u));
        }
        return difference == 0;
    };
    return same(uint64_t(0), 0, bytes64) && same(uint32_t(0), bytes64, bytes);
}

template <size_t Lanes>
void run(const Resting& resting, const OpList& list, Block& block) noexcept {
    auto* const record = reinterpret_cast<std::byte*>(block.bases[size_t(Base::record)]);
    Awake& awake = awake_in(resting, record, Lanes);
    const bool compares = awake.compares_now();
    for (size_t w = 0; w < resting.words; ++w) {
        const uint64_t with_state = resting.with_state[w];
        uint64_t left = awake.words()[w], next = left & with_state;
        while (left) {
            const auto bit = size_t(std::countr_zero(left));
            left &= left - 1;
            const size_t i = w * Resting::word_bits + bit;
            const Op& op = list.ops[i];
            std::array<float, Lanes> before;
            const std::byte* output = record + op.operands[op.inputs].offset;
            std::memcpy(before.data(), output, sizeof before);
            if (!compares || !(with_state >> bit & 1u))
                op.run(op, block);
            else if (keeps_state(op, resting.states[i], Lanes, block))
                next &= ~(uint64_t(1) << bit);
            if (std::memcmp(before.data(), output, sizeof before) == 0)
                continue;
            const uint64_t* readers = resting.readers.data() + i * resting.words;
            left |= readers[w];
            next |= readers[w] & with_state;
            for (size_t later = w + 1; later < resting.words; ++later)
                awake.words()[later] |= readers[later];
        }
        awake.words()[w] = next;
    }
}

} // namespace

void wake(const NativeCode& code, std::byte* record, size_t lanes) noexcept {
    if (!code.resting.words)
        return;
    Awake& awake = awake_in(code.resting, record, lanes);
    awake.wait = awake.pause = first_look;
    uint64_t* word = awake.words();
    size_t left = code.resting.ops();
    for (; left >= Resting::word_bits; left -= Resting::word_bits)
        *word++ = ~uint64_t(0);
    if (left)
        *word = (uint64_t(1) << left) - 1;
}

void wake(Voice& voice) noexcept {
    if (voice.batch)
        wake(*voice.code, voice.batch->record(), size_t(voice.code->batch.lanes));
    else
        wake(*voice.code, voice.record, 1);
}

size_t run_awake(const Resting& resting, const OpList& list, Block& block) noexcept {
    switch (list.lanes) {
    case 1: run<1>(resting, list, block); break;
    case 4: run<4>(resting, list, block); break;
    case 8: run<8>(resting, list, block); break;
    default: run<most_lanes>(resting, list, block);
    }
    return resting.ops();
}

} // namespace scs
