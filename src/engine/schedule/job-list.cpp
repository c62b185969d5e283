// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/job-list.hpp"

#include <algorithm>

namespace scs {

void JobList::open(size_t count, size_t split) noexcept {
    count_.store(count, std::memory_order_relaxed);
    split_.store(std::min(split, count), std::memory_order_relaxed);
    for (size_t job = 0; job < count; ++job)
        states_[job].now.store(open_, std::memory_order_release);
}

bool JobList::take(size_t job) noexcept {
    if (!begin(job))
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
