// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

namespace scs {

struct FreeAligned {
    void operator()(void* memory) const noexcept { std::free(memory); }
};

/// An array aligned to 64 bytes: to a cache line and to the widest vector.
template <class T>
using AlignedArray = std::unique_ptr<T[], FreeAligned>;

/// [worker] `count` zeros, followed by at least 64 more bytes of zeros. All are written here, so that the render path
/// touches no page first. Throws std::bad_alloc.
template <class T>
AlignedArray<T> aligned_zeros(size_t count) {
    static_assert(std::is_trivial_v<T>);
    constexpr size_t alignment = 64;
    const size_t bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment + alignment;
    void* memory = std::aligned_alloc(alignment, bytes);
    if (!memory)
        throw std::bad_alloc();
    std::memset(memory, 0, bytes);
    return AlignedArray<T>(static_cast<T*>(memory));
}

} // namespace scs
