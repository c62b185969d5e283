// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/batch-lanes.hpp"

#include "engine/nodes/node.hpp"

namespace scs {

void BatchLanes::interleave(Batch& batch) noexcept {
    records_.note_change();
    batch.interleaved = true;
    batch.checked = batch.synths[batch.first()]->parent->entered - 1; // differs, which means unchecked
}

/// Moves the voices together into the first lanes or, if `up`, into the last ones.
void BatchLanes::shift(Batch& batch, bool up) noexcept {
    const Batch::Members members = batch.members();
    for (int i = 0; i < members.count; ++i) {
        // In this order each voice moves to a lane that is free by then.
        const int which = up ? members.count - 1 - i : i;
        records_.move(*members.synths[which], batch, up ? lanes_ - 1 - i : i);
    }
}

bool BatchLanes::has_room(const Batch& batch) const noexcept {
    return !full(batch) && !(batch.ordered() && batch.pending);
}

/// A free lane; in an ordered batch the one after the last voice. The batch must have room.
int BatchLanes::lane_behind(Batch& batch) noexcept {
    if (!batch.ordered())
        return std::countr_one(batch.live);
    if (batch.last() == lanes_ - 1)
        shift(batch, false);
    return batch.last() + 1;
}

bool BatchLanes::append(Batch& batch, Synth& synth) noexcept {
    if (!has_room(batch))
        return false;
    records_.pack(batch, synth, lane_behind(batch));
    if (batch.interleaved)
        interleave(batch);
    return true;
}

bool BatchLanes::prepend(Batch& batch, Synth& synth) noexcept {
    if (!batch.ordered())
        return append(batch, synth);
    if (!has_room(batch))
        return false;
    if (batch.first() == 0)
        shift(batch, true);
    records_.pack(batch, synth, batch.first() - 1);
    if (batch.interleaved)
        interleave(batch);
    return true;
}

void BatchLanes::combine(Batch& front, Batch& back, Synth& first_of_back, bool fill) noexcept {
    if (!has_room(front))
        return;
    if (front.count() + back.count() <= lanes_) {
        if (back.pending)
            return;
        front.stale |= back.stale;
        if (back.interleaved)
            front.interleaved = true;
        for (Synth* synth : back.members())
            records_.move(*synth, front, lane_behind(front));
        records_.free(back);
    } else if (fill) {
        records_.move(first_of_back, front, lane_behind(front));
    } else {
        return;
    }
    if (front.interleaved)
        interleave(front);
}

} // namespace scs
