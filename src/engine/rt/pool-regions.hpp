// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace scs {

/// The regions of the process's pools, so that memory finds back to its pool from wherever it is freed. There is one
/// for each pool that there was at once, and for each whose addresses stay reserved.
class PoolRegion {
public:
    /// [worker] Enters a region. May throw.
    static PoolRegion& enter(const void* begin, size_t bytes);
    /// [any] That in which this address lies, or null. Looks at all regions.
    static PoolRegion* find(const void*) noexcept;

    /// [any but rt] Its addresses are about to be somebody else's.
    void leave() noexcept;

    /// [any] Leaves a piece of memory, at least as large as a pointer and aligned as one, for the pool's thread.
    void put(void* memory) noexcept;
    /// [rt, the pool's thread] What was left last and isn't taken yet, or null.
    void* take() noexcept SCS_NONBLOCKING;

private:
    PoolRegion() noexcept = default;

    std::atomic<uintptr_t> begin_{0}, end_{0}; ///< equal: free for another region
    std::atomic<void*> put_{nullptr};          ///< each piece of memory begins with a pointer to the next
    void* taken_ = nullptr;                    ///< the same
    PoolRegion* next_ = nullptr;               ///< never changes, as none is ever deleted
};

} // namespace scs
