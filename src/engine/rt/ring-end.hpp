// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace scs {

/// One thread's end of a ring between one writer and one reader: how far that thread has come, and how far it may go.
/// It reads the other end, and so fetches that cache line, only when the limit that it knows isn't enough. Positions
/// count from the start and never wrap (64 bits). Keep each end on its own cache lines. Except for seen(), only the
/// end's own thread may call its functions.
class RingEnd {
public:
    /// `lead`: how far this end may be ahead of the other: the capacity for the writer, 0 for the reader.
    explicit RingEnd(size_t lead) noexcept : lead_(lead), limit_(lead) {}

    uint64_t position() const noexcept { return position_.load(std::memory_order_relaxed); }

    /// How far this end may advance. Exact if that is less than `wanted`, else at least `wanted`.
    size_t reach(const RingEnd& other, size_t wanted) noexcept {
        const size_t reach = limit_ - position();
        return reach < wanted ? reach_now(other) : reach;
    }

    /// How far this end may advance, from where the other one is now.
    size_t reach_now(const RingEnd& other) noexcept {
        limit_ = other.seen() + lead_;
        return limit_ - position();
    }

    /// Advances to a position within reach, and publishes to the other thread what was done up to there.
    void move_to(uint64_t position) noexcept { position_.store(position, std::memory_order_release); }

    /// The position; acquires all that this end's thread did up to there. [any]
    uint64_t seen() const noexcept { return position_.load(std::memory_order_acquire); }

private:
    const size_t lead_;
    std::atomic<uint64_t> position_{0};
    uint64_t limit_;
};

} // namespace scs
