// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/pool-regions.hpp"

#include <cstring>
#include <mutex>

namespace scs {
namespace {

std::atomic<PoolRegion*> first_region{nullptr};
std::mutex entering; ///< held while the list or a region's addresses change

void* next_of(const void* memory) noexcept {
    void* next;
    std::memcpy(&next, memory, sizeof next);
    return next;
}

} // namespace

PoolRegion& PoolRegion::enter(const void* begin, size_t bytes) {
    const std::lock_guard lock(entering);
    PoolRegion* region = first_region.load(std::memory_order_relaxed);
    while (region && region->begin_.load(std::memory_order_relaxed) != region->end_.load(std::memory_order_relaxed))
        region = region->next_;
    if (!region) {
        region = new PoolRegion;
        region->next_ = first_region.load(std::memory_order_relaxed);
        first_region.store(region, std::memory_order_release);
    }
    const auto at = reinterpret_cast<uintptr_t>(begin);
    region->put_.store(nullptr, std::memory_order_relaxed);
    region->taken_ = nullptr;
    region->begin_.store(at, std::memory_order_relaxed);
    region->end_.store(at + bytes, std::memory_order_release);
    return *region;
}

PoolRegion* PoolRegion::find(const void* memory) noexcept {
    const auto at = reinterpret_cast<uintptr_t>(memory);
    for (PoolRegion* region = first_region.load(std::memory_order_acquire); region; region = region->next_) {
        // The end first: while a region changes, it is empty.
        const uintptr_t end = region->end_.load(std::memory_order_acquire);
        if (at < end && at >= region->begin_.load(std::memory_order_relaxed))
            return region;
    }
    return nullptr;
}

void PoolRegion::leave() noexcept {
    const std::lock_guard lock(entering);
    end_.store(0, std::memory_order_release);
    begin_.store(0, std::memory_order_relaxed);
}

void PoolRegion::put(void* memory) noexcept {
    void* before = put_.load(std::memory_order_relaxed);
    do
        std::memcpy(memory, &before, sizeof before);
    while (!put_.compare_exchange_weak(before, memory, std::memory_order_release, std::memory_order_relaxed));
}

void* PoolRegion::take() noexcept {
    if (!taken_ && put_.load(std::memory_order_relaxed))
        taken_ = put_.exchange(nullptr, std::memory_order_acquire);
    void* const memory = taken_;
    if (memory)
        taken_ = next_of(memory);
    return memory;
}

} // namespace scs
