// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "osc/endpoint.hpp"
#include "osc/unix-listener.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace scs::osc {

/// A listening TCP socket, a Unix socket beside it, or one of them, and their connections. Before each packet comes its
/// size, an int32 in network byte order. Nothing blocks; the memory that a client can take is bounded in both
/// directions. Connections take turns: no more than a few packets of each are taken at once. What can't be taken yet is
/// left to the kernel, which has the client wait. [osc], opened on [main].
class TcpPort {
public:
    static constexpr size_t most_connections = 256;
    static constexpr size_t max_packet = size_t(4) << 20;
    /// What one client may leave unread before its connection is closed.
    static constexpr size_t max_unsent = size_t(4) << 20;
    /// Bytes of answers that a client may leave unread; beyond that nothing more is taken from it until it reads.
    static constexpr size_t most_unread = 65536;
    static constexpr int packets_a_turn = 64; ///< of each connection
    /// What all clients together may have sent of incomplete packets.
    static constexpr size_t max_partial = size_t(64) << 20;

    /// What serve() calls.
    struct Events {
        /// Whether this connection by TCP, accepted, may stay; nothing: it isn't known yet, and is asked again by each
        /// serve(). Until then nothing is read from it.
        std::function<std::optional<bool>(int fd)> admits;
        /// Whether another packet of this connection can be taken now.
        std::function<bool(TcpPeer)> ready;
        std::function<void(std::span<const std::byte> packet, TcpPeer from)> packet;
        /// The connection is gone; `why` is empty if the client closed it.
        std::function<void(TcpPeer, std::string_view why)> closed;
    };

    /// `password`: what a client has to send first, as a packet; empty: nothing. Port 0: any free one.
    /// The error names address and port.
    static Result<TcpPort> open(const std::string& address, uint16_t port, std::string password);

    /// Without TCP, for serve_also().
    static Result<TcpPort> open_without_tcp();
    /// Connections by this socket need neither a password nor to be admitted: whoever may use its file is let in. The
    /// port must be open.
    void serve_also(UnixListener);

    TcpPort() = default;
    TcpPort(TcpPort&&) noexcept;
    TcpPort& operator=(TcpPort&&) noexcept;
    ~TcpPort();

    /// Readable when serve() has something to do; -1 if not open.
    int fd() const noexcept { return epoll_; }
    uint16_t port() const noexcept { return port_; }
    void close() noexcept;

    /// Accepts, reads and writes what can be now; at most one piece and `packets_a_turn` of each connection.
    void serve(const Events&);
    /// Whether serve() has left something that it only had no turn for.
    bool has_more() const noexcept { return more_; }
    /// Sends now or later, in order. If the connection is gone, or ends because the client reads too slowly, the packet
    /// is lost: false.
    bool send(TcpPeer, std::span<const std::byte> packet);
    /// Whether the client may still get something.
    bool has(TcpPeer) const noexcept;

private:
    using Clock = std::chrono::steady_clock;
    struct Connection {
        int fd = -1;
        std::vector<std::byte> in;  ///< of a packet that isn't complete yet
        std::vector<std::byte> out; ///< that the client hasn't taken yet
        bool local = false;         ///< by the Unix socket
        bool admitted = false;
        bool trusted = false;
        int tries = 0;
        Clock::time_point deaf_until{}; ///< after a wrong password
        bool wants_write = false;
        bool held_back = false;   ///< there are packets in `in`, but it isn't their time
        bool has_input = false;   ///< there may be, and its turn comes
        bool reset = false;       ///< by the client, which takes nothing more
        uint32_t watched = 0;     ///< by epoll
        const char* failure = ""; ///< why it is to be closed; of static storage
        bool ended = false;
    };

    using Connections = std::map<uint64_t, Connection>;

    void accept_all(int listener, const Events&);
    /// Asks for those of which it isn't known yet.
    void admit_waiting(const Events&);
    /// Lets the connection in, closes it, or leaves it waiting. False: there is no room for it.
    bool admit(Connections::iterator, const Events&);
    void listen();
    void wake_deaf(const Events&);
    void watch(uint64_t id, Connection&);
    void serve_connection(uint64_t id, Connection&, uint32_t what);
    void take_turns(const Events&);
    void drop_ended(const Events&);
    bool takes_more(uint64_t id, const Connection&, const Events&) const;
    void read_some(Connection&);
    /// Takes the complete packets out of what was read.
    void take_packets(uint64_t id, Connection&, const Events&);
    void check_password(Connection&, std::span<const std::byte> packet);
    void write_some(uint64_t id, Connection&);
    static void end(Connection&, const char* why);
    void drop(uint64_t id, const Events&);

    int epoll_ = -1, listener_ = -1; ///< of TCP
    UnixListener local_;
    uint16_t port_ = 0;
    bool listens_ = false;
    Clock::time_point accept_after_{};
    std::string password_;
    Connections connections_;
    uint64_t last_id_ = 0;
    size_t partial_ = 0;
    bool more_ = false;
};

} // namespace scs::osc
