// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace scs {

/// Items in order, with the work of each, and which of them belong together: a run from one of them to another is one
/// thread's. [rt], after construction.
class Runs {
public:
    explicit Runs(size_t most) : work_(most + 1), joins_(most + 2) {} // [worker]

    void begin() noexcept {
        count_ = 0;
        joins_[0] = joins_[1] = 0;
    }
    /// The next item. `work`: in any unit.
    void add(size_t work) noexcept {
        work_[count_ + 1] = work_[count_] + work;
        joins_[++count_ + 1] = 0;
    }
    /// The items from `first` to `last` belong together.
    void join(size_t first, size_t last) noexcept {
        ++joins_[first + 1];
        --joins_[last + 1];
    }
    /// All were added and joined. What is below, but count() and work(), is known then.
    void close() noexcept {
        for (size_t i = 1; i <= count_; ++i)
            joins_[i] += joins_[i - 1];
    }

    size_t count() const noexcept { return count_; }
    /// Of the items from `first` on and before `end`.
    uint64_t work(size_t first, size_t end) const noexcept { return work_[end] - work_[first]; }
    /// Whether a cut in front of an item would part what belongs together.
    bool parts(size_t item) const noexcept { return joins_[item]; }
    /// The next place after an item where there may be a cut.
    size_t end(size_t item) const noexcept {
        do
            ++item;
        while (item < count_ && parts(item));
        return item;
    }
    /// Where the work since `begin` is about this much, and a cut parts nothing: after one item at least.
    size_t end_near(size_t begin, double work) const noexcept SCS_NONBLOCKING;

private:
    std::vector<uint64_t> work_; ///< of all items before each
    std::vector<int32_t> joins_; ///< how many runs go on from the item before each; until close() the change of that
    size_t count_ = 0;
};

} // namespace scs
