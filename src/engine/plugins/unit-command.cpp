// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/unit-command.hpp"

#include "engine/rt/pool.hpp"

#include <algorithm>
#include <new>

namespace scs {

bool UnitCommandQueue::add(Pool& pool, uint32_t unit, const UnitCommand& command, std::span<const std::byte> arguments,
                           const ReplyTo& from) noexcept {
    void* memory = pool.allocate(sizeof(Entry) + arguments.size());
    if (!memory)
        return false;
    auto* entry = new (memory) Entry{nullptr, unit, command, from, arguments.size()};
    std::copy(arguments.begin(), arguments.end(), entry->bytes());
    (first_ ? last_->next : first_) = entry;
    last_ = entry;
    return true;
}

void UnitCommandQueue::release(Pool& pool, Entry* entry) noexcept {
    pool.free(entry);
}

} // namespace scs
