// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/sender-lookup.hpp"

#include "osc/socket-address.hpp"
#include "osc/udp-socket.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace scs::osc {

namespace {

constexpr int most_pieces = 32;    ///< of an answer; each tells of more than twenty sockets
constexpr int patience_ms = 50;    ///< the kernel answers within the request
constexpr uint8_t established = 1; ///< a state of TCP

using Sender = SenderLookup::Sender;

Sender judge(uint32_t uid) {
    return {uid == 0 || uid == ::geteuid() ? Sender::Kind::obeyed : Sender::Kind::stranger, uid};
}

inet_diag_req_v2 request(uint8_t family, uint8_t protocol) {
    inet_diag_req_v2 result{};
    result.sdiag_family = family;
    result.sdiag_protocol = protocol;
    result.idiag_states = ~0u;
    result.id.idiag_cookie[0] = result.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    return result;
}

/// Whether a socket's address, in the kernel's answer, is this one. An IPv6 socket has it mapped.
bool is_address(uint8_t family, const __be32 (&words)[4], const in_addr& address) {
    if (family == AF_INET)
        return words[0] == address.s_addr;
    return words[0] == 0 && words[1] == 0 && words[2] == htonl(0xffff) && words[3] == address.s_addr;
}

/// Whether a socket that is bound to this address sends from the other one, unless it is asked to do otherwise.
bool sends_from(uint8_t family, const __be32 (&words)[4], const in_addr& address) {
    const bool any = words[0] == 0 && (family == AF_INET || (words[1] == 0 && words[2] == 0 && words[3] == 0));
    return any || is_address(family, words, address);
}

bool says_ipv6_only(const nlmsghdr* message) {
    const auto* head = static_cast<const inet_diag_msg*>(NLMSG_DATA(message));
    auto left = int(message->nlmsg_len - NLMSG_LENGTH(sizeof *head));
    for (auto* each = reinterpret_cast<const rtattr*>(head + 1); RTA_OK(each, left); each = RTA_NEXT(each, left))
        if (each->rta_type == INET_DIAG_SKV6ONLY && RTA_PAYLOAD(each) >= 1)
            return *static_cast<const uint8_t*>(RTA_DATA(each)) != 0;
    return false;
}

uint64_t inode_of(int fd) {
    struct stat status;
    return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

} // namespace

Result<SenderLookup> SenderLookup::open() {
    const auto failed = [](const std::string& why) {
        return Error{"the kernel doesn't say whose packets are (NETLINK_SOCK_DIAG: " + why + ")"};
    };
    SenderLookup result;
    if (!result.renew())
        return failed(std::strerror(errno));
    auto udp = UdpSocket::open("127.0.0.1", 0);
    auto other = UdpSocket::open("127.0.0.1", 0);
    if (!udp || !other)
        return failed(!udp ? udp.error() : other.error());
    const UdpPeer from{htonl(INADDR_LOOPBACK), htons(udp.value().port())};
    if (result.of_datagram(from, other.value().fd()).kind != Sender::Kind::obeyed)
        return failed("UDP sockets aren't found");
    return result;
}

SenderLookup::SenderLookup(SenderLookup&& other) noexcept {
    *this = std::move(other);
}

SenderLookup& SenderLookup::operator=(SenderLookup&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(sequence_, other.sequence_);
    return *this;
}

SenderLookup::~SenderLookup() {
    if (fd_ >= 0)
        ::close(fd_);
}

/// What is left of an old answer would be in the way of the next request.
bool SenderLookup::renew() {
    if (fd_ >= 0)
        ::close(fd_);
    fd_ = ::socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    return fd_ >= 0;
}

template <class Each>
bool SenderLookup::ask(const inet_diag_req_v2& body, bool all, Each&& each) {
    if (fd_ < 0 && !renew())
        return false;
    struct {
        nlmsghdr head;
        inet_diag_req_v2 body;
    } message{{}, body};
    message.head.nlmsg_len = sizeof message;
    message.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    message.head.nlmsg_flags = uint16_t(NLM_F_REQUEST | (all ? NLM_F_DUMP : 0));
    message.head.nlmsg_seq = ++sequence_;
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    const bool complete = ::sendto(fd_, &message, sizeof message, MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&kernel),
                                   sizeof kernel) == ssize_t(sizeof message) &&
                          read_answer(all, each);
    if (!complete)
        renew();
    return complete;
}

