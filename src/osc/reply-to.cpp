// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/reply-to.hpp"

namespace scs::osc {

namespace {

// The upper two bits say what the others are. A server that accepts a million connections a second would need 140,000
// years to give all numbers.
constexpr uint64_t udp = uint64_t(1) << 62, tcp = uint64_t(2) << 62, kinds = uint64_t(3) << 62;

} // namespace

ReplyTo to_reply_to(const Endpoint& endpoint, uint64_t outlet) noexcept {
    if (const auto* peer = std::get_if<UdpPeer>(&endpoint))
        return {outlet, udp | uint64_t(peer->address) << 16 | peer->port};
    if (const auto* peer = std::get_if<TcpPeer>(&endpoint))
        return {outlet, tcp | peer->id};
    return {outlet, 0};
}

Endpoint to_endpoint(uint64_t client) noexcept {
    switch (client & kinds) {
    case udp: return UdpPeer{uint32_t(client >> 16), uint16_t(client)};
    case tcp: return TcpPeer{client & ~kinds};
    default: return {};
    }
}

} // namespace scs::osc
