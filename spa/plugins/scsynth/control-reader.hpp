// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/control/event-queue.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace scs::spa {

/// Reads what control ports bring in a cycle. It lies in memory that the program at the other end may change meanwhile,
/// so it is copied first, and nothing in it is trusted.
class ControlReader {
public:
    static constexpr size_t most_bytes = 65536;             ///< of each port in a cycle
    static constexpr size_t most_events = EventQueue::most; ///< of all in a cycle

    /// [main]
    ControlReader() : copy_(most_bytes), packets_(most_bytes) {
        events_.reserve(most_events);
        sorted_.reserve(most_events);
        order_.reserve(most_events);
    }

    /// [main] OSC is read, too, and not ignored.
    void take_osc() noexcept { takes_osc_ = true; }
    /// [rt] A cycle of that many frames begins.
    void begin(uint32_t frames) noexcept {
        frames_ = frames;
        events_.clear();
        packet_bytes_ = 0;
    }
    /// [rt] Reads the spa_pod_sequence that a port has brought. What isn't well-formed, or too much, is left out and
    /// counted. An event after the cycle's end is one in its last frame.
    void read(uint8_t port, std::span<const std::byte> shared) noexcept;
    /// [rt] What read() has found since begin(), in the order of the frames. Packets stay until the next begin().
    std::span<ControlEvent> events() noexcept;

    /// [any] Events that were read, and what was refused.
    uint64_t received() const noexcept { return received_.load(std::memory_order_relaxed); }
    uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

private:
    void refuse() noexcept { refused_.fetch_add(1, std::memory_order_relaxed); }
    void add_packet(std::span<const std::byte>, const ControlEvent&) noexcept;
    void add(uint32_t type, std::span<const std::byte> body, const ControlEvent&) noexcept;

    std::vector<std::byte> copy_, packets_;
    size_t packet_bytes_ = 0; ///< of packets_ in use
    bool takes_osc_ = false;
    std::vector<ControlEvent> events_, sorted_;
    std::vector<uint64_t> order_;
    uint32_t frames_ = 0;
    std::atomic<uint64_t> received_{0}, refused_{0};
};

} // namespace scs::spa
