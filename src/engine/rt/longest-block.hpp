// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace scs {

/// How long the longest block of about the last minute took to compute. Reads no clock: a block lasts from the reading
/// at its begin to the next one's, or to the one at the cycle's end. Moments are in ns. [rt]
class LongestBlock {
public:
    /// A block begins; the one before it in this cycle is done.
    void begin(int64_t moment) noexcept {
        end(moment);
        began_ = moment;
    }
    /// `blocks` blocks have begun, not one: they are computed together.
    void spread(int blocks) noexcept { blocks_ = blocks; }
    /// The cycle's last block is done, if one had begun. `seconds`: the cycle's duration.
    void end_cycle(int64_t moment, double seconds) noexcept {
        end(moment);
        began_ = none;
        passed_ += seconds;
        if (passed_ < 1)
            return;
        passed_ = std::min(passed_ - 1, 1.);
        at_ = (at_ + 1) % longest_.size();
        longest_[at_] = 0;
        earlier_ = *std::max_element(longest_.begin(), longest_.end());
    }
    /// ns; 0: no block was timed.
    int64_t nsec() const noexcept { return std::max(earlier_, longest_[at_]); }

private:
    static constexpr int64_t none = -1;

    void end(int64_t moment) noexcept {
        if (began_ != none)
            longest_[at_] = std::max(longest_[at_], (moment - began_) / blocks_);
        blocks_ = 1;
    }

    int64_t began_ = none;              ///< the block that is being computed
    int blocks_ = 1;                    ///< … or how many, together
    std::array<int64_t, 60> longest_{}; ///< of a second each, ns
    size_t at_ = 0;                     ///< the present second
    double passed_ = 0;                 ///< of it
    int64_t earlier_ = 0;               ///< the longest of the other seconds
};

} // namespace scs
