// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/control/control-event.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace scs {

/// The events of control ports until the block in which their frame lies, in the order of their frames. As the input of
/// audio ports they are delayed by Reblocker::input_delay(), so that none is ever late. [rt]
class EventQueue {
public:
    static constexpr size_t most = 2048;
    static constexpr size_t most_bytes = 65536; ///< of the packets among them

    /// A cycle begins, and has these events. A frame that is before that of the event in front counts as the same one.
    /// Packets are copied. Returns how many there was no room for.
    size_t add(std::span<const ControlEvent> events) noexcept {
        size_t refused = 0;
        compact();
        for (ControlEvent event : events) {
            if (count_ == most || event.packet.size() > most_bytes - used_) {
                ++refused;
                continue;
            }
            std::copy(event.packet.begin(), event.packet.end(), bytes_.begin() + used_);
            event.packet = std::span(bytes_).subspan(used_, event.packet.size());
            used_ += event.packet.size();
            if (count_ > 0)
                event.frame = std::max(event.frame, at(count_ - 1).frame);
            at(count_++) = event;
        }
        return refused;
    }
    /// Puts these at that frame, before the events of the same one. An event before that, which may be half done, stays
    /// in front. Returns how many there was no room for.
    size_t insert(std::span<const ControlEvent> events, int frame) noexcept {
        const size_t added = std::min(events.size(), most - count_);
        size_t place = count_;
        for (; place > 0 && at(place - 1).frame >= frame; --place)
            at(place - 1 + added) = at(place - 1);
        for (size_t i = 0; i < added; ++i) {
            at(place + i) = events[i];
            at(place + i).frame = frame;
        }
        count_ += added;
        return events.size() - added;
    }
    /// The cycle had that many frames.
    void end_cycle(int frames) noexcept {
        for (size_t i = 0; i < count_; ++i)
            at(i).frame -= frames;
    }
    void clear() noexcept { count_ = used_ = 0; }

    /// Whether there is an event before frame `end` of the cycle, if all are delayed by `delay` frames.
    bool any_before(int end, int delay) const noexcept { return count_ > 0 && events_[first_].frame + delay < end; }
    /// The next one, which must be there.
    const ControlEvent& first() const noexcept { return events_[first_]; }
    void pop() noexcept {
        first_ = (first_ + 1) % most;
        --count_;
    }

private:
    /// Moves the packets that wait to the front.
    void compact() noexcept {
        used_ = 0;
        for (size_t i = 0; i < count_; ++i) {
            std::span<const std::byte>& packet = at(i).packet;
            std::copy(packet.begin(), packet.end(), bytes_.begin() + used_);
            packet = std::span(bytes_).subspan(used_, packet.size());
            used_ += packet.size();
        }
    }
    ControlEvent& at(size_t index) noexcept { return events_[(first_ + index) % most]; }

    std::array<ControlEvent, most> events_;
    std::array<std::byte, most_bytes> bytes_;
    size_t first_ = 0, count_ = 0;
    size_t used_ = 0; ///< of bytes_: those of events that wait, and of some that are gone
};

} // namespace scs
