// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/tcp-port.hpp"

#include "engine/base/descriptors.hpp"
#include "osc/socket-address.hpp"

#include <algorithm>
#include <array>
#include <netinet/tcp.h>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace scs::osc {

namespace {

constexpr size_t head_bytes = 4;
constexpr size_t piece_bytes = 32768; ///< read at once, so that one client doesn't keep the others waiting
constexpr int events_a_turn = 64;
constexpr uint64_t listener_id = 0, local_listener_id = ~uint64_t(0);
// As in scsynth: the longest password, the most tries, with a pause after each that is wrong.
constexpr size_t max_password = 32;
constexpr int most_tries = 4;

uint32_t read_size(const std::byte* at) {
    uint32_t size;
    std::memcpy(&size, at, sizeof size);
    return ntohl(size);
}

bool would_block() {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

} // namespace

Result<TcpPort> TcpPort::open(const std::string& address, uint16_t port, std::string password) {
    const auto parsed = to_sockaddr(address, port);
    if (!parsed)
        return Error{parsed.error()};
    sockaddr_in name = parsed.value();
    TcpPort result;
    result.password_ = std::move(password);
    result.epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    result.listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (result.epoll_ < 0 || result.listener_ < 0)
        return port_error("TCP", address, port, "cannot be opened");
    const int on = 1;
    ::setsockopt(result.listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(result.listener_, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
        ::listen(result.listener_, 64) != 0)
        return port_error("TCP", address, port, "cannot be used");
    socklen_t size = sizeof name;
    if (::getsockname(result.listener_, reinterpret_cast<sockaddr*>(&name), &size) != 0)
        return port_error("TCP", address, port, "cannot be used");
    result.port_ = ntohs(name.sin_port);
    result.listen();
    return result;
}

Result<TcpPort> TcpPort::open_without_tcp() {
    TcpPort result;
    result.epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (result.epoll_ < 0)
        return Error{std::string("a Unix socket cannot be served: ") + std::strerror(errno)};
    return result;
}

void TcpPort::serve_also(UnixListener listener) {
    local_ = std::move(listener);
    listens_ = false;
    listen();
}

TcpPort::TcpPort(TcpPort&& other) noexcept {
    *this = std::move(other);
}

TcpPort& TcpPort::operator=(TcpPort&& other) noexcept {
    if (this != &other) {
        close();
        epoll_ = std::exchange(other.epoll_, -1);
        listener_ = std::exchange(other.listener_, -1);
        port_ = other.port_;
        local_ = std::move(other.local_);
        listens_ = std::exchange(other.listens_, false);
        password_ = std::move(other.password_);
        connections_ = std::exchange(other.connections_, {});
    }
    return *this;
}

TcpPort::~TcpPort() {
    close();
}

void TcpPort::close() noexcept {
    for (const auto& [id, connection] : connections_) {
        // What is left unread would turn the end of the stream into a reset.
        std::array<std::byte, 4096> rest;
        ::shutdown(connection.fd, SHUT_WR);
        for (int n = 0; n < 64 && ::recv(connection.fd, rest.data(), rest.size(), MSG_DONTWAIT) > 0; ++n) {
        }
        ::close(connection.fd);
    }
    connections_.clear();
    local_ = UnixListener();
    for (int* fd : {&listener_, &epoll_})
        if (*fd >= 0)
            ::close(std::exchange(*fd, -1));
}

void TcpPort::serve(const Events& events) {
    if (epoll_ < 0)
        return;
    listen();
    admit_waiting(events);
    wake_deaf(events);
    std::array<epoll_event, events_a_turn> found;
    const int count = ::epoll_wait(epoll_, found.data(), int(found.size()), 0);
    for (int i = 0; i < count; ++i) {
        const uint64_t id = found[size_t(i)].data.u64;
        if (id == listener_id || id == local_listener_id) {
            accept_all(id == listener_id ? listener_ : local_.fd(), events);
            continue;
        }
        if (const auto it = connections_.find(id); it != connections_.end())
            serve_connection(id, it->second, found[size_t(i)].events);
    }
    take_turns(events);
    drop_ended(events);
}

void TcpPort::serve_connection(uint64_t id, Connection& connection, uint32_t what) {
    // What a client has sent that hasn't waited for its answers isn't worth the others' time.
    if (what & EPOLLERR && connection.held_back) {
        end(connection, "");
        return;
    }
    if (what & EPOLLOUT)
        write_some(id, connection);
    if (what & (EPOLLIN | EPOLLHUP | EPOLLERR) && !connection.held_back && !connection.has_input)
        read_some(connection);
}

void TcpPort::take_turns(const Events& events) {
    more_ = false;
    for (auto& [id, connection] : connections_) {
        if (connection.held_back || connection.has_input)
            take_packets(id, connection, events);
        more_ = more_ || connection.has_input;
    }
}

void TcpPort::drop_ended(const Events& events) {
    std::vector<uint64_t> ended;
    for (const auto& [id, connection] : connections_)
        if (connection.ended)
            ended.push_back(id);
    for (const uint64_t id : ended)
        drop(id, events);
}

void TcpPort::listen() {
    if (listens_ || Clock::now() < accept_after_)
        return;
    listens_ = true;
    for (const auto& [fd, id] : {std::pair(listener_, listener_id), std::pair(local_.fd(), local_listener_id)}) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = id;
        if (fd >= 0 && ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0 && errno != EEXIST)
            listens_ = false;
    }
}

void TcpPort::wake_deaf(const Events& events) {
    if (password_.empty())
        return;
    const Clock::time_point now = Clock::now();
    for (auto& [id, connection] : connections_)
        if (connection.deaf_until != Clock::time_point{} && now >= connection.deaf_until) {
            connection.deaf_until = {};
            take_packets(id, connection, events);
        }
}

void TcpPort::accept_all(int listener, const Events& events) {
    while (connections_.size() < most_connections) {
        const auto entry = connections_.try_emplace(last_id_ + 1).first; // before there is a descriptor to lose
        const int fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            const bool all_accepted = would_block() || errno == ECONNABORTED;
            connections_.erase(entry);
            if (all_accepted)
                return;
            break;
        }
        entry->second.fd = fd;
        entry->second.local = listener == local_.fd();
        ++last_id_;
        if (!leaves_descriptors(fd)) {
            ::close(fd);
            connections_.erase(entry);
            break;
        }
        if (!admit(entry, events))
            break;
    }
    // No room, here or in the process: the next ones wait in the kernel.
    for (const int fd : {listener_, local_.fd()})
        if (fd >= 0)
            ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
    listens_ = false;
    accept_after_ = Clock::now() + std::chrono::seconds(1);
}

