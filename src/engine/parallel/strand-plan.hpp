// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/aligned-array.hpp"
#include "engine/base/nonblocking.hpp"
#include "engine/base/settings.hpp"
#include "engine/parallel/dependencies.hpp"
#include "engine/parallel/done-actions.hpp"
#include "engine/parallel/governor.hpp"
#include "engine/parallel/random-jump.hpp"
#include "engine/rt/cache-line.hpp"
#include "engine/voices/held-output.hpp"
#include "engine/voices/render-list.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace scs {

/// Which items of a block are computed before the walk comes to them, in which strands, and how far the walk must have
/// come before a strand may be begun. It stays the same until something changes. [rt], after construction.
class StrandPlan {
public:
    /// A batch or a lone voice, and what was computed of it.
    struct alignas(cache_line) PlannedItem {
        Item of;
        float* kept;
        uint32_t at_once; ///< what it writes that no other reaches: bits as for VoiceRunner::run_ahead()
        bool all_at_once;
        bool over; ///< it has had its turn
        uint32_t strand;
        RandomState random; ///< of what draws numbers: where the generator is before it, then after it
        DoneActions done;
        /// The same in the order in which they came.
        struct Action {
            uint8_t lane, action;
        };
        std::array<Action, size_t(2) * most_lanes> actions;
        uint32_t action_count;

        void note(uint32_t lane, int action) noexcept {
            if (done.add(lane, action))
                actions[action_count++] = {uint8_t(lane), uint8_t(action)};
        }
    };
    /// Items one after the other that are done as one.
    struct alignas(cache_line) Strand {
        uint32_t first, count;
        uint32_t thread;   ///< has done it, as in Helpers::Run
        uint32_t computed; ///< how many of its items are done ahead
    };
    /// For TaskGraph::gate().
    struct Gate {
        uint32_t commits, strand;
        auto operator<=>(const Gate&) const = default;
    };

    /// [worker] most_items: of a block. lanes: of a batch. The others must live longer.
    StrandPlan(const Settings&, size_t most_items, int lanes, Dependencies&, HeldOutput&, const RandomJump&,
               const Governor&);

    /// Whether the last plan is the one for this list.
    bool holds_for(const RenderList& list) const noexcept { return holds_ && version_ == list.version(); }
    void make(const RenderList&) noexcept SCS_NONBLOCKING;

    size_t most_strands() const noexcept { return strands_.size(); }
    std::span<PlannedItem> items() noexcept { return std::span(items_).first(item_count_); }
    std::span<PlannedItem> items_of(const Strand& strand) noexcept {
        return items().subspan(strand.first, strand.count);
    }
    PlannedItem& item(size_t number) noexcept { return items_[number]; }
    std::span<Strand> strands() noexcept { return std::span(strands_).first(strand_count_); }
    Strand& strand(size_t number) noexcept { return strands_[number]; }
    /// The fewest commits first.
    std::span<const Gate> gates() const noexcept { return std::span(gates_).first(gate_count_); }
    /// Operations in all items, one of a batch counting as four.
    size_t work() const noexcept { return work_; }
    /// Tells the items where the generator will be when their turns come. It is here before the block.
    void foresee_draws(RandomState) noexcept SCS_NONBLOCKING;

private:
    /// Of a turn that is computed ahead.
    struct Need {
        size_t sets;   ///< of a batch's rows, that it keeps
        size_t work;   ///< operations, one of a batch counting as four
        size_t writes; ///< operations that write to buses
    };
    struct ListedItem {
        Item of;
        bool opens;        ///< it may be computed ahead
        uint32_t is_there; ///< how many strands' turns have begun when it has written
    };
    /// What draws random numbers, in order, as far as it is known how many.
    struct Draw {
        int32_t item; ///< -1: it isn't computed ahead
        uint32_t numbers;
    };

    bool may_open(Batch&) noexcept SCS_NONBLOCKING;
    bool may_open(const Item&) noexcept SCS_NONBLOCKING;
    bool is_worth_it(const Item&) const noexcept SCS_NONBLOCKING;
    Need need_of(const Item&) const noexcept SCS_NONBLOCKING;
    size_t gate_for(size_t turn, size_t first) const noexcept SCS_NONBLOCKING;
    template <class Opens>
    void plan_strands(std::span<const Item>, Opens&&) noexcept SCS_NONBLOCKING;
    template <class Opens>
    void plan_apart(std::span<const Item>, Opens&&) noexcept SCS_NONBLOCKING;
    bool open_apart(const Item&, const Need&) noexcept SCS_NONBLOCKING;
    bool open_strand(size_t first, size_t end) noexcept SCS_NONBLOCKING;
    void pass_over(size_t turn) noexcept SCS_NONBLOCKING;
    bool hands_on_well(const Item&, size_t first, size_t end) const noexcept SCS_NONBLOCKING;
    PlannedItem& add_item(const Item&, const Need&) noexcept SCS_NONBLOCKING;
    void open_item(const Item&, size_t first, size_t end) noexcept SCS_NONBLOCKING;
    void note_draws(const Item&, int32_t item) noexcept SCS_NONBLOCKING;

    Dependencies& dependencies_; ///< of the items that are planned
    HeldOutput& held_;
    const RandomJump& jump_;
    const Governor& governor_;
    const bool groups_alone_; ///< only what is in parallel groups
    const int lanes_;
    const size_t set_floats_; ///< of a set of rows that is kept
    std::vector<PlannedItem> items_;
    std::vector<Strand> strands_;
    std::vector<Gate> gates_;
    size_t kept_sets_;
    AlignedArray<float> kept_;
    std::vector<ListedItem> listed_; ///< while it is planned
    std::vector<Draw> draws_;
    bool holds_ = false;   ///< for the items and their buses of …
    uint32_t version_ = 0; ///< … this version of the list
    size_t item_count_ = 0, strand_count_ = 0, gate_count_ = 0, set_count_ = 0, work_ = 0, draw_count_ = 0;
};

} // namespace scs
