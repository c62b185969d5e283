// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/voices/batch.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace scs {

/// The batches that may be computed ahead in the next block, in the order in which they had their turns in this one.
/// Between their turns in two blocks little changes, and what does is noticed: a batch that is freed leaves the list,
/// and when something happens that might end, pause or reach a batch before its turn, nothing is computed ahead in the
/// next block. [rt], after construction.
class AheadList {
public:
    /// [worker] most: batches in the list; 0: nothing is computed ahead.
    explicit AheadList(size_t most) : batches_(most) {}

    /// A batch has had its turn.
    void add(Batch& batch) noexcept {
        if (barrier_ || !batch.code->ahead || batch.listed >= 0 || count_ == batches_.size())
            return;
        batch.listed = int32_t(count_);
        batches_[count_++] = &batch;
    }
    void remove(Batch& batch) noexcept {
        if (batch.listed >= 0)
            batches_[size_t(batch.listed)] = nullptr;
        batch.listed = -1;
    }
    /// A node has its turn that may end or pause others: nothing behind it may be computed ahead.
    void pass_barrier() noexcept { barrier_ = true; }
    /// The order of the nodes has changed, or a group's state.
    void distrust() noexcept { trusted_ = false; }

    /// Ends the list, for the block that begins, and begins another one. Null: a batch that was freed. Empty if it
    /// isn't to be trusted. Valid until the next add().
    std::span<Batch* const> take() noexcept {
        const std::span all(batches_.data(), count_);
        for (Batch* batch : all)
            if (batch)
                batch->listed = -1;
        const bool trusted = trusted_;
        count_ = 0;
        barrier_ = false;
        trusted_ = true;
        return trusted ? all : all.first(0);
    }

private:
    std::vector<Batch*> batches_;
    size_t count_ = 0;
    bool barrier_ = false, trusted_ = false;
};

} // namespace scs
