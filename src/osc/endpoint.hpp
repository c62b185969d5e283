// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <variant>

namespace scs::osc {

/// A UDP client: where its packets come from and its answers go.
struct UdpPeer {
    uint32_t address = 0; ///< IPv4, network byte order
    uint16_t port = 0;    ///< network byte order
    bool operator==(const UdpPeer&) const = default;
};

/// A connection by TCP or a Unix socket. A server gives each number only once.
struct TcpPeer {
    uint64_t id = 0;
    bool operator==(const TcpPeer&) const = default;
};

/// Where a packet came from and its answers go. monostate: nowhere (an offline score).
using Endpoint = std::variant<std::monostate, UdpPeer, TcpPeer>;

} // namespace scs::osc
