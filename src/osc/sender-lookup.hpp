// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "osc/endpoint.hpp"
#include "osc/refused-senders.hpp"
#include "osc/socket-holders.hpp"
#include "osc/sole-senders.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <netinet/in.h>
#include <optional>
#include <span>

struct inet_diag_req_v2;

namespace scs::osc {

/// Whose socket is at the other end of a loopback connection: the kernel is asked, by NETLINK_SOCK_DIAG. It takes some
/// 15 µs by TCP, some 36 by UDP or, of a socket that is known to be alone with its port or was refused, 5, and never
/// longer than 200 ms. [osc], opened on [main].
class SenderLookup {
public:
    struct Sender {
        enum class Kind {
            obeyed,   ///< of this process's user, or of root
            stranger, ///< of another user, whose number is `uid`
            unknown,  ///< there is no such socket (any more), there are too many, or the kernel didn't answer
        };
        Kind kind = Kind::unknown;
        uint32_t uid = 0;
        SocketId strangers; ///< the stranger's socket, if it is one

        /// Those of this process's user: any of them may be the sender's.
        std::span<const SocketId> own_sockets() const noexcept { return std::span(own_).first(own_count_); }
        /// False: there are too many.
        bool add(const SocketId& socket) noexcept {
            if (own_count_ == own_.size())
                return false;
            own_[own_count_++] = socket;
            return true;
        }

    private:
        std::array<SocketId, 8> own_{};
        size_t own_count_ = 0;
    };

    /// Fails where the kernel doesn't tell whose a socket is; this is tried with sockets of our own.
    static Result<SenderLookup> open();

    SenderLookup() = default;
    SenderLookup(SenderLookup&&) noexcept;
    SenderLookup& operator=(SenderLookup&&) noexcept;
    ~SenderLookup();

    /// Who sent a datagram that has arrived at the socket `at` from this address and port. A socket that is bound to
    /// another address may have the same port and may give any local address as its own. So every socket with that port
    /// must be of a user who is obeyed, and one of them must be bound to this address, or to any.
    Sender of_datagram(const UdpPeer& from, int at);
    /// The sender of the last call is obeyed: sees whether its socket is alone with its port, which makes the next
    /// question cheap. That costs more than a question, and isn't done for whoever is refused.
    void confirm();
    /// This sender was refused: remembers its socket, so that refused() finds it. Nothing if it has several.
    void remember_refused(const UdpPeer& from, const Sender&) noexcept;
    /// The remembered socket, if the kernel says that it is still there, at this address and port, and whose it is now.
    /// Others may have the port, too, so nobody can be obeyed by this answer; but whoever is refused by it would be by
    /// of_datagram(), as all sockets with the port must be of somebody who is obeyed.
    std::optional<Sender> refused(const UdpPeer& from, int at);
    /// Who is at the other end of an accepted connection. Unknown if that end has closed it, because the kernel then
    /// doesn't know any more.
    Sender of_connection(int connection);

private:
    /// The sockets with a port.
    struct OnPort {
        Sender sender;
        int count = 0;
        bool everywhere = false; ///< one of them is bound to all addresses

        /// Whether that is one of this user's that is bound to all addresses, and no other.
        bool is_alone() const noexcept { return count == 1 && everywhere && sender.own_sockets().size() == 1; }
    };
    /// A socket that seemed to be alone with its port when it was asked for.
    struct Candidate {
        UdpPeer from;
        uint64_t own;
        SocketId socket;
    };
    OnPort look(const UdpPeer& from, uint64_t own);
    /// The socket that gets what is sent to this address and port, from nowhere or from `to`.
    struct Receiver {
        SocketId socket;
        uint32_t uid = 0;
        bool everywhere = false;
    };
    std::optional<Receiver> receiver(const UdpPeer& at, const UdpPeer& to = {});

    bool renew();
    /// Calls `each(const inet_diag_msg&, const Attributes&)` for every socket of the answer. False: the answer is not
    /// complete.
    template <class Each>
    bool ask(const inet_diag_req_v2&, bool all, Each&& each);
    template <class Each>
    bool read_answer(bool all, Each&& each);

    int fd_ = -1;
    uint32_t sequence_ = 0;
    SoleSenders sole_;
    RefusedSenders refused_;
    std::optional<Candidate> candidate_; ///< of the last question
};

} // namespace scs::osc
