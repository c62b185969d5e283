// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/aligned-array.hpp"
#include "engine/voices/batch.hpp"

#include <array>
#include <vector>

namespace scs {

/// Holds what voices of interleaved batches add to buses, from the turn of a batch's first voice to that of its last.
/// Each such batch has a slot. [rt], after construction.
class HeldOutput {
public:
    /// [worker] block_size: frames.
    HeldOutput(int lanes, int block_size);

    /// false: all slots are taken.
    bool take_slot(Batch& batch) noexcept {
        if (batch.slot < 0 && free_) {
            batch.slot = int8_t(std::countr_zero(free_));
            owners_[size_t(batch.slot)] = &batch;
            free_ &= free_ - 1;
        }
        return batch.slot >= 0;
    }
    /// Whether slots may be taken long before they are needed.
    bool has_spare() const noexcept { return std::popcount(free_) > slots / 2; }
    void free_slot(Batch& batch) noexcept {
        if (batch.slot >= 0)
            free_ |= 1u << batch.slot;
        batch.slot = -1;
    }

    /// Forgets what is held: the block isn't computed to its end.
    void drop_all() noexcept {
        for (uint32_t taken = ~free_; taken; taken &= taken - 1) {
            Batch& batch = *owners_[size_t(std::countr_zero(taken))];
            batch.pending = 0;
            batch.slot = -1;
        }
        free_ = ~0u;
    }

    /// Makes kernels use a set of the batch's rows in place of the space's own.
    void lend(Space& space, const Batch& batch, uint32_t set) noexcept {
        const size_t sets = size_t(batch.slot) * row_sets + set;
        space.rows = rows_.get() + sets * lanes_ * frames_;
        space.held_buses = buses_.data() + sets * lanes_;
    }

    static constexpr int slots = 32;

private:
    size_t lanes_, frames_;
    AlignedArray<float> rows_;
    std::vector<int32_t> buses_;
    uint32_t free_ = ~0u;                ///< a bit for each slot
    std::array<Batch*, slots> owners_{}; ///< of the slots that are taken
};

} // namespace scs
