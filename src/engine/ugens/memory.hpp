// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Memory for what doesn't fit into a unit's state: delay lines, a reverb's rooms. start() claims it from the real-time
// pool and keeps the pointer in the state, as an 8-byte item; stop() returns it to the pool. If the pool has none, the
// pointer is null and the unit is silent.

#include "engine/ugens/complaint.hpp"
#include "engine/ugens/forms.hpp"

namespace scs::SCS_SIMD {

/// Uninitialised memory for `count` T, 64-byte aligned, or null.
template <class T>
SCS_INLINE T* claim(const Block& block, size_t count) {
    return static_cast<T*>(block.space->allocate(block.space->allocator, count * sizeof(T)));
}

/// Says that there was none. For start().
SCS_INLINE void complain_of_memory(const Op& op, const Block& block) {
    block.space->done_action(block.space->host, *block.synths[0], Complaint{Complaint::no_memory, op.unit}.action());
}

namespace detail {
template <class>
struct ItemOf;
template <class S, class T>
struct ItemOf<T* (S::*)[1]> {
    using State = S;
};
} // namespace detail

/// A kernel's stop(), by the item of its State<1> that keeps the pointer: give_back<&State<1>::line>.
template <auto Item>
void give_back(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& memory = (state<typename detail::ItemOf<decltype(Item)>::State>(op, block).*Item)[0];
    if (memory)
        block.space->free(block.space->allocator, memory);
    memory = nullptr;
}

} // namespace scs::SCS_SIMD
