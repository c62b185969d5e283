// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/udp-socket.hpp"

#include "osc/socket-address.hpp"

#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace scs::osc {

namespace {

constexpr int receive_buffer_bytes = 4 << 20; ///< a login's 106 SynthDefs at once, and more

sockaddr_in to_sockaddr(const UdpPeer& peer) {
    sockaddr_in result{};
    result.sin_family = AF_INET;
    result.sin_addr.s_addr = peer.address;
    result.sin_port = peer.port;
    return result;
}

} // namespace

Result<UdpSocket> UdpSocket::open(const std::string& address, uint16_t port) {
    auto parsed = to_sockaddr(address, port);
    if (!parsed)
        return Error{parsed.error()};
    sockaddr_in& name = parsed.value();

    UdpSocket socket;
    socket.fd_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const auto failed = [&](const char* what) { return port_error("UDP", address, port, what); };
    if (socket.fd_ < 0)
        return failed("cannot be opened");
    const int on = 1;
    ::setsockopt(socket.fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
    ::setsockopt(socket.fd_, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
    ::setsockopt(socket.fd_, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    if (::bind(socket.fd_, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
        return failed("cannot be used");
    socklen_t size = sizeof name;
    if (::getsockname(socket.fd_, reinterpret_cast<sockaddr*>(&name), &size) != 0)
        return failed("cannot be used");
    socket.port_ = ntohs(name.sin_port);
    return socket;
}

UdpSocket::UdpSocket(UdpSocket&& other) noexcept {
    *this = std::move(other);
}

UdpSocket& UdpSocket::operator=(UdpSocket&& other) noexcept {
    if (this != &other) {
        close();
        fd_ = std::exchange(other.fd_, -1);
        port_ = other.port_;
        dropped_ = other.dropped_;
    }
    return *this;
}

UdpSocket::~UdpSocket() {
    close();
}

void UdpSocket::close() noexcept {
    if (fd_ >= 0)
        ::close(fd_);
    fd_ = -1;
}

std::optional<UdpSocket::Datagram> UdpSocket::receive() {
    sockaddr_in from{};
    iovec into{buffer_.data(), buffer_.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(uint32_t)) + CMSG_SPACE(sizeof(timespec))];
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &into;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t size;
    do
        size = ::recvmsg(fd_, &message, MSG_DONTWAIT);
    while (size < 0 && (errno == EINTR || errno == ECONNREFUSED));
    if (size < 0)
        return {};
    Datagram datagram{std::span<const std::byte>(buffer_).first(size_t(size)),
                      UdpPeer{from.sin_addr.s_addr, from.sin_port}};
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL)
            std::memcpy(&dropped_, CMSG_DATA(c), sizeof dropped_);
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS)
            std::memcpy(&datagram.arrived, CMSG_DATA(c), sizeof datagram.arrived);
    }
    return datagram;
}

bool UdpSocket::send(const UdpPeer& to, std::span<const std::byte> bytes) noexcept {
    if (fd_ < 0)
        return false;
    const sockaddr_in name = to_sockaddr(to);
    return ::sendto(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&name),
                    sizeof name) == ssize_t(bytes.size());
}

} // namespace scs::osc
