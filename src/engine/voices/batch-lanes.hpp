// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/voices/records.hpp"

namespace scs {

/// Which lane a voice has in its batch. Lanes that are in the order of the turns (Batch::ordered()) may have to move
/// for another voice, which isn't possible while some of them have been computed and others still have turns to come.
/// [rt]
class BatchLanes {
public:
    BatchLanes(Records& records, int lanes) noexcept // [worker]
        : records_(records), lanes_(lanes), all_((1u << lanes) - 1) {}

    bool full(const Batch& batch) const noexcept { return batch.live == all_; }
    /// Takes a lone voice into a batch, behind or before all others. False: there is no room.
    bool append(Batch&, Synth&) noexcept;
    bool prepend(Batch&, Synth&) noexcept;
    /// Makes one batch of two if that has the lanes. Otherwise, if `fill`, the front one gets the back one's first
    /// voice.
    void combine(Batch& front, Batch& back, Synth& first_of_back, bool fill) noexcept;
    /// From now on other nodes may be between its voices; they are looked at before the next turn of its first voice.
    static void interleave(Batch&) noexcept;

private:
    bool has_room(const Batch&) const noexcept;
    int lane_behind(Batch&) noexcept;
    void shift(Batch&, bool up) noexcept;

    Records& records_;
    int lanes_;
    uint32_t all_; ///< a bit for each lane
};

} // namespace scs
