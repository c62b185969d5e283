// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/endpoint.hpp"
#include "osc/socket-holders.hpp"

#include <array>
#include <cstddef>

namespace scs::osc {

/// The sockets of senders that were refused, by where they send from. Each is one for which its sender has to be
/// refused as long as it is there, so an entry can't get too old. [osc]
class RefusedSenders {
public:
    static constexpr size_t most = 1024;

    /// Null: none is known.
    const SocketId* find(const UdpPeer& from) const noexcept {
        const Entry& entry = entries_[place(from)];
        return entry.from == from ? &entry.socket : nullptr;
    }
    /// Whatever had its place is forgotten, and asked for anew.
    void add(const UdpPeer& from, const SocketId& socket) noexcept { entries_[place(from)] = {from, socket}; }

private:
    struct Entry {
        UdpPeer from;
        SocketId socket;
    };

    static size_t place(const UdpPeer& from) noexcept { return ((from.port >> 8 | from.port << 8) & 0xffff) % most; }

    std::array<Entry, most> entries_{};
};

} // namespace scs::osc
