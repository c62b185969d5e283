// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/cache-line.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace scs {

/// A bounded wait-free queue of plain values from one producer thread to one consumer thread.
template <class T>
class SpscQueue {
    static_assert(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>);

public:
    /// Room for `capacity` values, rounded up to a power of two (at least 1). Allocates. [main]
    explicit SpscQueue(std::size_t capacity)
        : mask_(std::bit_ceil(std::max<std::size_t>(capacity, 1)) - 1),
          values_(std::make_unique<T[]>(mask_ + 1)) {}

    std::size_t capacity() const noexcept { return mask_ + 1; }

    /// Appends a value; false, and nothing done, when the queue is full. [rt] The producer only.
    bool try_push(const T& value) noexcept {
        const std::size_t pushed = pushed_.load(std::memory_order_relaxed);
        if (pushed - popped_seen_ > mask_) {
            popped_seen_ = popped_.load(std::memory_order_acquire);
            if (pushed - popped_seen_ > mask_) {
                return false;
            }
        }
        values_[pushed & mask_] = value;
        pushed_.store(pushed + 1, std::memory_order_release);
        return true;
    }

    /// Takes the oldest value; false, and `value` untouched, when the queue is empty. [rt] The
    /// consumer only.
    bool try_pop(T& value) noexcept {
        const std::size_t popped = popped_.load(std::memory_order_relaxed);
        if (popped == pushed_seen_) {
            pushed_seen_ = pushed_.load(std::memory_order_acquire);
            if (popped == pushed_seen_) {
                return false;
            }
        }
        value = values_[popped & mask_];
        popped_.store(popped + 1, std::memory_order_release);
        return true;
    }

    /// Number of values in the queue. While the other thread works: for the producer an upper
    /// bound, for the consumer a lower bound, for a third thread an estimate. [any]
    std::size_t size() const noexcept {
        // In this order, so that the difference can't be negative.
        const std::size_t popped = popped_.load(std::memory_order_acquire);
        const std::size_t pushed = pushed_.load(std::memory_order_acquire);
        return std::min(pushed - popped, capacity());
    }

private:
    const std::size_t mask_;
    const std::unique_ptr<T[]> values_;
    // The producer's line, then the consumer's. Each keeps the other's count as last seen, so that
    // it need not fetch the other's line for every value.
    alignas(cache_line) std::atomic<std::size_t> pushed_{0};
    std::size_t popped_seen_ = 0;
    alignas(cache_line) std::atomic<std::size_t> popped_{0};
    std::size_t pushed_seen_ = 0;
};

} // namespace scs
