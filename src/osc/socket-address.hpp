// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <netinet/in.h>
#include <string>

namespace scs::osc {

/// The kernel's form of an IPv4 address (or "localhost") and a port in host byte order.
inline Result<sockaddr_in> to_sockaddr(const std::string& address, uint16_t port) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    if (::inet_pton(AF_INET, address == "localhost" ? "127.0.0.1" : address.c_str(), &name.sin_addr) != 1)
        return Error{"'" + address + "' is not an IPv4 address"};
    return name;
}

/// Whether packets from and to this address stay on this machine.
inline bool is_loopback(const in_addr& address) noexcept {
    return ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
}

/// "UDP port 57110 on 127.0.0.1 cannot be used: <what errno says>"
inline Error port_error(const char* protocol, const std::string& address, uint16_t port, const char* what) {
    return Error{std::string(protocol) + " port " + std::to_string(port) + " on " + address + " " + what + ": " +
                 std::strerror(errno)};
}

} // namespace scs::osc
