// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace scs {

/// Real-time memory for plugins where pools may not be used, which is everywhere but on the data loop: it is the C
/// library's. Each piece is known, as plugins also free what nobody gave them. [any but rt] unless a function says
/// otherwise.
class SystemMemory {
public:
    /// Null: there is none left. As malloc() and realloc().
    static void* allocate(size_t bytes) noexcept;
    static void* reallocate(void* old, size_t bytes) noexcept;
    /// Does nothing with memory of others.
    static void free(void*) noexcept;

    /// [any] Whether this address is a piece's. Reads what lies before it: if that isn't mapped, it is a fault.
    static bool is_piece(const void* address) noexcept;
    /// [any] The bytes that a piece was allocated with.
    static size_t size_of(const void* piece) noexcept;
    /// [any] Leaves a piece to be freed by free_given_back(), or by the next call of the functions above.
    static void give_back(void* piece) noexcept;
    static void free_given_back() noexcept;
};

} // namespace scs
