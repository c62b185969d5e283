// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace scs {

/// Memory for the render path: a two-level segregated fit allocator over one region that is taken
/// from the system at creation. Every operation takes constant time (reallocate() also copies when
/// the block has to move).
///
/// Source of the method: M. Masmano, I. Ripoll, A. Crespo, J. Real, "TLSF: a New Dynamic Memory
/// Allocator for Real-Time Systems", 16th Euromicro Conference on Real-Time Systems, 2004.
///
/// Not thread-safe: one thread at a time, which is the data loop once the engine runs.
class Pool {
public:
    static constexpr size_t alignment = 64;
    static constexpr size_t max_bytes = size_t{1} << 40;

    /// A pool over a region of `bytes` (1 … max_bytes, rounded up to whole pages). The region also
    /// holds 16 bytes of bookkeeping per block. Fails if the size is out of range or the system
    /// has no memory. `at_once`: the system gives all pages now, so that the render path never waits
    /// for one; otherwise each when it is first used. [main] [worker]
    static Result<std::unique_ptr<Pool>> create(size_t bytes, bool at_once = true);
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    /// `bytes` of uninitialised memory aligned to 64 bytes, or nullptr when there is no free block
    /// of that size. A request for 0 bytes gets a block of its own. [rt]
    void* allocate(size_t bytes) noexcept;

    /// Makes a block larger or smaller, in place if possible, and keeps the contents up to the smaller size. If
    /// `memory` is nullptr, allocates. Returns the block's address, which may have changed, or nullptr when out of
    /// memory; then `memory` is unchanged. [rt]
    void* reallocate(void* memory, size_t bytes) noexcept;

    /// Frees what allocate() or reallocate() returned; nullptr is fine. [rt]
    void free(void* memory) noexcept;

    /// Whether this address lies in the pool's region. [rt]
    bool owns(const void* memory) const noexcept {
        const auto at = reinterpret_cast<uintptr_t>(memory);
        const auto begin = reinterpret_cast<uintptr_t>(region_);
        return at >= begin && at - begin < region_bytes_;
    }

    /// Bytes in free blocks, in total. [rt]
    size_t free_bytes() const noexcept { return free_bytes_; }

    /// The largest request that allocate() would grant now; 0 when there is no free block. [rt]
    size_t largest_free_block() const noexcept;

    /// Number of blocks that are allocated. [rt]
    size_t used_blocks() const noexcept { return used_blocks_; }

private:
    struct Block;
    struct Links;

    // Free blocks are listed by size class: the power of two, divided linearly into 32.
    static constexpr int subdivision_bits = 5;
    static constexpr int subdivisions = 1 << subdivision_bits;
    static constexpr int powers = 32;
    struct SizeClass {
        int power;
        int subdivision;
    };

    Pool(std::byte* region, size_t bytes) noexcept;

    static SizeClass class_of(size_t size) noexcept;
    static size_t smallest_of(SizeClass c) noexcept;
    static size_t block_size_for(size_t bytes) noexcept;
    void insert(Block* block) noexcept;
    void remove(Block* block) noexcept;
    Block* take_at_least(size_t size) noexcept;
    void trim(Block* block, size_t size) noexcept;

    std::byte* region_;
    size_t region_bytes_;
    size_t free_bytes_ = 0;
    size_t used_blocks_ = 0;
    // A bit for each list that isn't empty, and a bit for each power that has such a list.
    uint32_t used_powers_ = 0;
    std::array<uint32_t, powers> used_subdivisions_{};
    std::array<std::array<Block*, subdivisions>, powers> lists_{};
};

} // namespace scs
