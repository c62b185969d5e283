// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/system-memory.hpp"

#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_set>

namespace scs {
namespace {

struct Pieces {
    std::mutex mutex;
    std::unordered_set<void*> known;
};

/// Never destroyed: threads of plugins free what they have when they end.
Pieces& pieces() noexcept {
    static auto* const all = new Pieces;
    return *all;
}

} // namespace

void* SystemMemory::reallocate(void* old, size_t bytes) noexcept {
    Pieces& all = pieces();
    const std::lock_guard lock(all.mutex);
    if (old && !all.known.contains(old))
        return nullptr;
    void* const piece = std::realloc(old, bytes);
    if (!piece)
        return nullptr;
    all.known.erase(old);
    try {
        all.known.insert(piece);
    } catch (const std::bad_alloc&) {
        if (!old) {
            std::free(piece);
            return nullptr;
        }
    }
    return piece;
}

void SystemMemory::free(void* piece) noexcept {
    Pieces& all = pieces();
    const std::lock_guard lock(all.mutex);
    if (all.known.erase(piece) > 0)
        std::free(piece);
}

} // namespace scs
