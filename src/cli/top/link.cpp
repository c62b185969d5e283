// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/link.hpp"

#include "osc/socket-address.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace scs::top {

namespace {

constexpr int connect_time = 1000; // ms
constexpr size_t head_bytes = 4;   // of a packet in TCP: its size
constexpr uint32_t largest_packet = 1u << 20;

std::vector<std::byte> framed(std::span<const std::byte> packet) {
    const uint32_t size = htonl(uint32_t(packet.size()));
    const std::span head = std::as_bytes(std::span(&size, 1));
    std::vector<std::byte> bytes(head.begin(), head.end());
    bytes.insert(bytes.end(), packet.begin(), packet.end());
    return bytes;
}

void deliver(std::span<const std::byte> packet, const std::function<void(const osc::Message&)>& take) {
    if (const auto decoded = osc::decode(packet))
        for (const osc::Message& message : decoded.value().messages())
            take(message);
}

/// 0, or what errno would say.
int wait_connected(int fd) {
    pollfd polled{fd, POLLOUT, 0};
    if (::poll(&polled, 1, connect_time) <= 0)
        return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof error;
    return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

} // namespace

Result<Link> Link::open(const std::string& host, int port, bool tcp, const std::string& password) {
    const auto address = osc::to_sockaddr(host, uint16_t(port));
    if (!address)
        return Error{address.error()};
    Descriptor fd(::socket(AF_INET, (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    int error = fd.get() < 0 ? errno : 0;
    if (!error && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.value()), sizeof address.value()) != 0)
        error = errno == EINPROGRESS ? wait_connected(fd.get()) : errno;
    if (error)
        return Error{std::strerror(error)};
    Link link(std::move(fd), tcp);
    if (!password.empty() && !link.send(std::as_bytes(std::span(password))))
        return Error{std::strerror(errno)};
    return link;
}

bool Link::send(std::span<const std::byte> packet) {
    const std::vector<std::byte> bytes = tcp_ ? framed(packet) : std::vector(packet.begin(), packet.end());
    // A packet is far smaller than what a socket takes, so a part of one is sent only if nobody reads any more.
    return ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == ssize_t(bytes.size());
}

bool Link::receive(const std::function<void(const osc::Message&)>& take) {
    std::array<std::byte, 65536> bytes;
    for (;;) {
        const ssize_t count = ::recv(fd(), bytes.data(), bytes.size(), 0);
        if (count < 0)
            return errno == EAGAIN || errno == EINTR;
        const auto received = std::span(bytes).first(size_t(count));
        if (!tcp_) {
            deliver(received, take);
            continue;
        }
        if (count == 0)
            return false;
        stream_.insert(stream_.end(), received.begin(), received.end());
        if (!take_frames(take))
            return false;
    }
}

bool Link::take_frames(const std::function<void(const osc::Message&)>& take) {
    std::span<const std::byte> rest = stream_;
    while (rest.size() >= head_bytes) {
        uint32_t size;
        std::memcpy(&size, rest.data(), head_bytes);
        size = ntohl(size);
        if (size > largest_packet)
            return false;
        if (rest.size() - head_bytes < size)
            break;
        deliver(rest.subspan(head_bytes, size), take);
        rest = rest.subspan(head_bytes + size);
    }
    stream_.erase(stream_.begin(), stream_.end() - ptrdiff_t(rest.size()));
    return true;
}

} // namespace scs::top
