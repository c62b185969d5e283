// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compile/code.hpp"
#include "engine/nodes/node.hpp"

#include <bit>
#include <cstdint>

namespace scs {

constexpr int most_lanes = 16;

/// Voices of one program and one rate that are computed together, each in its own lane of vectors. The lanes are in the
/// order of the turns, except in interleaved batches of voices that draw no random numbers. [rt], owned by the
/// Ensemble. In memory the record follows, 64-byte aligned.
struct alignas(64) Batch {
    const NativeCode* code;
    uint32_t live;    ///< a bit for each lane that has a voice
    uint32_t mapped;  ///< lanes whose voices have mapped controls
    bool stale;       ///< a voice can't stay in the batch, or is to be freed
    bool interleaved; ///< other nodes may be between its voices, whose output to buses is held
    int8_t slot;      ///< of HeldOutput; -1: none
    uint8_t tenants;  ///< lone voices whose records lie in its memory: the batch itself is retired
    uint32_t pending; ///< interleaved: lanes that are computed, but whose turn is still to come
    uint32_t checked; ///< interleaved: Group::entered when the nodes between the voices were last checked
    ItemPlace ahead;
    Synth* synths[most_lanes];

    std::byte* record() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    bool ordered() const noexcept { return !interleaved || code->draws; }
    int count() const noexcept { return std::popcount(live); }
    int first() const noexcept { return std::countr_zero(live); }
    int last() const noexcept { return 31 - std::countl_zero(live); }

    /// The present members in the order of the lanes: a copy, to iterate over while the batch changes.
    struct Members {
        Synth* synths[most_lanes];
        int count;
        Synth* const* begin() const noexcept { return synths; }
        Synth* const* end() const noexcept { return synths + count; }
    };
    Members members() const noexcept {
        Members all;
        all.count = 0;
        for (uint32_t left = live; left; left &= left - 1)
            all.synths[all.count++] = synths[std::countr_zero(left)];
        return all;
    }

    static size_t bytes(const NativeCode& code) noexcept {
        return sizeof(Batch) + size_t(code.record_bytes) * size_t(code.batch.lanes);
    }
};

} // namespace scs
