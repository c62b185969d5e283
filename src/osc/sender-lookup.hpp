// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "osc/endpoint.hpp"

#include <cstdint>
#include <netinet/in.h>

struct inet_diag_req_v2;

namespace scs::osc {

/// Whose socket is at the other end of a loopback connection: the kernel is asked, by NETLINK_SOCK_DIAG. It takes some
/// 10 µs by TCP, some 50 by UDP, and never longer than 100 ms. [osc], opened on [main].
class SenderLookup {
public:
    struct Sender {
        enum class Kind {
            obeyed,   ///< of this process's user, or of root
            stranger, ///< of another user, whose number is `uid`
            unknown,  ///< there is no such socket (any more), or the kernel didn't answer
        };
        Kind kind = Kind::unknown;
        uint32_t uid = 0;
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
    /// Who is at the other end of an accepted connection. Unknown if that end has closed it, because the kernel then
    /// doesn't know any more.
    Sender of_connection(int connection);

private:
    bool renew();
    /// Calls `each(const inet_diag_msg&, bool ipv6_only)` for every socket of the answer. False: the answer is not
    /// complete.
    template <class Each>
    bool ask(const inet_diag_req_v2&, bool all, Each&& each);
    template <class Each>
    bool read_answer(bool all, Each&& each);

    int fd_ = -1;
    uint32_t sequence_ = 0;
};

} // namespace scs::osc
