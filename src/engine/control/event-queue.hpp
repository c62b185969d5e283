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

    /// A cycle begins, and has these events. A frame that is before that of the event in front counts as the same one.
    /// Returns how many there was no room for.
    size_t add(std::span<const ControlEvent> events) noexcept {
        size_t refused = 0;
        for (ControlEvent event : events) {
            if (count_ == most) {
                ++refused;
                continue;
            }
            if (count_ > 0)
                event.frame = std::max(event.frame, at(count_ - 1).frame);
            at(count_++) = event;
        }
        return refused;
    }
    /// The cycle had that many frames.
    void end_cycle(int frames) noexcept {
        for (size_t i = 0; i < count_; ++i)
            at(i).frame -= frames;
    }
    void clear() noexcept { count_ = 0; }

    /// Whether there is an event before frame `end` of the cycle, if all are delayed by `delay` frames.
    bool any_before(int end, int delay) const noexcept { return count_ > 0 && events_[first_].frame + delay < end; }
    /// The next one, which must be there.
    const ControlEvent& first() const noexcept { return events_[first_]; }
    void pop() noexcept {
        first_ = (first_ + 1) % most;
        --count_;
    }

private:
    ControlEvent& at(size_t index) noexcept { return events_[(first_ + index) % most]; }

    std::array<ControlEvent, most> events_;
    size_t first_ = 0, count_ = 0;
};

} // namespace scs
