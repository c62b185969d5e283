// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/voices/records.hpp"

namespace scs {

/// Gives voices their lanes in a batch. If the lanes are in the order of the turns (Batch::ordered()), voices may have
/// to move to make place for another one. That isn't possible while some of them have had their turn in this block and
/// others haven't. [rt]
class BatchLanes {
public:
    BatchLanes(Records& records, int lanes) noexcept // [worker]
        : records_(records), lanes_(lanes), all_((1u << lanes) - 1) {}

    bool full(const Batch& batch) const noexcept { return batch.live == all_; }
    /// Puts a lone voice into a batch, after or before all others. false: there is no room.
    bool append(Batch&, Synth&) noexcept SCS_NONBLOCKING;
    bool prepend(Batch&, Synth&) noexcept SCS_NONBLOCKING;
    /// Joins two batches if one has enough lanes for both. Otherwise, if `fill`, moves the first voice of `back` to
    /// `front`.
    void combine(Batch& front, Batch& back, Synth& first_of_back, bool fill) noexcept SCS_NONBLOCKING;
    /// From now on other nodes may be between the batch's voices. They are checked before its first voice's next turn.
    void interleave(Batch&) noexcept SCS_NONBLOCKING;

private:
    bool has_room(const Batch&) const noexcept SCS_NONBLOCKING;
    int lane_behind(Batch&) noexcept SCS_NONBLOCKING;
    void shift(Batch&, bool up) noexcept SCS_NONBLOCKING;

    Records& records_;
    int lanes_;
    uint32_t all_; ///< a bit for each lane
};

} // namespace scs
