// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/result.hpp"
#include "engine/rt/pool-regions.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace scs {

/// Memory for the render path: a two-level segregated fit allocator over one region of addresses that is reserved at
/// creation. Every operation takes constant time (reallocate() also copies when the block has to move).
///
/// The system gives the pages of a large region little by little. allocate() works in a part at its beginning, and
/// extends that when it is full; keep_ahead() has the next pages given before. All are given back at the pool's end,
/// and those that aren't in use by rest().
///
/// Source of the method: M. Masmano, I. Ripoll, A. Crespo, J. Real, "TLSF: a New Dynamic Memory
/// Allocator for Real-Time Systems", 16th Euromicro Conference on Real-Time Systems, 2004.
///
/// Not thread-safe but for keep_ahead() and give_back(): one thread at a time, which is the data loop once the engine
/// runs.
class Pool {
public:
    static constexpr size_t alignment = 64;
    static constexpr size_t max_bytes = size_t{1} << 40;
    static constexpr size_t first_bytes = size_t{8} << 20; ///< what allocate() may use at first
    static constexpr size_t ahead = size_t{64} << 20;      ///< bytes that are there before they are used

    /// When the system gives the pages.
    enum class Pages {
        ahead,     ///< first_bytes and `ahead` now, and more by keep_ahead()
        when_used, ///< each when it is first used
    };

    /// A pool over a region of `bytes` (1 … max_bytes, rounded up to whole pages). The region also
    /// holds 16 bytes of bookkeeping per block. Fails if the size is out of range or the system
    /// has no addresses left. [main] [worker]
    static Result<std::unique_ptr<Pool>> create(size_t bytes, Pages = Pages::ahead);
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    /// `bytes` of uninitialised memory aligned to 64 bytes, or nullptr when there is no free block
    /// of that size. A request for 0 bytes gets a block of its own. [rt]
    void* allocate(size_t bytes) noexcept SCS_NONBLOCKING;

    /// Makes a block larger or smaller, in place if possible, and keeps the contents up to the smaller size. If
    /// `memory` is nullptr, allocates. Returns the block's address, which may have changed, or nullptr when out of
    /// memory; then `memory` is unchanged. [rt]
    void* reallocate(void* memory, size_t bytes) noexcept SCS_NONBLOCKING;

    /// Frees what allocate() or reallocate() returned; nullptr is fine. [rt]
    void free(void* memory) noexcept SCS_NONBLOCKING;

    /// Whether an address that allocate() or reallocate() returned has been freed, as long as nothing has been
    /// allocated since. [rt]
    static bool is_free(const void* memory) noexcept SCS_NONBLOCKING;

    /// Whether this address lies in the pool's region. [rt]
    bool owns(const void* memory) const noexcept {
        const auto at = reinterpret_cast<uintptr_t>(memory);
        const auto begin = reinterpret_cast<uintptr_t>(region_);
        return at >= begin && at - begin < region_bytes_;
    }

    /// Gives a block back to its pool, which may be any of this process, or one whose addresses stayed. The pool frees
    /// it by take_back(). false: the address is no pool's. [any]
    static bool give_back(void* memory) noexcept {
        PoolRegion* const region = PoolRegion::find(memory);
        if (region)
            region->put(memory);
        return region != nullptr;
    }
    /// Frees what was given back, `most` blocks of it at most. [rt]
    void take_back(size_t most = 32) noexcept SCS_NONBLOCKING;
    /// How many bytes lie at an address that allocate() or reallocate() of any pool returned. [any]
    static size_t size_of(void* memory) noexcept;

    /// Bytes in free blocks, and in pages by which the pool may still be extended. [rt]
    size_t free_bytes() const noexcept { return free_bytes_ + addable(); }

    /// The largest request that allocate() would grant now; 0 when there is no free block. [rt]
    size_t largest_free_block() const noexcept SCS_NONBLOCKING;

    /// Number of blocks that are allocated, and how many bytes they have with their bookkeeping. [rt]
    size_t used_blocks() const noexcept { return used_blocks_; }
    size_t used_bytes() const noexcept { return end_ - free_bytes_; }
    size_t region_bytes() const noexcept { return region_bytes_; }
    /// Whether create() would make a region of this size for `bytes`. [any]
    bool is_for(size_t bytes) const noexcept { return bytes <= max_bytes && whole_pages(bytes) == region_bytes_; }

    /// Whether keep_ahead() has anything to do, now or later. [any]
    bool grows() const noexcept { return touched_.load(std::memory_order_relaxed) < region_bytes_; }
    /// Has the system give the next pages until `ahead` bytes are there after those in use. `spare`: bytes that the
    /// system can still give. A request for more than is there may take that much of it, and waits for the pages; a
    /// request for yet more fails, since the kernel would end the process for lack of memory. To be called every 100 ms
    /// by one thread, while another one uses the pool. [worker]
    void keep_ahead(int64_t spare) noexcept;

    /// Returns to the system what isn't allocated; what is stays as it is. [any, like the following two]
    void rest() noexcept;
    /// After rest(): the pages are there again that a new pool has.
    void wake() noexcept;
    /// Ends the pool, but for its addresses: they stay reserved, and read as zeros.
    static void leave_addresses(std::unique_ptr<Pool>) noexcept;

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

    Pool(std::byte* region, size_t bytes, size_t in_use);

    static size_t whole_pages(size_t bytes) noexcept;
    static SizeClass class_of(size_t size) noexcept;
    static size_t smallest_of(SizeClass c) noexcept;
    static size_t block_size_for(size_t bytes) noexcept;
    void insert(Block* block) noexcept;
    void remove(Block* block) noexcept;
    Block* take_at_least(size_t size) noexcept;
    void trim(Block* block, size_t size) noexcept;
    size_t addable() const noexcept SCS_NONBLOCKING;
    size_t cut_end() noexcept;
    bool extend(size_t size) noexcept;

    std::byte* region_;
    size_t region_bytes_;
    PoolRegion& entry_;
    bool addresses_stay_ = false;
    // Where in the region these end: the part that is cut into blocks, which the data loop extends; the pages that the
    // system has given; those that it may still be asked for. keep_ahead() sets the last two.
    std::atomic<size_t> end_, touched_, allowed_;
    size_t free_bytes_ = 0;
    size_t used_blocks_ = 0;
    // A bit for each list that isn't empty, and a bit for each power that has such a list.
    uint32_t used_powers_ = 0;
    std::array<uint32_t, powers> used_subdivisions_{};
    std::array<std::array<Block*, subdivisions>, powers> lists_{};
};

} // namespace scs
