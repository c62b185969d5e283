// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <sys/mman.h>

namespace scs {

/// Memory between two inaccessible pages, inaccessible itself once freed. What a page has besides the piece that was
/// asked for is zeroed, and untouched() tells whether it still is. [main]
class GuardedMemory {
public:
    enum class Side : uint8_t {
        start, ///< begins at an inaccessible page
        end,   ///< ends at one, but for its alignment
    };

    /// Null if there is none. `tail`: bytes that may be read after the piece, but not written.
    static void* take(size_t bytes, Side side = Side::end, size_t tail = 0, size_t alignment = 64) {
        if (bytes > (size_t(1) << 28))
            return nullptr;
        const size_t whole = (bytes + tail + page - 1) / page * page + 2 * page;
        void* region = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (region == MAP_FAILED)
            return nullptr;
        auto* first = static_cast<std::byte*>(region);
        mprotect(first, page, PROT_NONE);
        mprotect(first + whole - page, page, PROT_NONE);
        const auto last = (uintptr_t(first) + whole - page - bytes - tail) / alignment * alignment;
        auto* at = side == Side::start ? first + page : reinterpret_cast<std::byte*>(last);
        pieces()[at] = {first, whole, bytes};
        return at;
    }

    static void give(void* memory) {
        const auto it = pieces().find(memory);
        if (it == pieces().end())
            return; // as in the pool
        munmap(it->second.region, it->second.whole);
        pieces().erase(it);
    }

    /// Whether nothing has been written beside this piece, but for `room` bytes after it.
    static bool untouched(const void* memory, size_t room = 0) {
        const auto it = pieces().find(memory);
        if (it == pieces().end())
            return true;
        const Piece& piece = it->second;
        const std::byte *const begin = piece.region + page, *const end = piece.region + piece.whole - page;
        const auto* at = static_cast<const std::byte*>(memory);
        const auto zero = [](std::byte b) { return b == std::byte{}; };
        return std::all_of(begin, at, zero) && std::all_of(at + piece.bytes + room, end, zero);
    }

private:
    static constexpr size_t page = 4096;
    struct Piece {
        std::byte* region;
        size_t whole, bytes;
    };
    static std::map<const void*, Piece>& pieces() {
        static std::map<const void*, Piece> all;
        return all;
    }
};

} // namespace scs
