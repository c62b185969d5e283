// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/events.hpp"
#include "engine/rt/record-ring.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <span>

namespace scs {

/// The data loop's end of the event ring. Handbacks that find it full wait here, linked by themselves, and keep
/// their order; other events are refused while any waits. [rt]
class Outbox {
public:
    explicit Outbox(size_t ring_bytes) : ring_(ring_bytes) {}

    RecordRing& ring() noexcept { return ring_; }

    /// false: dropped, the ring is full.
    bool notify(std::initializer_list<std::span<const std::byte>> pieces) noexcept {
        size_t bytes = 0;
        for (const auto& piece : pieces)
            bytes += piece.size();
        auto* room = waiting_ ? nullptr : static_cast<std::byte*>(ring_.reserve(bytes));
        if (!room)
            return false;
        for (const auto& piece : pieces)
            room = std::copy(piece.begin(), piece.end(), room);
        ring_.commit();
        return true;
    }

    void hand_back(Handback* object, Handback::Kind what) noexcept {
        object->next_handback = nullptr;
        object->handed_as = what;
        if (waiting_ || !write(object)) {
            (waiting_ ? last_->next_handback : waiting_) = object;
            last_ = object;
        }
    }

    bool waiting() const noexcept { return waiting_ != nullptr; }

    /// Passes on what waits, as far as there is room.
    void flush() noexcept {
        while (waiting_) {
            Handback* following = waiting_->next_handback;
            if (!write(waiting_))
                return;
            waiting_ = following;
        }
    }

private:
    bool write(Handback* object) noexcept {
        const HandbackEvent event{{EventKind::handback, sizeof(HandbackEvent)}, object->handed_as, object};
        void* room = ring_.reserve(sizeof event);
        if (!room)
            return false;
        std::memcpy(room, &event, sizeof event);
        ring_.commit();
        return true;
    }

    RecordRing ring_;
    Handback* waiting_ = nullptr;
    Handback* last_ = nullptr;
};

} // namespace scs
