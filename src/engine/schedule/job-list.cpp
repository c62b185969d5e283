// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/job-list.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace scs {

void JobList::gate(size_t job, size_t gate) noexcept {
    assert(next_gated_ == 0 || gate >= gates_[gated_[next_gated_ - 1].load(std::memory_order_relaxed)]);
    gated_[next_gated_++].store(uint32_t(job), std::memory_order_relaxed);
    gates_[job] = uint32_t(gate);
}

void JobList::open(size_t count, size_t split) noexcept {
    round_ = (round_ + 1) & UINT32_MAX;
    gated_count_.store(next_gated_, std::memory_order_relaxed);
    count_.store(count, std::memory_order_relaxed);
    split_.store(std::min(split, count), std::memory_order_relaxed);
    for (size_t job = 0; job < count; ++job) {
        const size_t gate = gates_[job];
        states_[job].now.store(gate ? word(gated, gate) : open_, std::memory_order_release);
    }
    // Whoever sees this round here sees its jobs: one that isn't gated then is begun.
    passed_.store(word(gated, 0), std::memory_order_release);
    while (next_gated_)
        gates_[gated_[--next_gated_].load(std::memory_order_relaxed)] = 0;
}

bool JobList::take(size_t job) noexcept {
    uint64_t now = states_[job].now.load(std::memory_order_relaxed);
    if (now == begun_ || now == done_ || !begin(job, now))
        return false;
    settle(job);
    return true;
}

size_t JobList::take_ahead(size_t job) noexcept {
    for (const size_t count = count_.load(std::memory_order_relaxed); ++job < count;)
        if (begin(job))
            return job;
    return none;
}

size_t JobList::take_gated(Looked& looked) noexcept {
    const size_t count = gated_count_.load(std::memory_order_relaxed);
    if (!count)
        return none;
    const uint64_t passed = passed_.load(std::memory_order_acquire);
    if (std::exchange(looked.round, round_of(passed)) != round_of(passed))
        looked.next = 0;
    while (looked.next < count) {
        const size_t job = gated_[looked.next].load(std::memory_order_relaxed);
        const uint64_t now = states_[job].now.load(std::memory_order_relaxed);
        const bool waits = (now & 7) == gated && round_of(now) == round_of(passed);
        if (waits && gate_of(now) > gate_of(passed))
            break; // and so do those behind it
        ++looked.next;
        if (waits && begin(job, now))
            return job;
    }
    return none;
}

bool JobList::any_gated(Looked looked) const noexcept {
    const size_t count = gated_count_.load(std::memory_order_relaxed);
    const bool same = looked.round == round_of(passed_.load(std::memory_order_relaxed));
    for (size_t i = same ? looked.next : 0; i < count; ++i)
        if ((states_[gated_[i].load(std::memory_order_relaxed)].now.load(std::memory_order_relaxed) & 7) == gated)
            return true;
    return false;
}

// A helper that still has an old count or split finds other jobs first than it would otherwise, which does no harm:
// what is open is to be done, whichever round it is of.

JobList::Place JobList::place(size_t which, size_t helpers) const noexcept {
    const size_t split = split_.load(std::memory_order_relaxed), count = count_.load(std::memory_order_relaxed);
    const size_t start = split + (count - std::min(split, count)) * which / helpers;
    return {start, start};
}

size_t JobList::take_next(Place& place) noexcept {
    for (const size_t count = count_.load(std::memory_order_relaxed); place.up < count;)
        if (const size_t job = place.up++; begin(job))
            return job;
    while (place.down > 0)
        if (const size_t job = --place.down; begin(job))
            return job;
    return none;
}

} // namespace scs
