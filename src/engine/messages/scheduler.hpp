// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/messages/command.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace scs {

/// Bundles that wait for their time. Bundles with equal times keep the order in which they came. A binary heap of fixed
/// capacity. [rt], after construction.
class Scheduler {
public:
    /// [worker] The heap is written once, so that no page of it is first touched in the render path.
    explicit Scheduler(size_t room) : room_(room), heap_(room) { heap_.clear(); }
    ~Scheduler() {
        for (const Entry& entry : heap_)
            delete entry.bundle;
    }

    bool empty() const noexcept { return heap_.empty(); }
    /// The earliest time. It must not be empty.
    NtpTime next_time() const noexcept { return heap_.front().time; }
    /// false: no room; the caller still owns the bundle.
    bool add(CommandBundle* bundle) noexcept SCS_NONBLOCKING {
        if (heap_.size() == room_)
            return false;
        SCS_UNPROVEN_BEGIN // there is room
        heap_.push_back({bundle->time, order_++, bundle});
        SCS_UNPROVEN_END
        std::push_heap(heap_.begin(), heap_.end(), later);
        return true;
    }
    /// Removes and returns the earliest bundle. It must not be empty.
    CommandBundle* take() noexcept {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        CommandBundle* bundle = heap_.back().bundle;
        heap_.pop_back();
        return bundle;
    }

private:
    struct Entry {
        NtpTime time;
        uint64_t order;
        CommandBundle* bundle;
    };
    static constexpr auto later = [](const Entry& a, const Entry& b) noexcept {
        return a.time != b.time ? a.time > b.time : a.order > b.order;
    };

    size_t room_;
    uint64_t order_ = 0;
    std::vector<Entry> heap_;
};

} // namespace scs
