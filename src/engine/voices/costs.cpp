// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/costs.hpp"

#include <algorithm>
#include <utility>

namespace scs {
namespace {

constexpr int64_t longest = 1'000'000'000; // ns
constexpr int64_t dear_synth = 20'000;     // ns; above this, the clock is read within a synth, too
constexpr int64_t most_rise = 4;           // how many times the mean a measurement may be without a second one like it

/// In a block of little work the clock is read at its begin only. So in one of seven it is read anywhere in the block's
/// work, too. In a cycle of 16 it isn't always in the same blocks, as the first is the dearest.
constexpr int32_t blocks_a_sample = 7;

/// How much of a block's work, ns, lies before that place. A thread that was stopped for an hour may have measured work
/// of an hour.
int64_t work_before_sample(int32_t block, int64_t work) noexcept {
    const uint32_t spread = uint32_t(block / blocks_a_sample) * 2654435769u;
    return int64_t(spread / 0x1p32 * double(work));
}

void follow(int64_t& mean, int64_t value, bool first) noexcept {
    mean = std::max<int64_t>(first ? value : mean + (value - mean) / 4, 1);
}

/// Where a thread was preempted, one measurement is far too high. So is the next one only if the synth is dear.
void note_synth(SynthCosts& costs, int64_t nsec) noexcept {
    const bool first = costs.synth == 0;
    const int64_t last = std::exchange(costs.last, nsec);
    const int64_t most = first ? nsec : std::max(last, most_rise * costs.synth);
    follow(costs.synth, std::min(nsec, most), first);
}

} // namespace

uint32_t Costs::of(const TurnFacts& facts, Kind kind, size_t operations) const noexcept {
    if (const uint32_t nsec = facts.costs.items[size_t(kind)])
        return nsec;
    return uint32_t(std::clamp(operation_ * double(operations), 1., double(longest)));
}

/// Threads share work by what takes no longer than it must. A measurement may be too long, as the thread was
/// interrupted, but hardly too short. So a shorter one counts at once, a longer one little by little.
void Costs::note_item(uint32_t& item, size_t operations, int64_t nsec) noexcept {
    const auto found = uint32_t(std::clamp<int64_t>(nsec, 1, longest));
    item = item ? std::min(found, item + item / 8 + 1) : found;
    if (operations)
        operation_ += (double(item) / double(operations) - operation_) / 16;
}

void Costs::note(const TurnFacts& facts, Kind kind, const Measured& measured) noexcept {
    SynthCosts& costs = facts.costs;
    const int64_t nsec = measured.nsec / measured.items;
    note_item(costs.items[size_t(kind)], measured.operations, nsec);
    if (!measured.synths)
        return;
    follow(costs.turn, nsec, costs.turn == Deadline::unknown);
    note_synth(costs, measured.nsec / measured.synths);
    if (costs.turn >= dear_synth)
        costs.turn = Deadline::unknown;
}

void Costs::begin_block(Deadline& deadline, int32_t number) noexcept {
    sampled_ = deadline.bounded() && number % blocks_a_sample == 0;
    if (sampled_)
        deadline.look_after(work_before_sample(number, block_work_));
}

} // namespace scs
