// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/system-memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>

namespace scs {
namespace {

/// What lies before each piece.
struct alignas(std::max_align_t) Header {
    size_t bytes;
    Header* next;  ///< of those that were given back
    uintptr_t tag; ///< the piece's address, scrambled, while the plugin has it
};

Header* header_of(void* piece) noexcept {
    return static_cast<Header*>(piece) - 1;
}

const Header* header_of(const void* piece) noexcept {
    return static_cast<const Header*>(piece) - 1;
}

/// No two addresses that differ have the same, and memory of others hardly holds it.
uintptr_t tag_for(const void* piece) noexcept {
    return reinterpret_cast<uintptr_t>(piece) * uintptr_t{0x9e3779b97f4a7c15} ^ uintptr_t { 0x5ca1ab1e0ddba11 };
}

/// The piece that a header is written before, over whatever was there.
void* piece_of(Header* header, size_t bytes) noexcept {
    return new (header) Header{bytes, nullptr, tag_for(header + 1)} + 1;
}

struct Pieces {
    std::mutex mutex; ///< over `known`
    std::unordered_set<Header*> known;
    std::atomic<Header*> given_back{nullptr};
};

/// Never destroyed: threads of plugins free what they have when they end.
Pieces& pieces() noexcept {
    static auto* const all = new Pieces;
    return *all;
}

/// To be called with the mutex held. What is known needs no trust: plugins may have overwritten the links.
void free_list(Pieces& all) noexcept {
    Header* header = all.given_back.exchange(nullptr, std::memory_order_acquire);
    while (header && all.known.erase(header) > 0) {
        Header* const next = header->next;
        std::free(header);
        header = next;
    }
}

} // namespace

void* SystemMemory::allocate(size_t bytes) noexcept {
    Pieces& all = pieces();
    const std::lock_guard lock(all.mutex);
    free_list(all);
    if (bytes > SIZE_MAX - sizeof(Header))
        return nullptr;
    auto* const header = static_cast<Header*>(std::malloc(sizeof(Header) + bytes));
    try {
        if (header)
            all.known.insert(header);
    } catch (const std::bad_alloc&) {
        std::free(header);
        return nullptr;
    }
    return header ? piece_of(header, bytes) : nullptr;
}

void* SystemMemory::reallocate(void* old, size_t bytes) noexcept {
    if (!old)
        return allocate(bytes);
    Pieces& all = pieces();
    const std::lock_guard lock(all.mutex);
    free_list(all);
    if (bytes > SIZE_MAX - sizeof(Header))
        return nullptr;
    // An entry that is put back takes no memory, so what has moved is always known.
    auto entry = all.known.extract(header_of(old));
    if (!entry)
        return nullptr;
    auto* const header = static_cast<Header*>(std::realloc(entry.value(), sizeof(Header) + bytes));
    if (header)
        entry.value() = header;
    all.known.insert(std::move(entry));
    return header ? piece_of(header, bytes) : nullptr;
}

void SystemMemory::free(void* piece) noexcept {
    Pieces& all = pieces();
    const std::lock_guard lock(all.mutex);
    free_list(all);
    if (!piece)
        return;
    Header* const header = header_of(piece);
    if (all.known.erase(header) == 0)
        return;
    header->tag = 0; // should somebody still have the address
    std::free(header);
}

bool SystemMemory::is_piece(const void* address) noexcept {
    const bool is_aligned = reinterpret_cast<uintptr_t>(address) % alignof(Header) == 0;
    return address && is_aligned && header_of(address)->tag == tag_for(address);
}

size_t SystemMemory::size_of(const void* piece) noexcept {
    return header_of(piece)->bytes;
}

void SystemMemory::give_back(void* piece) noexcept {
    Header* const header = header_of(piece);
    header->tag = 0;
    std::atomic<Header*>& first = pieces().given_back;
    header->next = first.load(std::memory_order_relaxed);
    while (!first.compare_exchange_weak(header->next, header, std::memory_order_release, std::memory_order_relaxed)) {
    }
}

void SystemMemory::free_given_back() noexcept {
    Pieces& all = pieces();
    if (!all.given_back.load(std::memory_order_relaxed))
        return;
    const std::lock_guard lock(all.mutex);
    free_list(all);
}

} // namespace scs
