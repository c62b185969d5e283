// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/control/outgoing-queue.hpp"
#include "engine/messages/synth-event.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace scs {

/// What an engine sends to control ports: notes that commands ask for, and what synths tell. [rt], after construction.
class ControlOutputs {
public:
    static constexpr uint8_t port_of_osc = 0; ///< where what synths tell leaves
    static constexpr size_t most_sent = OutgoingQueue::most / 4 * 3;

    /// Which ports somebody listens to, a bit each. What is for others is dropped.
    void set_linked(uint32_t ports) noexcept { linked_ = ports; }
    /// Whether somebody listens to what synths tell.
    bool hear_synths() const noexcept { return (linked_ >> port_of_osc & 1) != 0; }

    /// Of the block that is computed, or else of the next one: its frame is one of the block's. false: there is no room
    /// for it, beyond most_sent, which is counted: the rest is left to what synths tell.
    bool send(const ControlEvent& event) noexcept {
        return !linked(event.port) || (queue_.events().size() < most_sent ? add({event}) : lose());
    }
    /// The same of what a synth tells.
    void hear(const SynthEvent& event) noexcept {
        if (!hear_synths() || event.path.starts_with('\0')) // which is no address
            return;
        OutgoingEvent outgoing;
        outgoing.kind = ControlEvent::Kind::packet;
        outgoing.port = port_of_osc;
        outgoing.frame = event.frame;
        outgoing.node = event.node;
        outgoing.id = event.id;
        outgoing.values = uint32_t(event.values.size());
        (void)add(outgoing, std::as_bytes(event.values), std::as_bytes(std::span(event.path)));
    }
    /// A block is over, which begins at that frame of the cycle.
    void end_block(int frame) noexcept {
        const std::span<OutgoingEvent> events = queue_.events();
        for (; placed_ < events.size(); ++placed_)
            events[placed_].frame += frame;
    }
    /// Calls `take(event)` for each of the blocks that are over, and removes these. Its frame is one of the cycle, or
    /// after it, as blocks are computed ahead.
    template <class Take>
    void take(Take&& take) noexcept {
        if (placed_ == 0)
            return;
        for (const OutgoingEvent& each : queue_.events().first(placed_))
            take(each);
        queue_.remove_first(std::exchange(placed_, 0));
    }
    /// How many there was no room for, since the last call.
    size_t take_lost() noexcept { return std::exchange(lost_, 0); }

private:
    bool linked(int port) const noexcept { return (linked_ >> port & 1) != 0; }
    bool add(const OutgoingEvent& event, std::span<const std::byte> first = {},
             std::span<const std::byte> second = {}) noexcept {
        return queue_.add(event, first, second) || lose();
    }
    bool lose() noexcept {
        ++lost_;
        return false;
    }

    OutgoingQueue queue_;
    size_t placed_ = 0; ///< of the queue's first ones: their frame is one of the cycle
    size_t lost_ = 0;
    uint32_t linked_ = 0;
};

} // namespace scs
