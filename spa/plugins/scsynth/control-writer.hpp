// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/control/outgoing-queue.hpp"
#include "ports.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace scs::spa {

/// Writes what control ports get in a cycle. It lies in memory that the program at the other end may change meanwhile,
/// so nothing of it is read.
class ControlWriter {
public:
    /// [main] `packets`: MIDI leaves as Universal MIDI Packets.
    explicit ControlWriter(bool packets);

    /// [rt] An event is to leave at that frame of the cycle, or after it. A frame before the cycle is its first.
    void add(const OutgoingEvent&, int64_t frame) noexcept;
    /// [rt] Ends a cycle: writes to each port a spa_pod_sequence of the events that lie in it, in the order of their
    /// frames. What finds no room is left out and counted, and what is for a port that isn't linked left out.
    void write(uint32_t frames, std::span<PortIo> ports) noexcept;
    /// [rt] What waits is to leave with the next cycle's first frame.
    void hurry() noexcept;

    /// [any] Events that were written, and those that weren't for want of room.
    uint64_t sent() const noexcept { return sent_.load(std::memory_order_relaxed); }
    uint64_t unsent() const noexcept { return unsent_.load(std::memory_order_relaxed); }

private:
    uint32_t write_sequence(uint8_t port, std::span<std::byte> to) noexcept;

    const bool packets_;
    OutgoingQueue queue_;
    std::vector<uint64_t> order_; ///< the cycle's events: frames, and places in the queue
    std::atomic<uint64_t> sent_{0}, unsent_{0};
};

} // namespace scs::spa