void TcpPort::admit_waiting(const Events& events) {
    for (auto it = connections_.begin(); it != connections_.end();) {
        const auto each = it++;
        if (!each->second.admitted)
            admit(each, events);
    }
}

bool TcpPort::admit(Connections::iterator entry, const Events& events) {
    Connection& connection = entry->second;
    const auto admitted = connection.local ? true : events.admits(connection.fd);
    if (!admitted)
        return true;
    const int on = 1;
    if (!connection.local)
        ::setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = entry->first;
    connection.watched = event.events;
    connection.trusted = connection.local || password_.empty();
    connection.admitted = *admitted && ::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd, &event) == 0;
    if (connection.admitted)
        return true;
    ::close(connection.fd);
    connections_.erase(entry);
    return !*admitted;
}

void TcpPort::watch(uint64_t id, Connection& connection) {
    epoll_event event{};
    event.data.u64 = id;
    if (connection.deaf_until == Clock::time_point{} && !connection.held_back)
        event.events |= EPOLLIN;
    if (connection.wants_write)
        event.events |= EPOLLOUT;
    const uint32_t wanted = event.events;
    if (std::exchange(connection.watched, wanted) != wanted)
        ::epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.fd, &event);
}

void TcpPort::end(Connection& connection, const char* why) {
    if (!connection.ended) // what follows from the first reason is none
        connection.failure = why;
    connection.ended = true;
}

// ---- in

