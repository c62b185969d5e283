// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/messages/reply-to.hpp"
#include "engine/plugins/plugin-units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace scs {

class Pool;

/// Commands (/u_cmd) for a synth whose units' constructors haven't run yet, kept in pool memory. [rt]
class UnitCommandQueue {
public:
    /// false: out of memory.
    bool add(Pool&, uint32_t unit, const UnitCommand&, std::span<const std::byte> arguments,
             const ReplyTo& from) noexcept SCS_NONBLOCKING;
    /// Calls run(unit, command, arguments, from) for each, in the order of add(), and empties the queue.
    template <class Run>
    void take_all(Pool& pool, Run&& run) noexcept {
        while (Entry* entry = first_) {
            first_ = entry->next;
            run(entry->unit, entry->command, std::span<const std::byte>(entry->bytes(), entry->size), entry->from);
            release(pool, entry);
        }
    }

private:
    struct Entry {
        Entry* next;
        uint32_t unit; ///< its index
        UnitCommand command;
        ReplyTo from;
        size_t size;
        std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    };
    static void release(Pool&, Entry*) noexcept SCS_NONBLOCKING;

    Entry* first_; ///< zeroed memory is a valid, empty queue
    Entry* last_;
};

} // namespace scs
