// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace scs::osc {

/// Bytes that packets and commands keep until they are done with. Shared with all that counts: what a broken engine
/// keeps for ever counts in a total that nobody looks at any more.
using HeldTotal = std::shared_ptr<std::atomic<std::size_t>>;

/// What may be held before more is refused, far from what would hurt the daemon. A single packet may go beyond.
inline constexpr std::size_t max_held = std::size_t(256) << 20;

/// A part of the total, as long as it lives. [any]
class HeldMemory {
public:
    HeldMemory(HeldTotal total, std::size_t bytes) : total_(std::move(total)) { add(bytes); }
    HeldMemory(const HeldMemory&) = delete;
    ~HeldMemory() { total_->fetch_sub(bytes_, std::memory_order_relaxed); }

    /// False, and nothing done, if that is more than may be held.
    bool try_add(std::size_t bytes, std::size_t most) noexcept {
        if (total_->load(std::memory_order_relaxed) + bytes > most)
            return false;
        add(bytes);
        return true;
    }

private:
    void add(std::size_t bytes) noexcept {
        bytes_ += bytes;
        total_->fetch_add(bytes, std::memory_order_relaxed);
    }

    HeldTotal total_;
    std::size_t bytes_ = 0;
};

} // namespace scs::osc
