// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace scs {

/// One thread's end of a ring between one writer and one reader: how far that thread has come, and how far it may go.
/// It looks at the other end, and so fetches that one's cache line, only when the limit it knows doesn't suffice.
/// Positions count from the start and never wrap (64 bits). Keep each end on cache lines of its own. Only its own
/// thread may call its functions, but for seen().
class RingEnd {
public:
    /// `lead`: how far this end may be ahead of the other one: the capacity for the writer's, 0 for the reader's.
    explicit RingEnd(size_t lead) noexcept : lead_(lead), limit_(lead) {}

    uint64_t position() const noexcept { return position_.load(std::memory_order_relaxed); }

    /// How far this end may go on; exact if that is less than `wanted`, else at least `wanted`.
    size_t reach(const RingEnd& other, size_t wanted) noexcept {
        const size_t reach = limit_ - position();
        return reach < wanted ? reach_now(other) : reach;
    }

    /// How far this end may go on, by where the other one is now.
    size_t reach_now(const RingEnd& other) noexcept {
        limit_ = other.seen() + lead_;
        return limit_ - position();
    }

    /// Goes on to a position within reach, and shows the other thread what was done up to there.
    void move_to(uint64_t position) noexcept { position_.store(position, std::memory_order_release); }

    /// The position, and all that this end's thread did up to there. [any]
    uint64_t seen() const noexcept { return position_.load(std::memory_order_acquire); }

private:
    const size_t lead_;
    std::atomic<uint64_t> position_{0};
    uint64_t limit_;
};

} // namespace scs
