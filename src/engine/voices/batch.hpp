// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/voices/code.hpp"

#include <bit>
#include <cstdint>

namespace scs {

struct Synth;
struct VoiceRates;

constexpr int most_lanes = 16;

/// Voices of one program, side by side: neighbours, lanes in the order of their turns, or scattered ones. [rt], owned by the
/// Ensemble. The record follows it, 64-byte aligned.
struct alignas(64) Batch {
    const NativeCode* code;
    const VoiceRates* rates;
    uint32_t live;        ///< a bit for each lane that has a voice
    uint32_t mapped;      ///< lanes with controls that are mapped
    bool stale;           ///< a voice of it doesn't run any more, or is to end
    bool scattered;       ///< see scattered.cpp; the following are of these batches alone
    int8_t slot;          ///< where its output is held; -1: nowhere
    uint8_t tenants;      ///< lone voices whose records lie in it: nobody is in it any more
    uint32_t pending;     ///< lanes that were computed, but have their turns to come
    uint32_t reviewed;    ///< how many nodes had come into the group when what is between the voices was looked at
    Synth* synths[most_lanes];

    std::byte* record() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    /// Whether its lanes are in the order of the voices' turns.
    bool ordered() const noexcept { return !scattered || code->draws; }
    int count() const noexcept { return std::popcount(live); }
    int first() const noexcept { return std::countr_zero(live); }
    int last() const noexcept { return 31 - std::countl_zero(live); }

    static size_t bytes(const NativeCode& code) noexcept {
        return sizeof(Batch) + size_t(code.record_bytes) * size_t(code.batch.lanes);
    }
};

} // namespace scs
