// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <variant>

namespace scs::osc {

/// Where a packet came from and its answers go. Compares equal for the same client.
struct UdpPeer {
    std::uint32_t address = 0; ///< IPv4, network byte order
    std::uint16_t port = 0;    ///< network byte order
    bool operator==(const UdpPeer&) const = default;
};

/// A TCP connection; no two of a server's life have the same number.
struct TcpPeer {
    std::uint64_t id = 0;
    bool operator==(const TcpPeer&) const = default;
};

/// monostate: nobody (an offline score).
using Endpoint = std::variant<std::monostate, UdpPeer, TcpPeer>;

} // namespace scs::osc