void TcpPort::read_some(Connection& connection) {
    const size_t before = connection.in.size();
    connection.in.resize(before + piece_bytes);
    const ssize_t size = ::recv(connection.fd, connection.in.data() + before, piece_bytes, MSG_DONTWAIT);
    connection.in.resize(before + (size > 0 ? size_t(size) : 0));
    // All that came before its end has been taken by now.
    if (size == 0 || (size < 0 && !would_block())) {
        end(connection, size < 0 && errno != ECONNRESET ? std::strerror(errno) : "");
        return;
    }
    partial_ += connection.in.size() - before;
    connection.has_input = true;
    if (partial_ > max_partial)
        end(connection, "too much of unfinished packets");
}

bool TcpPort::takes_more(uint64_t id, const Connection& connection, const Events& events) const {
    return !connection.trusted || (connection.out.size() < most_unread && events.ready(TcpPeer{id}));
}

void TcpPort::take_packets(uint64_t id, Connection& connection, const Events& events) {
    const std::span<const std::byte> all(connection.in);
    size_t at = 0;
    int taken = 0;
    connection.held_back = connection.has_input = false;
    while (!connection.ended && connection.deaf_until == Clock::time_point{} && all.size() - at >= head_bytes) {
        const uint32_t size = read_size(all.data() + at);
        if (size > (connection.trusted ? max_packet : max_password)) {
            end(connection, connection.trusted ? "a packet is too large" : "no password");
            break;
        }
        if (all.size() - at - head_bytes < size)
            break;
        connection.held_back = !takes_more(id, connection, events);
        connection.has_input = !connection.held_back && taken++ == packets_a_turn;
        if (connection.held_back || connection.has_input)
            break;
        const auto packet = all.subspan(at + head_bytes, size);
        if (connection.trusted)
            events.packet(packet, TcpPeer{id});
        else
            check_password(connection, packet);
        at += head_bytes + size;
    }
    connection.in.erase(connection.in.begin(), connection.in.begin() + ptrdiff_t(at));
    partial_ -= at;
    watch(id, connection);
}

void TcpPort::check_password(Connection& connection, std::span<const std::byte> packet) {
    std::string_view given(reinterpret_cast<const char*>(packet.data()), packet.size());
    given = given.substr(0, given.find('\0'));
    connection.trusted = given == password_;
    if (connection.trusted)
        return;
    if (++connection.tries == most_tries) {
        end(connection, "wrong passwords");
    } else {
        connection.deaf_until = Clock::now() + std::chrono::seconds(connection.tries);
    }
}

// ---- out

bool TcpPort::send(TcpPeer to, std::span<const std::byte> packet) {
    const auto it = connections_.find(to.id);
    if (it == connections_.end())
        return false;
    Connection& connection = it->second;
    if (connection.ended || connection.reset)
        return false;
    if (connection.out.size() + head_bytes + packet.size() > max_unsent) {
        end(connection, "it doesn't read what it is sent");
        ::shutdown(connection.fd, SHUT_RDWR); // serve() is called, and drops it
        return false;
    }
    const uint32_t size = htonl(uint32_t(packet.size()));
    const auto* head = reinterpret_cast<const std::byte*>(&size);
    const size_t before = connection.out.size();
    connection.out.resize(before + head_bytes + packet.size()); // both or, without memory, neither
    std::copy(head, head + head_bytes, connection.out.data() + before);
    std::copy(packet.begin(), packet.end(), connection.out.data() + before + head_bytes);
    if (!connection.wants_write)
        write_some(to.id, connection);
    return true;
}

bool TcpPort::has(TcpPeer peer) const noexcept {
    const auto it = connections_.find(peer.id);
    return it != connections_.end() && !it->second.ended && !it->second.reset;
}

void TcpPort::write_some(uint64_t id, Connection& connection) {
    const ssize_t size =
        ::send(connection.fd, connection.out.data(), connection.out.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size > 0) {
        connection.out.erase(connection.out.begin(), connection.out.begin() + size);
    } else if (size < 0 && !would_block()) {
        connection.reset = true; // reading will tell
        connection.out = {};
    }
    connection.wants_write = !connection.out.empty();
    watch(id, connection);
}

void TcpPort::drop(uint64_t id, const Events& events) {
    const auto node = connections_.extract(id);
    ::close(node.mapped().fd);
    partial_ -= node.mapped().in.size();
    accept_after_ = {};
    events.closed(TcpPeer{id}, node.mapped().failure);
}

} // namespace scs::osc
