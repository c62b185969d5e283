// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "osc/endpoint.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <time.h>

namespace scs::osc {

/// A bound, non-blocking UDP socket. [osc], opened on [main].
class UdpSocket {
public:
    /// The largest message that a datagram holds.
    static constexpr size_t max_message = 65507;

    struct Datagram {
        std::span<const std::byte> bytes; ///< valid until the next receive()
        UdpPeer from;
        timespec arrived{}; ///< CLOCK_REALTIME, by the kernel; 0: it doesn't say
    };

    /// Port 0: any free one. The error names address and port.
    static Result<UdpSocket> open(const std::string& address, uint16_t port);

    UdpSocket() = default;
    UdpSocket(UdpSocket&&) noexcept;
    UdpSocket& operator=(UdpSocket&&) noexcept;
    ~UdpSocket();

    int fd() const noexcept { return fd_; } ///< -1 once closed
    uint16_t port() const noexcept { return port_; }
    void close() noexcept;

    /// The next datagram, if there is one.
    std::optional<Datagram> receive();
    /// False if it could not be sent; errno says why.
    bool send(const UdpPeer& to, std::span<const std::byte> bytes) noexcept;
    /// Datagrams that the kernel dropped because they weren't read in time.
    uint32_t dropped() const noexcept { return dropped_; }

private:
    int fd_ = -1;
    uint16_t port_ = 0;
    uint32_t dropped_ = 0;
    std::array<std::byte, 65536> buffer_;
};

} // namespace scs::osc
