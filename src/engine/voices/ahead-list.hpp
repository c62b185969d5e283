// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/nodes/node.hpp"
#include "engine/voices/batch.hpp"
#include "engine/voices/voice.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace scs {

/// What is computed together: the voices of a batch, a lone one, or a synth of plugins' units.
struct Unison {
    Batch* batch;
    Synth* lone; ///< if there is no batch

    explicit operator bool() const noexcept { return batch || lone; }
    bool is_graph() const noexcept { return !batch && !lone->voice; }
    AheadPlace& place() const noexcept { return batch ? batch->ahead : lone->ahead; }
    const TurnFacts& facts() const noexcept { return batch ? *batch->code : *lone->facts; }
    const NativeCode& code() const noexcept { return batch ? *batch->code : *lone->voice->code; } ///< of voices
    int voices() const noexcept { return batch ? batch->count() : 1; }
};

/// The turns of a block in their order, which tell what may be computed ahead in the next one. Between two blocks
/// little changes, and what does is noticed: what is freed leaves the list, and when something happens that might end,
/// pause or reach a voice before its turn, nothing is computed ahead in the next block. [rt], after construction.
class AheadList {
public:
    /// [worker] most: what the list has room for; 0: nothing is computed ahead.
    explicit AheadList(size_t most) : all_(most) {}

    /// A batch, a lone voice or a synth of plugins' units has had its turn, or the voice of a batch its own.
    void add(Batch& batch) noexcept { add({&batch, nullptr}, batch.code->reads); }
    void add(Synth& synth) noexcept { add({nullptr, &synth}, synth.facts->reads); }
    void remove(AheadPlace& place) noexcept {
        if (place.listed >= 0)
            all_[size_t(place.listed)] = {};
        place.listed = -1;
        note_change();
    }
    /// A node has its turn that may end or pause others: nothing behind it may be computed ahead.
    void pass_barrier() noexcept { barrier_ = true; }
    /// The order of the nodes has changed, or a group's state.
    void distrust() noexcept { trusted_ = false; }

    /// A voice has its turn in the next block that the list doesn't know of.
    void note_newcomer() noexcept { newcomers_ = true; }
    /// The same of a voice that starts_anywhere: if no turn matters to its start, there is but its turn to be listed.
    void note_entered() noexcept { (starts_matter_ ? newcomers_ : moved_) = true; }
    /// A voice has joined the one in front of it, so it is listed once too often.
    void note_join() noexcept { joined_ = true; }
    /// Turns have come to another place, as voices have joined others that aren't their neighbours.
    void note_move() noexcept { moved_ = true; }
    /// Whether only that keeps the list from being whole.
    bool moved() const noexcept { return (joined_ || moved_) && trusted_ && !newcomers_ && !barrier_; }
    /// Between two blocks: begins the list of the next one anew.
    void begin() noexcept {
        for (const Unison& one : std::span(all_).first(count_))
            if (one)
                one.place().listed = -1;
        if (count_ != last_count_)
            note_change();
        last_count_ = count_;
        count_ = 0;
        any_reads_ = starts_matter_ = newcomers_ = joined_ = moved_ = barrier_ = false;
        trusted_ = true;
    }
    /// Something has changed that decides what may be computed ahead: who is in a batch, who runs, which buses.
    void note_change() noexcept { ++changes_; }
    /// Stays the same as long as nothing of that changes, nor the turns.
    struct Version {
        uint32_t changes = 0; ///< wraps
        size_t turns = 0;
        bool operator==(const Version&) const = default;
    };
    Version version() const noexcept { return {changes_, count_}; }

    struct Turns {
        std::span<const Unison> all; ///< false ones were freed; empty if they aren't to be trusted
        bool complete;               ///< no other turns come between these
        bool any_reads;              ///< they are complete, and one of them reads buses
        bool same;                   ///< nothing has changed since the last ones
    };
    /// Ends the list, for the block that begins, and begins another one. Valid until the next add().
    Turns take() noexcept {
        const bool trusted = trusted_, complete = !newcomers_ && !moved_, any_reads = any_reads_;
        const std::span<const Unison> all(all_.data(), trusted ? count_ : 0);
        begin();
        const bool known = trusted && complete, same = known && changes_ == taken_;
        taken_ = changes_;
        if (!known)
            note_change();
        return {all, complete, any_reads && complete, same};
    }

    /// Between two blocks: the turns of the next one; false ones were freed. Doesn't end the list.
    std::span<const Unison> turns() const noexcept { return {all_.data(), count_}; }
    /// Whether these are all turns of the block, and nothing reaches beyond its own.
    bool whole() const noexcept { return trusted_ && !newcomers_ && !joined_ && !moved_ && !barrier_; }

private:
    void add(Unison one, bool reads) noexcept {
        if (barrier_ || one.place().listed >= 0)
            return;
        if (count_ == all_.size()) {
            barrier_ = true; // what is behind isn't known
            return;
        }
        any_reads_ = any_reads_ || reads;
        starts_matter_ = starts_matter_ || one.facts().draws || one.facts().writes_buffers;
        one.place().listed = int32_t(count_);
        Unison& before = all_[count_++];
        if (before.batch != one.batch || before.lone != one.lone)
            note_change();
        before = one;
    }

    std::vector<Unison> all_;
    size_t count_ = 0, last_count_ = 0;
    uint32_t changes_ = 1, taken_ = 0; ///< taken_: at the last take()
    bool any_reads_ = false, newcomers_ = false, joined_ = false, moved_ = false;
    bool barrier_ = false, trusted_ = false;
    bool starts_matter_ = false; ///< a turn draws random numbers or writes to sample buffers
};

} // namespace scs
