// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>

namespace scs {

// The region is cut into blocks without gaps. A block is a header, which ends at a multiple of 64 bytes, and the memory
// up to the next header. Its size, header included, is a multiple of 64, too. The last header has no memory and always
// counts as used, so that no block merges with it.
struct Pool::Block {
    size_t size_and_free;
    Block* before; // the block that lies before this one, or nullptr

    size_t size() const noexcept { return size_and_free & ~size_t{1}; }
    bool is_free() const noexcept { return (size_and_free & 1) != 0; }
    void set(size_t size, bool free) noexcept { size_and_free = size | (free ? 1 : 0); }

    std::byte* memory() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    Block* after() noexcept { return reinterpret_cast<Block*>(reinterpret_cast<std::byte*>(this) + size()); }
    static Block* of(void* memory) noexcept { return static_cast<Block*>(memory) - 1; }
};

// A free block's memory holds its neighbours in the list of its class.
struct Pool::Links {
    Block* next;
    Block* previous;

    static Links& of(Block* block) noexcept { return *std::launder(reinterpret_cast<Links*>(block->memory())); }
};

namespace {

/// Memory from the system, in large pages if possible: between two cycles other programs displace the CPU's cached
/// translations, of which small pages need many.
void* map_region(size_t bytes) noexcept {
    constexpr size_t large = size_t{2} << 20;
    const size_t room = bytes < large ? 0 : large;
    void* const found = mmap(nullptr, bytes + room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == 0 || found == MAP_FAILED) {
        return found;
    }
    // Returns what lies before the first large page and after the region.
    auto* const begin = static_cast<std::byte*>(found);
    const size_t before = (large - reinterpret_cast<uintptr_t>(begin) % large) % large;
    if (before > 0) {
        munmap(begin, before);
    }
    if (before < large) {
        munmap(begin + before + bytes, large - before);
    }
    madvise(begin + before, bytes, MADV_HUGEPAGE); // only a hint
    return begin + before;
}

/// Lets the system give the pages of a part of the region, which may be in use: its content stays.
void touch(std::byte* begin, size_t bytes) noexcept {
    const auto page = size_t(sysconf(_SC_PAGESIZE));
    for (size_t at = 0; at < bytes; at += page) {
        std::atomic_ref(*reinterpret_cast<uint32_t*>(begin + at)).fetch_add(0, std::memory_order_relaxed);
    }
}

/// By how much the part in use grows at least, so that it doesn't often.
constexpr size_t least_extension = size_t{1} << 20;

} // namespace

Result<std::unique_ptr<Pool>> Pool::create(size_t bytes, Pages pages) {
    static_assert(sizeof(Block) == 16 && sizeof(Links) <= alignment - sizeof(Block));
    if (bytes == 0 || bytes > max_bytes) {
        return Error{"a memory pool of " + std::to_string(bytes) + " bytes is out of range (1 to " +
                     std::to_string(max_bytes) + ")"};
    }
    const size_t region_bytes = whole_pages(bytes);
    void* region = map_region(region_bytes);
    if (region == MAP_FAILED) {
        return Error{"no memory for a pool of " + std::to_string(bytes) + " bytes: " + std::strerror(errno)};
    }
    const size_t in_use = pages == Pages::when_used ? region_bytes : std::min(region_bytes, first_bytes);
    std::unique_ptr<Pool> pool;
    try {
        pool.reset(new Pool(static_cast<std::byte*>(region), region_bytes, in_use));
    } catch (const std::bad_alloc&) {
        munmap(region, region_bytes);
        return Error{"no memory for a pool"};
    }
    if (pages == Pages::ahead) {
        pool->wake();
    }
    return pool;
}

Pool::Pool(std::byte* region, size_t bytes, size_t in_use)
    : region_(region),
      region_bytes_(bytes),
      entry_(PoolRegion::enter(region, bytes)),
      end_(in_use),
      touched_(in_use),
      allowed_(in_use) {
    const size_t size = in_use - alignment;
    auto* block = new (region + alignment - sizeof(Block)) Block{size, nullptr};
    new (block->after()) Block{0, block};
    insert(block);
}

Pool::~Pool() {
    if (addresses_stay_) {
        madvise(region_, region_bytes_, MADV_DONTNEED);
        return;
    }
    entry_.leave();
    munmap(region_, region_bytes_);
}

void Pool::leave_addresses(std::unique_ptr<Pool> pool) noexcept {
    pool->addresses_stay_ = true;
}

void Pool::wake() noexcept {
    touched_ = allowed_ = std::min(region_bytes_, first_bytes + ahead);
    touch(region_, touched_);
}

/// Shortens the part in use by the free block at its end, as far as first_bytes allow. Returns what is in use now.
size_t Pool::cut_end() noexcept {
    auto* const end = reinterpret_cast<Block*>(region_ + end_ - sizeof(Block)); // the last header
    Block* const last = end->before;
    const size_t least = size_t(reinterpret_cast<std::byte*>(last) - region_) + sizeof(Block) + alignment;
    const size_t cut = std::max(least, std::min(region_bytes_, first_bytes));
    if (last->is_free() && cut < end_) {
        remove(last);
        last->set(last->size() - (end_ - cut), true);
        new (last->after()) Block{0, last};
        insert(last);
        end_ = cut;
    }
    return end_;
}

void Pool::rest() noexcept {
    const auto page = size_t(sysconf(_SC_PAGESIZE));
    const auto give_up = [&](const std::byte* begin, const std::byte* end) {
        const size_t first = (size_t(begin - region_) + page - 1) / page * page;
        const size_t last = size_t(end - region_) / page * page;
        if (first < last) {
            madvise(region_ + first, last - first, MADV_DONTNEED);
        }
    };
    give_up(region_ + cut_end(), region_ + region_bytes_);
    auto* block = reinterpret_cast<Block*>(region_ + alignment - sizeof(Block));
    for (; block->size() > 0; block = block->after()) {
        if (block->is_free()) {
            give_up(block->memory() + sizeof(Links), reinterpret_cast<std::byte*>(block->after()));
        }
    }
}

void* Pool::allocate(size_t bytes) noexcept {
    if (bytes > max_bytes) {
        return nullptr;
    }
    const size_t size = block_size_for(bytes);
    Block* block = take_at_least(size);
    if (block == nullptr && extend(size)) {
        block = take_at_least(size);
    }
    if (block == nullptr) {
        return nullptr;
    }
    trim(block, size);
    ++used_blocks_;
    return block->memory();
}

void* Pool::reallocate(void* memory, size_t bytes) noexcept {
    if (memory == nullptr) {
        return allocate(bytes);
    }
    if (bytes > max_bytes) {
        return nullptr;
    }
    Block* block = Block::of(memory);
    const size_t size = block_size_for(bytes);
    if (size > block->size()) {
        Block* after = block->after();
        if (!after->is_free() || block->size() + after->size() < size) {
            void* moved = allocate(bytes);
            if (moved != nullptr) {
                std::memcpy(moved, memory, block->size() - sizeof(Block));
                free(memory);
            }
            return moved;
        }
        remove(after);
        block->set(block->size() + after->size(), false);
        block->after()->before = block;
    }
    trim(block, size);
    return memory;
}

void Pool::free(void* memory) noexcept {
    if (memory == nullptr) {
        return;
    }
    Block* block = Block::of(memory);
    assert(!block->is_free());
    --used_blocks_;
    size_t size = block->size();
    if (Block* after = block->after(); after->is_free()) {
        remove(after);
        size += after->size();
    }
    if (Block* before = block->before; before != nullptr && before->is_free()) {
        remove(before);
        size += before->size();
        block->set(block->size(), true); // for is_free(), as long as this memory is in nobody's use
        block = before;
    }
    block->set(size, false);
    block->after()->before = block;
    insert(block);
}

bool Pool::is_free(const void* memory) noexcept {
    return Block::of(const_cast<void*>(memory))->is_free();
}

void Pool::take_back(size_t most) noexcept {
    for (; most > 0; --most) {
        void* const memory = entry_.take();
        if (memory == nullptr) {
            return;
        }
        free(memory);
    }
}

size_t Pool::size_of(void* memory) noexcept {
    return Block::of(memory)->size() - sizeof(Block);
}

size_t Pool::addable() const noexcept {
    const size_t end = end_.load(std::memory_order_relaxed), allowed = allowed_.load(std::memory_order_relaxed);
    return allowed > end ? (allowed - end) / alignment * alignment : 0; // it may have become less
}

/// Adds to the part in use what a block of that size needs. false: there isn't as much, and nothing has changed.
bool Pool::extend(size_t size) noexcept {
    const size_t end = end_.load(std::memory_order_relaxed);
    // The search for a block begins at the first class whose blocks are all large enough.
    const size_t wanted = std::max(size + size / subdivisions + alignment, least_extension);
    const size_t more = std::min((wanted + least_extension - 1) / least_extension * least_extension, addable());
    auto* const block = reinterpret_cast<Block*>(region_ + end - sizeof(Block)); // the last header
    // What is added merges with a free block before it.
    const size_t last = block->before->is_free() ? block->before->size() : 0;
    if (more == 0 || smallest_of(class_of(last + more)) < size) {
        return false;
    }
    block->set(more, false);
    new (block->after()) Block{0, block};
    end_.store(end + more, std::memory_order_relaxed);
    ++used_blocks_;
    free(block->memory());
    return true;
}

void Pool::keep_ahead(int64_t spare) noexcept {
    constexpr size_t step = size_t{4} << 20, most = size_t{256} << 20;
    auto left = size_t(std::max<int64_t>(spare, 0));
    // What is in use beyond it may never have been written, so its pages may not be there yet.
    size_t touched = touched_.load(std::memory_order_relaxed);
    const size_t goal = std::min({region_bytes_, end_.load(std::memory_order_relaxed) + ahead, touched + most});
    while (touched < goal && left >= step) {
        const size_t bytes = std::min(step, goal - touched);
        touch(region_ + touched, bytes);
        touched += bytes;
        left -= bytes;
    }
    touched_.store(touched, std::memory_order_relaxed);
    allowed_.store(touched + std::min(left, region_bytes_ - touched), std::memory_order_relaxed);
}

size_t Pool::largest_free_block() const noexcept {
    // What may be added merges with a free block before it.
    const auto* const end = reinterpret_cast<Block*>(region_ + end_.load(std::memory_order_relaxed) - sizeof(Block));
    const size_t more = addable(), last = end->before->is_free() ? end->before->size() : 0;
    const size_t extension = more > 0 ? smallest_of(class_of(more + last)) - sizeof(Block) : 0;
    if (used_powers_ == 0) {
        return extension;
    }
    // The smallest size of the block's class, not the block's own: a larger request would be searched for in the
    // classes above, which are empty.
    const int power = std::bit_width(used_powers_) - 1;
    const int subdivision = std::bit_width(used_subdivisions_[power]) - 1;
    return std::max(smallest_of({power, subdivision}) - sizeof(Block), extension);
}

size_t Pool::whole_pages(size_t bytes) noexcept {
    const auto page = size_t(sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

Pool::SizeClass Pool::class_of(size_t size) noexcept {
    const size_t units = size / alignment;
    if (units < subdivisions) {
        return {0, int(units)};
    }
    const int shift = std::bit_width(units) - 1 - subdivision_bits;
    return {shift + 1, int(units >> shift) & (subdivisions - 1)};
}

size_t Pool::smallest_of(SizeClass c) noexcept {
    const auto units = size_t(c.subdivision);
    return (c.power == 0 ? units : (subdivisions + units) << (c.power - 1)) * alignment;
}

size_t Pool::block_size_for(size_t bytes) noexcept {
    return (bytes + sizeof(Block) + alignment - 1) & ~(alignment - 1);
}

void Pool::insert(Block* block) noexcept {
    const SizeClass c = class_of(block->size());
    Block*& first = lists_[c.power][c.subdivision];
    block->set(block->size(), true);
    new (block->memory()) Links{first, nullptr};
    if (first != nullptr) {
        Links::of(first).previous = block;
    }
    first = block;
    used_subdivisions_[c.power] |= uint32_t{1} << c.subdivision;
    used_powers_ |= uint32_t{1} << c.power;
    free_bytes_ += block->size() - sizeof(Block);
}

void Pool::remove(Block* block) noexcept {
    const auto [next, previous] = Links::of(block);
    if (next != nullptr) {
        Links::of(next).previous = previous;
    }
    if (previous != nullptr) {
        Links::of(previous).next = next;
    } else {
        const SizeClass c = class_of(block->size());
        lists_[c.power][c.subdivision] = next;
        if (next == nullptr) {
            used_subdivisions_[c.power] &= ~(uint32_t{1} << c.subdivision);
            if (used_subdivisions_[c.power] == 0) {
                used_powers_ &= ~(uint32_t{1} << c.power);
            }
        }
    }
    block->set(block->size(), false);
    free_bytes_ -= block->size() - sizeof(Block);
}

Pool::Block* Pool::take_at_least(size_t size) noexcept {
    // Starts at the first class whose blocks are all large enough, so that no list is searched.
    const SizeClass own = class_of(size);
    const size_t step = alignment << std::max(own.power - 1, 0);
    auto [power, subdivision] = class_of(size + step - alignment);
    uint32_t candidates = used_subdivisions_[power] & (~uint32_t{0} << subdivision);
    if (candidates == 0) {
        const uint32_t larger = used_powers_ & (~uint32_t{0} << (power + 1));
        if (larger == 0) {
            return nullptr;
        }
        power = std::countr_zero(larger);
        candidates = used_subdivisions_[power];
    }
    Block* block = lists_[power][std::countr_zero(candidates)];
    remove(block);
    return block;
}

void Pool::trim(Block* block, size_t size) noexcept {
    size_t rest_size = block->size() - size;
    if (rest_size == 0) {
        return;
    }
    if (Block* after = block->after(); after->is_free()) {
        remove(after);
        rest_size += after->size();
    }
    block->set(size, false);
    Block* rest = new (block->after()) Block{rest_size, block};
    rest->after()->before = rest;
    insert(rest);
}

} // namespace scs
