// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/endpoint.hpp"
#include "osc/socket-holders.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

namespace scs::osc {

/// Sockets that are alone with their ports, and stay so as long as they are there, because each is bound to all
/// addresses and lets no other one share its port. That is believed once it has been seen `enough` times in a row, so
/// that a program that takes the port in between, to make it look so, can't hope to be in time each time; and as a
/// program may let others share its port later, it is seen anew every second. [osc]
class SoleSenders {
public:
    using Clock = std::chrono::steady_clock;

    static constexpr int enough = 16;
    static constexpr std::chrono::seconds lifetime{1};

    /// The socket that alone can have sent from here, if it is still there; null: that isn't known.
    const SocketId* find(const UdpPeer& from, Clock::time_point now) const noexcept {
        const Entry& entry = entries_[place(from)];
        return entry.from == from && entry.seen >= enough && now - entry.last < lifetime ? &entry.socket : nullptr;
    }

    /// It was seen to be alone.
    void add(const UdpPeer& from, const SocketId& socket, Clock::time_point now) noexcept {
        Entry& entry = entries_[place(from)];
        const int before = entry.from == from && entry.socket == socket ? entry.seen : 0;
        entry = {from, socket, std::min(before + 1, enough), now};
    }

    /// It wasn't.
    void remove(const UdpPeer& from) noexcept {
        if (Entry& entry = entries_[place(from)]; entry.from == from)
            entry = {};
    }

private:
    struct Entry {
        UdpPeer from;
        SocketId socket;
        int seen = 0;
        Clock::time_point last{};
    };

    /// Two clients at the same place cost each other time, nothing else.
    static size_t place(const UdpPeer& from) noexcept { return (from.port ^ from.port >> 8) % most; }

    static constexpr size_t most = 64;
    std::array<Entry, most> entries_;
};

} // namespace scs::osc