template <class Each>
bool SenderLookup::read_answer(bool all, Each&& each) {
    alignas(nlmsghdr) std::array<std::byte, 16384> buffer;
    for (int piece = 0; piece < most_pieces; ++piece) {
        ssize_t size = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
            pollfd waiting{fd_, POLLIN, 0};
            if (::poll(&waiting, 1, patience_ms) > 0)
                size = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC);
        }
        if (size < 0 || size_t(size) > buffer.size())
            return false;
        auto left = uint32_t(size);
        for (auto* message = reinterpret_cast<const nlmsghdr*>(buffer.data()); NLMSG_OK(message, left);
             message = NLMSG_NEXT(message, left)) {
            if (message->nlmsg_seq != sequence_ || message->nlmsg_type == NLMSG_ERROR)
                return false;
            if (message->nlmsg_type == NLMSG_DONE)
                return true;
            if (message->nlmsg_type != SOCK_DIAG_BY_FAMILY || message->nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg)))
                return false;
            each(*static_cast<const inet_diag_msg*>(NLMSG_DATA(message)), says_ipv6_only(message));
            if (!all)
                return true;
        }
    }
    return false;
}

Sender SenderLookup::of_datagram(const UdpPeer& from, int at) {
    const uint64_t own = inode_of(at);
    Sender found;
    for (const uint8_t family : {AF_INET, AF_INET6}) {
        inet_diag_req_v2 wanted = request(family, IPPROTO_UDP);
        wanted.id.idiag_sport = from.port;
        const bool complete = ask(wanted, true, [&](const inet_diag_msg& socket, bool ipv6_only) {
            if (socket.id.idiag_sport != from.port || ipv6_only || socket.idiag_inode == own ||
                found.kind == Sender::Kind::stranger)
                return;
            const Sender owner = judge(socket.idiag_uid);
            if (owner.kind == Sender::Kind::stranger || sends_from(family, socket.id.idiag_src, {from.address}))
                found = owner;
        });
        if (!complete)
            return found.kind == Sender::Kind::stranger ? found : Sender{};
    }
    return found;
}

Sender SenderLookup::of_connection(int connection) {
    sockaddr_in from{}, to{};
    socklen_t from_size = sizeof from, to_size = sizeof to;
    if (::getpeername(connection, reinterpret_cast<sockaddr*>(&from), &from_size) != 0 ||
        ::getsockname(connection, reinterpret_cast<sockaddr*>(&to), &to_size) != 0)
        return {};
    inet_diag_req_v2 wanted = request(AF_INET, IPPROTO_TCP);
    wanted.id.idiag_sport = from.sin_port;
    wanted.id.idiag_dport = to.sin_port;
    wanted.id.idiag_src[0] = from.sin_addr.s_addr;
    wanted.id.idiag_dst[0] = to.sin_addr.s_addr;
    Sender found;
    ask(wanted, false, [&](const inet_diag_msg& socket, bool) {
        // Without a connection the kernel answers with whoever listens on that port, and what is left of a closed one
        // seems to be root's.
        if (socket.idiag_state == established && socket.idiag_inode != 0 && socket.id.idiag_sport == from.sin_port &&
            socket.id.idiag_dport == to.sin_port &&
            is_address(socket.idiag_family, socket.id.idiag_src, from.sin_addr) &&
            is_address(socket.idiag_family, socket.id.idiag_dst, to.sin_addr))
            found = judge(socket.idiag_uid);
    });
    return found;
}

} // namespace scs::osc
