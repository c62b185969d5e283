// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/link.hpp"

#include "osc/socket-address.hpp"
#include "osc/unix-address.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace scs::top {

namespace {

constexpr size_t head_bytes = 4; // of a packet in a stream: its size
constexpr uint32_t largest_packet = 1u << 20;
constexpr int most_reads = 64; // at once: datagrams, or pieces of a stream

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

/// A connection to the server's Unix socket; none if nobody serves it.
Descriptor connect_locally(int port) {
    const std::string path = osc::usual_socket_path(uint16_t(port));
    const sockaddr_un name = osc::unix_address(path);
    Descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const bool connected = !path.empty() && path.size() < sizeof name.sun_path && fd.get() >= 0 &&
                           ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
    return connected ? std::move(fd) : Descriptor();
}

} // namespace

Result<Link> Link::open(const std::string& host, int port, bool tcp, const std::string& password) {
    auto link = begin(host, port, tcp, password);
    if (!link || !link.value().is_connecting())
        return link;
    pollfd polled{link.value().fd(), POLLOUT, 0};
    if (::poll(&polled, 1, int(connect_time.count())) <= 0)
        return Error{std::strerror(ETIMEDOUT)};
    const auto finished = link.value().finish();
    if (!finished)
        return Error{finished.error()};
    return link;
}

Result<Link> Link::begin(const std::string& host, int port, bool tcp, const std::string& password) {
    const auto address = osc::to_sockaddr(host, uint16_t(port));
    if (!address)
        return Error{address.error()};
    if (!tcp && password.empty() && osc::is_loopback(address.value().sin_addr))
        if (Descriptor fd = connect_locally(port); fd.get() >= 0)
            return Link(std::move(fd), true);
    Descriptor fd(::socket(AF_INET, (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (fd.get() < 0)
        return Error{std::strerror(errno)};
    Link link(std::move(fd), tcp, password);
    const sockaddr_in& name = address.value();
    if (::connect(link.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
        if (errno != EINPROGRESS)
            return Error{std::strerror(errno)};
        link.is_connecting_ = true;
        return link;
    }
    const auto finished = link.finish();
    if (!finished)
        return Error{finished.error()};
    return link;
}

Result<bool> Link::finish() {
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    if (error)
        return Error{std::strerror(error)};
    is_connecting_ = false;
    const std::string password = std::exchange(password_, {});
    if (!password.empty() && !send(std::as_bytes(std::span(password))))
        return Error{std::strerror(errno)};
    return true;
}

short Link::events() const {
    return is_connecting_ ? POLLOUT : POLLIN;
}

bool Link::send(std::span<const std::byte> packet) {
    const std::vector<std::byte> bytes = is_stream_ ? framed(packet) : std::vector(packet.begin(), packet.end());
    // A packet is far smaller than what a socket takes, so a part of one is sent only if nobody reads any more.
    return ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == ssize_t(bytes.size());
}

bool Link::receive(const std::function<void(const osc::Message&)>& take) {
    std::array<std::byte, 65536> bytes;
    for (int reads = 0; reads < most_reads; ++reads) {
        const ssize_t count = ::recv(fd(), bytes.data(), bytes.size(), 0);
        if (count < 0)
            return errno == EAGAIN || errno == EINTR;
        const auto received = std::span(bytes).first(size_t(count));
        if (!is_stream_) {
            deliver(received, take);
            continue;
        }
        if (count == 0)
            return false;
        stream_.insert(stream_.end(), received.begin(), received.end());
        if (!take_frames(take))
            return false;
    }
    return true;
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
