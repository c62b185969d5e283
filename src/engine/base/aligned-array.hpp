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

/// An array at an address that is a multiple of 64: of a cache line and of the widest vector.
template <class T>
using AlignedArray = std::unique_ptr<T[], FreeAligned>;

/// [worker] `count` zeros, written once so that no page is first touched in the render path, with at least another 64
/// bytes of them behind. Throws std::bad_alloc.
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
