// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace scs {

/// Real-time memory for plugins where pools may not be used, which is everywhere but on the data loop: it is the C
/// library's. Each piece is known, as plugins also free what nobody gave them. [any but rt]
class SystemMemory {
public:
    /// Null: there is none left. As malloc() and realloc().
    static void* allocate(size_t bytes) noexcept { return reallocate(nullptr, bytes); }
    static void* reallocate(void* old, size_t bytes) noexcept;
    /// Does nothing with memory of others.
    static void free(void*) noexcept;
};

} // namespace scs
