// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace scs::osc {

/// A total of the bytes that packets and commands under way take. Everything counted in it shares it: when an engine
/// broke, what it keeps for ever goes on counting in its own total, and another one is used from then on.
using HeldTotal = std::shared_ptr<std::atomic<size_t>>;

/// Once the total exceeds this, further packets are refused: long before the daemon would suffer. The packet that
/// exceeds it is still taken.
inline constexpr size_t max_held = size_t(256) << 20;

/// Bytes that are counted in the total as long as this object lives. [any]
class HeldMemory {
public:
    HeldMemory(HeldTotal total, size_t bytes) : total_(std::move(total)) { add(bytes); }
    HeldMemory(const HeldMemory&) = delete;
    ~HeldMemory() { total_->fetch_sub(bytes_, std::memory_order_relaxed); }

    /// False, and nothing done, if the total would exceed `most`.
    bool try_add(size_t bytes, size_t most) noexcept {
        if (total_->load(std::memory_order_relaxed) + bytes > most)
            return false;
        add(bytes);
        return true;
    }

private:
    void add(size_t bytes) noexcept {
        bytes_ += bytes;
        total_->fetch_add(bytes, std::memory_order_relaxed);
    }

    HeldTotal total_;
    size_t bytes_ = 0;
};

} // namespace scs::osc
