// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/events.hpp"
#include "engine/messages/handback-list.hpp"
#include "engine/rt/record-ring.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <string_view>

namespace scs {

/// The data loop's end of the event ring. When the ring is full, handbacks wait here in a list and keep their order;
/// other events are dropped and counted as long as a handback waits. [rt]
class Outbox {
public:
    /// `dropped` counts notifications that found the ring full.
    Outbox(size_t ring_bytes, std::atomic<uint64_t>& dropped) : ring_(ring_bytes), dropped_(dropped) {}

    RecordRing& ring() noexcept { return ring_; }

    /// Emits an event: a struct that begins with an EventHeader. The header's `bytes` include data that follows the
    /// struct. false: dropped.
    template <class Event>
    bool notify(const Event& event, std::span<const std::byte> tail = {},
                std::span<const std::byte> end = {}) noexcept {
        const size_t bytes = sizeof event + tail.size() + end.size();
        auto* room = waiting() ? nullptr : static_cast<std::byte*>(ring_.reserve(bytes));
        if (!room) {
            dropped_.fetch_add(1, std::memory_order_relaxed);
            return false;
        }
        std::memcpy(room, &event, sizeof event);
        std::copy(end.begin(), end.end(), std::copy(tail.begin(), tail.end(), room + sizeof event));
        ring_.commit();
        return true;
    }

    /// Emits a print event, a line for the server's log. Text is cut at 1000 bytes. false: dropped.
    bool print(std::string_view text) noexcept { return say(EventKind::print, text); }
    /// The same with a piece of a line, which ends where the text has a newline.
    void print_piece(std::string_view text) noexcept { (void)say(EventKind::piece, text); }
    /// The same as print() with what a client did wrong, and may do wrong again at any rate: the log leaves out what is
    /// too much.
    void complain(std::string_view text) noexcept { (void)say(EventKind::complain, text); }
    /// The same with what Poll and Dpoll print.
    void poll(std::string_view text) noexcept { (void)say(EventKind::poll, text); }

    /// Hands an object back to the thread that `what` implies. Never lost.
    void hand_back(Handback* object, Handback::Kind what) noexcept {
        object->handed_as = what;
        if (waiting() || !write(object))
            waiting_.push_back(object);
    }

    bool waiting() const noexcept { return !waiting_.empty(); }

    /// Moves waiting handbacks to the ring, as far as there is room.
    void flush() noexcept {
        // Taken out before it is written: then it may be another thread's.
        while (Handback* const first = waiting_.pop_front())
            if (!write(first))
                return waiting_.push_front(first);
    }

private:
    bool say(EventKind kind, std::string_view text) noexcept {
        text = {text.data(), std::min<size_t>(text.size(), 1000)};
        const EventHeader header{kind, uint32_t(sizeof header + text.size())};
        return notify(header, std::as_bytes(std::span(text)));
    }
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
    HandbackList waiting_;
    std::atomic<uint64_t>& dropped_;
};

} // namespace scs
