// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/task-graph.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace scs {
namespace {

constexpr int looks_at_end = 8; // in place of looks_for_own, if little of a thread's own is to come

} // namespace

// ---- the owner's

void TaskGraph::gate(size_t strand, size_t commits) noexcept {
    assert(next_gated_ == 0 || commits >= gates_[gated_[next_gated_ - 1].load(std::memory_order_relaxed)]);
    gated_[next_gated_++].store(uint32_t(strand), std::memory_order_relaxed);
    gates_[strand] = uint32_t(commits);
}

void TaskGraph::begin_round() noexcept {
    round_ = (round_ + 1) & UINT32_MAX;
    gated_count_.store(next_gated_, std::memory_order_relaxed);
    committed_.store(0, std::memory_order_relaxed);
    stopped_.store(false, std::memory_order_relaxed);
}

void TaskGraph::open_chain(size_t chain, int64_t lead) noexcept {
    chains_[chain].lead.store(lead, std::memory_order_relaxed);
    chains_[chain].now.store(round_ << 32, std::memory_order_relaxed);
}

/// A thread that sees this round in opened_ sees its chains.
void TaskGraph::publish(size_t chains, size_t blocks, uint64_t shape) noexcept {
    assert(chains <= most_chains && blocks <= most_blocks);
    opened_.store(round_ << 32 | shape | blocks * one_in_blocks | chains, std::memory_order_release);
}

void TaskGraph::open_strands(size_t count, size_t split) noexcept {
    begin_round();
    split_.store(std::min(split, count), std::memory_order_relaxed);
    for (size_t strand = 0; strand < count; ++strand)
        open_chain(strand, gates_[strand]);
    publish(count, 1, 0);
    while (next_gated_)
        gates_[gated_[--next_gated_].load(std::memory_order_relaxed)] = 0;
}

void TaskGraph::open_stages(size_t stages, size_t blocks, size_t at_once) noexcept {
    begin_round();
    for (size_t stage = 0; stage < stages; ++stage)
        open_chain(stage, stage ? 1 : 1 - int64_t(at_once));
    publish(stages, blocks, of_stages);
}

bool TaskGraph::close(size_t chain) noexcept {
    uint64_t now = chains_[chain].now.load(std::memory_order_acquire);
    if (now & begun)
        return false;
    if ((now & closed) || done_of(now) == blocks_of(opened_.load(std::memory_order_relaxed)))
        return true;
    return chains_[chain].now.compare_exchange_strong(now, now | closed, std::memory_order_acquire,
                                                      std::memory_order_relaxed);
}

// ---- anybody's

TaskGraph::Task TaskGraph::take(Hand& hand, size_t from) noexcept {
    const uint64_t opened = opened_.load(std::memory_order_acquire);
    look_at(hand, opened, from);
    const size_t chain = opened & of_stages ? take_stage(hand) : take_strand(hand);
    return {chain, chain == none ? 0 : done(chain)};
}

/// Helpers begin where the owner comes last, and go on to where it comes first.
void TaskGraph::look_at(Hand& hand, uint64_t opened, size_t from) const noexcept {
    if (std::exchange(hand.opened, opened) != opened) {
        const size_t split = split_.load(std::memory_order_relaxed), count = count_of(opened);
        const size_t helpers = std::max<size_t>(threads_, 2) - 1;
        hand.up = hand.down =
            hand.thread ? split + (count - std::min(split, count)) * (hand.thread - 1) / helpers : size_t(0);
        hand.gated = 0;
        hand.looks = 0;
    }
    hand.up = std::max(hand.up, from);
}

size_t TaskGraph::take_strand(Hand& hand) noexcept {
    for (const size_t count = count_of(hand.opened); hand.up < count;)
        if (const size_t strand = hand.up++; begin(strand, hand))
            return strand;
    while (hand.down > 0)
        if (const size_t strand = --hand.down; begin(strand, hand))
            return strand;
    return take_gated(hand);
}

size_t TaskGraph::take_gated(Hand& hand) noexcept {
    const size_t count = gated_count_.load(std::memory_order_relaxed);
    while (hand.gated < count) {
        const size_t strand = gated_[hand.gated].load(std::memory_order_relaxed);
        if (!may_begin(strand, 0, hand.opened))
            break; // and so do those after it
        ++hand.gated;
        if (begin(strand, hand))
            return strand;
    }
    return none;
}

/// The earlier stages come first, so that others soon have something to do, but no more than some blocks ahead of the
/// later ones: these are what is left to do while others are at the last blocks.
size_t TaskGraph::take_stage(Hand& hand) noexcept {
    if (stopped())
        return none;
    const size_t stages = count_of(hand.opened);
    const bool near_end = through(std::min(hand.thread, stages - 1), hand.opened);
    const bool any = hand.looks >= (near_end ? looks_at_end : looks_for_own);
    const auto takes = [&](size_t stage) { return (any || stage % threads_ == hand.thread) && begin(stage, hand); };
    hand.looks = std::min(hand.looks + 1, looks_for_own);
    for (size_t stage = stages; stage-- > threads_;)
        if (lags(stage) && takes(stage)) {
            hand.looks = 0;
            return stage;
        }
    for (size_t stage = 0; stage < stages; ++stage)
        if (takes(stage)) {
            hand.looks = 0;
            return stage;
        }
    return none;
}

/// Whether the thread whose stage this is has gone far ahead in its stage before it.
bool TaskGraph::lags(size_t stage) const noexcept {
    return done(stage - threads_) > done(stage) + threads_;
}

bool TaskGraph::may_begin(size_t chain, size_t block, uint64_t opened) const noexcept {
    const int64_t least = int64_t(block) + chains_[chain].lead.load(std::memory_order_relaxed);
    if (least <= 0)
        return true;
    const bool stages = opened & of_stages;
    const auto& waits_for = !stages ? committed_ : chains_[chain ? chain - 1 : count_of(opened) - 1].now;
    // Should that be of a later round already, this chain has been closed, and begin() finds that out.
    return int64_t(done_of(waits_for.load(std::memory_order_acquire))) >= least;
}

bool TaskGraph::begin(size_t chain, const Hand& hand) noexcept {
    uint64_t now = chains_[chain].now.load(std::memory_order_relaxed);
    if (round_of(now) != round_of(hand.opened) || (now & (begun | closed)))
        return false;
    const size_t block = done_of(now);
    if (block == blocks_of(hand.opened) || !may_begin(chain, block, hand.opened))
        return false;
    return chains_[chain].now.compare_exchange_strong(now, now | begun, std::memory_order_acquire,
                                                      std::memory_order_relaxed);
}

bool TaskGraph::any_left(const Hand& hand) const noexcept {
    const uint64_t opened = opened_.load(std::memory_order_relaxed);
    if (opened != hand.opened)
        return true;
    if (opened & of_stages)
        return stages_left();
    for (size_t i = hand.gated, count = gated_count_.load(std::memory_order_relaxed); i < count; ++i)
        if (const uint64_t now = chains_[gated_[i].load(std::memory_order_relaxed)].now.load(std::memory_order_relaxed);
            !(now & (begun | closed)) && done_of(now) == 0)
            return true;
    return false;
}

} // namespace scs
