// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/parallel/strand-plan.hpp"

#include "engine/nodes/node.hpp"
#include "engine/parallel/reaches.hpp"
#include "engine/voices/may-batch.hpp"

#include <algorithm>

namespace scs {
namespace {

constexpr size_t sets_per_item = 2; // which are kept, on average: most batches are stereo
constexpr size_t most_at_once = 32; // operations of an item that write at once
constexpr size_t most_draws = 512;  // turns that draw random numbers: to jump over one takes some 50 ns
constexpr int most_levels = 16;     // of groups, below a parallel one

/// Groups far above don't count, as there may be any number of them.
bool in_parallel_group(const Item& one) noexcept {
    const Synth& first = one.batch ? *one.batch->synths[one.batch->first()] : *one.lone;
    const Group* group = first.parent;
    for (int i = 0; group && i < most_levels; ++i, group = group->parent)
        if (group->parallel)
            return true;
    return false;
}

/// How many batches and lone voices at most are computed ahead in a block.
size_t most_planned(const Settings& settings) noexcept {
    return size_t(std::clamp(settings.max_nodes / 4, 64, 1024));
}

} // namespace

StrandPlan::StrandPlan(const Settings& settings, size_t most_items, int lanes, Dependencies& dependencies,
                       HeldOutput& held, const RandomJump& jump, const Governor& governor)
    : dependencies_(dependencies),
      held_(held),
      jump_(jump),
      governor_(governor),
      groups_alone_(settings.parallel == "groups"),
      lanes_(lanes),
      set_floats_(size_t(lanes) * size_t(settings.block_size)),
      items_(most_planned(settings)),
      strands_(items_.size()),
      gates_(items_.size()),
      kept_sets_(sets_per_item * items_.size()),
      kept_(aligned_zeros<float>(kept_sets_ * set_floats_)),
      listed_(most_items),
      draws_(most_draws) {}

/// The checks that the batch's turn would begin with. What they look at doesn't change before.
bool StrandPlan::may_open(Batch& batch) noexcept {
    return !batch.mapped && keeps_together(batch) &&
           (!batch.interleaved || (held_.has_spare() && held_.take_slot(batch)));
}

bool StrandPlan::may_open(const Item& one) noexcept {
    if (one.is_graph())
        return false; // what it writes to buses can't be kept
    if (one.batch)
        return one.code().ahead && may_open(*one.batch);
    const Voice& voice = *one.lone->voice;
    return !voice.batch && voice.code->lone_ahead && one.lone->run == Run::on && !voice.maps;
}

/// Whether to hand it over takes less than to compute it.
bool StrandPlan::is_worth_it(const Item& one) const noexcept {
    return one.batch || (!one.is_graph() && governor_.asks_for_lone(one.code().lone.ops.size()));
}

/// Of one that opens.
StrandPlan::Need StrandPlan::need_of(const Item& one) const noexcept {
    const NativeCode& code = one.code();
    if (one.batch)
        return {code.batch_sets, work_in(one), code.batch_keeps.size()};
    return {(code.lone_sets + size_t(lanes_) - 1) / size_t(lanes_), work_in(one), code.lone_keeps.size()};
}

/// How many strands' turns must have begun until all is there that the turns before `first` write and this one reads.
size_t StrandPlan::gate_for(size_t turn, size_t first) const noexcept {
    uint32_t gate = 0;
    for (const uint32_t writer : dependencies_.writers(turn))
        if (writer < first)
            gate = std::max(gate, listed_[writer].is_there);
    return gate;
}

void StrandPlan::make(const RenderList& list) noexcept {
    item_count_ = strand_count_ = gate_count_ = set_count_ = work_ = draw_count_ = 0;
    holds_ = true;
    version_ = list.version();
    size_t drawing = 0;
    bool draws_known = list.complete(), buffers_stay = list.complete();
    const auto opens = [&](const Item& one) noexcept {
        const TurnFacts& facts = one.facts();
        const bool well = (list.complete() || !facts.reads) && (draws_known || !facts.draws) &&
                          (buffers_stay || !facts.reads_buffers) && (!groups_alone_ || in_parallel_group(one)) &&
                          may_open(one);
        if (facts.draws) // what doesn't open may draw another number of them, or none
            draws_known = draws_known && well && ++drawing < most_draws;
        buffers_stay = buffers_stay && !facts.writes_buffers;
        // Slots of held output are others' in the next block.
        holds_ = holds_ && facts.buses_stay && !(one.batch && one.batch->interleaved);
        return well;
    };
    list.complete() && list.reads() ? plan_strands(list.items(), opens) : plan_apart(list.items(), opens);
}

/// Where no turn reads what others write, each is a strand of its own. Whenever something has changed, all turns
/// come here. Most are batches of the kind of the one before, so what depends on that alone is asked once.
template <class Opens>
void StrandPlan::plan_apart(std::span<const Item> items, Opens&& opens) noexcept {
    const NativeCode* simple = nullptr; // a batch of it opens if it is in order itself
    Need need{};
    for (const Item& one : items) {
        if (const Batch* batch = one.batch) {
            const NativeCode* code = batch->code;
            if (code != simple && code->ahead && !code->reads && !code->draws && !code->reads_buffers &&
                code->buses_stay && !code->reaches_may_meet && !groups_alone_) {
                simple = code;
                need = need_of(one);
            }
            if (code == simple && batch->live && !batch->stale && !batch->mapped && !batch->interleaved) {
                (void)open_apart(one, need);
                continue;
            }
        }
        if (opens(one)) {
            const bool opened = is_worth_it(one) && open_apart(one, need_of(one));
            note_draws(one, opened ? int32_t(item_count_ - 1) : -1);
        }
    }
}

template <class Opens>
void StrandPlan::plan_strands(std::span<const Item> items, Opens&& opens) noexcept {
    dependencies_.begin();
    size_t count = 0;
    for (const Item& one : items) {
        listed_[count++] = {one, opens(one), 0};
        dependencies_.add(one, work_in(one));
    }
    const Runs& strands = dependencies_.find_strands();
    for (size_t first = 0, end; first < count; first = end) {
        end = strands.end(first);
        if (end > first + 1 && open_strand(first, end))
            continue;
        for (; first < end; ++first)
            if (!is_worth_it(listed_[first].of) || !open_strand(first, first + 1))
                pass_over(first);
    }
    std::sort(gates_.begin(), gates_.begin() + ptrdiff_t(gate_count_));
}

/// Leaves a turn to the walk.
void StrandPlan::pass_over(size_t turn) noexcept {
    listed_[turn].is_there = uint32_t(strand_count_ + 1);
    if (listed_[turn].opens)
        note_draws(listed_[turn].of, -1);
}

/// Has a turn computed ahead where no turn reads what others write.
bool StrandPlan::open_apart(const Item& one, const Need& need) noexcept {
    if (item_count_ == items_.size() || set_count_ + need.sets > kept_sets_)
        return false;
    strands_[strand_count_++] = {uint32_t(item_count_), 1, 0, 0};
    PlannedItem& item = add_item(one, need);
    item.at_once = 0;
    item.all_at_once = need.writes == 0;
    return true;
}

/// Has these turns computed ahead as one strand, if they can be.
bool StrandPlan::open_strand(size_t first, size_t end) noexcept {
    size_t sets = set_count_, gate = 0;
    for (size_t i = first; i < end; ++i) {
        const ListedItem& item = listed_[i];
        if (!item.opens || (end > first + 1 && !hands_on_well(item.of, first, end)))
            return false;
        sets += need_of(item.of).sets;
        gate = std::max(gate, gate_for(i, first));
    }
    if (item_count_ + (end - first) > items_.size() || sets > kept_sets_)
        return false;
    if (gate)
        gates_[gate_count_++] = {uint32_t(gate), uint32_t(strand_count_)};
    strands_[strand_count_++] = {uint32_t(item_count_), uint32_t(end - first), 0, 0};
    for (ListedItem& item : std::span(listed_).subspan(first, end - first)) {
        open_item(item.of, first, end);
        item.is_there = uint32_t(strand_count_ + 1);
    }
    return true;
}

/// Whether the turn fits into a strand of these: what others of them read it writes at once, and finds what it reads.
bool StrandPlan::hands_on_well(const Item& one, size_t first, size_t end) const noexcept {
    if (one.batch && one.batch->interleaved)
        return false;
    bool well = true;
    size_t writes_so_far = 0;
    for_each_reach(one, [&](const NativeCode::BusUse& use, const BusRange& range, bool) {
        const bool alone = dependencies_.alone(use, range, first, end);
        if (writes(use.effect))
            well =
                well && writes_so_far++ < most_at_once && (alone || !dependencies_.any_alone(use, range, first, end));
        else
            well = well && (alone || !dependencies_.may_write(use, range, first, end));
    });
    return well;
}

/// Of the last strand.
StrandPlan::PlannedItem& StrandPlan::add_item(const Item& one, const Need& need) noexcept {
    PlannedItem& item = items_[item_count_++];
    item.of = one;
    item.strand = uint32_t(strand_count_ - 1);
    item.kept = kept_.get() + set_count_ * set_floats_;
    set_count_ += need.sets;
    work_ += need.work;
    return item;
}

void StrandPlan::open_item(const Item& one, size_t first, size_t end) noexcept {
    const Need need = need_of(one);
    PlannedItem& item = add_item(one, need);
    item.at_once = 0;
    size_t write = 0, now = 0;
    if (end > first + 1)
        for_each_reach(one, [&](const NativeCode::BusUse& use, const BusRange& range, bool known) {
            if (!writes(use.effect))
                return;
            if (known && dependencies_.alone(use, range, first, end)) {
                item.at_once |= 1u << write;
                ++now;
            }
            ++write;
        });
    item.all_at_once = now == need.writes;
    note_draws(one, int32_t(item_count_ - 1));
}

void StrandPlan::note_draws(const Item& one, int32_t item) noexcept {
    if (one.facts().draws)
        draws_[draw_count_++] = {item, one.numbers()};
}

void StrandPlan::foresee_draws(RandomState random) noexcept {
    for (const Draw& draw : std::span(draws_).first(draw_count_)) {
        if (draw.item >= 0)
            items_[size_t(draw.item)].random = random;
        random = jump_(random, draw.numbers);
    }
}

} // namespace scs
