// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/control/control-event.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace scs {

/// What leaves by a control port. With Kind::packet it is what a synth tells.
struct OutgoingEvent : ControlEvent {
    int32_t node = 0, id = 0;
    uint32_t values = 0; ///< floats, without alignment, at the front of the packet; the path follows, none: a trigger
};

/// Events on their way to control ports, in the order in which they came. [rt], after construction.
class OutgoingQueue {
public:
    static constexpr size_t most = 2048;
    static constexpr size_t most_bytes = 65536; ///< of the packets among them

    OutgoingQueue() : bytes_(most_bytes) { events_.reserve(most); }

    /// The event's packet is a copy of `first` and `second`. false: there is no room.
    bool add(OutgoingEvent event, std::span<const std::byte> first = {},
             std::span<const std::byte> second = {}) noexcept SCS_NONBLOCKING {
        if (events_.size() == most || first.size() + second.size() > most_bytes - used_)
            return false;
        const std::span<std::byte> packet = std::span(bytes_).subspan(used_, first.size() + second.size());
        std::copy(second.begin(), second.end(), std::copy(first.begin(), first.end(), packet.begin()));
        used_ += packet.size();
        event.packet = packet;
        SCS_UNPROVEN_BEGIN // there is room
        events_.push_back(event);
        SCS_UNPROVEN_END
        return true;
    }
    std::span<OutgoingEvent> events() noexcept { return events_; }
    void remove_first(size_t count) noexcept {
        events_.erase(events_.begin(), events_.begin() + ptrdiff_t(count));
        compact();
    }
    /// Removes those that are before frame `end`.
    void remove_before(int32_t end) noexcept {
        std::erase_if(events_, [end](const OutgoingEvent& each) { return each.frame < end; });
        compact();
    }

private:
    void compact() noexcept {
        used_ = 0;
        for (OutgoingEvent& each : events_) { // their packets lie in the same order
            std::copy(each.packet.begin(), each.packet.end(), bytes_.begin() + ptrdiff_t(used_));
            each.packet = std::span(bytes_).subspan(used_, each.packet.size());
            used_ += each.packet.size();
        }
    }

    std::vector<OutgoingEvent> events_;
    std::vector<std::byte> bytes_;
    size_t used_ = 0; ///< of bytes_
};

} // namespace scs
