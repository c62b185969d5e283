// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/nodes/node.hpp"
#include "engine/voices/batch.hpp"
#include "engine/voices/costs.hpp"
#include "engine/voices/voice.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace scs {

/// What is computed together: the voices of a batch, a lone one, or a synth of plugins' units. A voice of an
/// interleaved batch is an item, too: it adds to buses what its batch has held for it.
struct Item {
    Batch* batch;
    Synth* lone; ///< if there is no batch

    bool operator==(const Item&) const = default;
    bool is_graph() const noexcept { return !batch && !lone->voice; }
    ItemPlace& place() const noexcept { return batch ? batch->ahead : lone->ahead; }
    const TurnFacts& facts() const noexcept { return batch ? *batch->code : *lone->facts; }
    const NativeCode& code() const noexcept { return batch ? *batch->code : *lone->voice->code; } ///< of voices
    int voices() const noexcept { return batch ? batch->count() : 1; }
    /// How many random numbers it draws in a block, if that is known.
    uint32_t numbers() const noexcept { return facts().numbers * uint32_t(voices()); }
    Costs::Kind kind() const noexcept {
        return batch ? Costs::Kind::batch : lone->voice && lone->voice->batch ? Costs::Kind::held : Costs::Kind::lone;
    }
};

/// The items of a block in their order, which tell what threads may compute. They are listed anew before a block if
/// something has changed since: nodes, which voices are in a batch, which run, which buses. [rt], after construction.
class RenderList {
public:
    /// [worker] most: how many items it has room for.
    explicit RenderList(size_t most) : items_(most) {}

    /// Something of that has changed.
    void note_change() noexcept { ++changes_; }
    /// Whether the items are those of the next block.
    bool current() const noexcept { return listed_ == changes_; }
    /// Stays the same as long as the items, and all that decides what they reach.
    uint32_t version() const noexcept { return listed_; }

    /// Begins it anew, with no items.
    void begin() noexcept {
        count_ = 0;
        reads_ = draws_ = ended_ = false;
        complete_ = whole_ = true;
    }
    /// The next item, unless it is in the list already.
    void add(Batch& batch) noexcept { add(Item{&batch, nullptr}, batch.code->reads); }
    void add(Synth& synth) noexcept { add(Item{nullptr, &synth}, synth.facts->reads); }
    /// A synth comes next that starts in the block, so it isn't known yet what it reaches.
    void add_newcomer() noexcept { complete_ = whole_ = false; }
    /// Something has to be done in the block beside computing the items.
    void need_walk() noexcept { whole_ = false; }
    /// What comes next may end, pause or move other nodes: nothing after it can be listed.
    void end_early() noexcept {
        ended_ = true;
        whole_ = false;
    }
    /// Whether nothing is added any more.
    bool ended() const noexcept { return ended_; }
    /// All items were added.
    void end() noexcept { listed_ = changes_; }

    std::span<const Item> items() const noexcept { return {items_.data(), count_}; }
    /// Whether nothing else is computed among the items, nor in front of them.
    bool complete() const noexcept { return complete_; }
    /// Whether the items are all there is to do in the block, and none reaches beyond its own.
    bool whole() const noexcept { return whole_; }
    /// Whether one of them reads buses.
    bool reads() const noexcept { return reads_; }
    /// Whether a voice whose turn comes next may as well start before them: none of them draws random numbers or writes
    /// to sample buffers.
    bool lets_start() const noexcept { return complete_ && !draws_; }

    bool has(const Item& item) const noexcept {
        const auto at = size_t(item.place().listed);
        return at < count_ && items_[at] == item;
    }

private:
    void add(Item item, bool reads) noexcept {
        if (ended_ || has(item))
            return;
        if (count_ == items_.size())
            return end_early();
        reads_ = reads_ || reads;
        draws_ = draws_ || item.facts().draws || item.facts().writes_buffers;
        item.place().listed = int32_t(count_);
        items_[count_++] = item;
    }

    std::vector<Item> items_;
    size_t count_ = 0;
    uint32_t changes_ = 1, listed_ = 0; ///< changes, which wrap; when it was listed
    bool reads_ = false, draws_ = false, complete_ = false, whole_ = false, ended_ = false;
};

} // namespace scs
