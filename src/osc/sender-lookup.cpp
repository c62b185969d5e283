// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/sender-lookup.hpp"

#include "engine/base/descriptors.hpp"
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

Sender::Kind judge(uint32_t uid) {
    return uid == 0 || uid == ::geteuid() ? Sender::Kind::obeyed : Sender::Kind::stranger;
}

/// What the kernel says of a socket beside its addresses.
struct Attributes {
    bool ipv6_only = false;
    uint64_t group = 0; ///< SocketId's
};

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

bool is_any(uint8_t family, const __be32 (&words)[4]) {
    return words[0] == 0 && (family == AF_INET || (words[1] == 0 && words[2] == 0 && words[3] == 0));
}

/// Whether a socket that is bound to this address sends from the other one, unless it is asked to do otherwise.
bool sends_from(uint8_t family, const __be32 (&words)[4], const in_addr& address) {
    return is_any(family, words) || is_address(family, words, address);
}

/// Whether a socket is bound to all addresses, of all devices.
bool is_everywhere(const inet_diag_msg& socket) {
    return is_any(socket.idiag_family, socket.id.idiag_src) && socket.id.idiag_if == 0;
}

/// Whether sockets that want to share this port, in every way that there is, may have it.
bool can_be_shared(uint16_t port) {
    const Descriptor other(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = port;
    return other.get() < 0 || ::setsockopt(other.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
           ::setsockopt(other.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0 ||
           ::bind(other.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 || errno != EADDRINUSE;
}

template <class Value>
void read_attribute(const rtattr* attribute, Value& value) {
    if (RTA_PAYLOAD(attribute) >= sizeof value)
        std::memcpy(&value, RTA_DATA(attribute), sizeof value);
}

Attributes attributes_of(const nlmsghdr* message) {
    const auto* head = static_cast<const inet_diag_msg*>(NLMSG_DATA(message));
    auto left = int(message->nlmsg_len - NLMSG_LENGTH(sizeof *head));
    Attributes result;
    for (auto* each = reinterpret_cast<const rtattr*>(head + 1); RTA_OK(each, left); each = RTA_NEXT(each, left)) {
        uint8_t only = 0;
        if (each->rta_type == INET_DIAG_SKV6ONLY)
            read_attribute(each, only);
        result.ipv6_only = result.ipv6_only || only != 0;
        if (each->rta_type == INET_DIAG_CGROUP_ID)
            read_attribute(each, result.group);
    }
    return result;
}

SocketId id_of(const inet_diag_msg& socket, const Attributes& attributes) {
    const auto& cookie = socket.id.idiag_cookie;
    return {socket.idiag_inode, uint64_t(cookie[1]) << 32 | cookie[0], attributes.group};
}

uint64_t inode_of(int fd) {
    struct stat status;
    return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

/// Where a socket is bound.
UdpPeer name_of(int fd) {
    sockaddr_in name{};
    socklen_t size = sizeof name;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0)
        return {};
    return {name.sin_addr.s_addr, name.sin_port};
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
    std::swap(sole_, other.sole_);
    std::swap(refused_, other.refused_);
    std::swap(candidate_, other.candidate_);
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
            each(*static_cast<const inet_diag_msg*>(NLMSG_DATA(message)), attributes_of(message));
            if (!all)
                return true;
        }
    }
    return false;
}

SenderLookup::OnPort SenderLookup::look(const UdpPeer& from, uint64_t own) {
    OnPort found;
    Sender& sender = found.sender;
    bool is_there = false, is_strangers = false, too_many = false;
    for (const uint8_t family : {AF_INET, AF_INET6}) {
        inet_diag_req_v2 wanted = request(family, IPPROTO_UDP);
        wanted.id.idiag_sport = from.port;
        const bool complete = ask(wanted, true, [&](const inet_diag_msg& socket, const Attributes& attributes) {
            if (socket.id.idiag_sport != from.port || attributes.ipv6_only || socket.idiag_inode == own || is_strangers)
                return;
            ++found.count;
            found.everywhere = found.everywhere || is_everywhere(socket);
            sender.uid = socket.idiag_uid;
            is_strangers = judge(socket.idiag_uid) == Sender::Kind::stranger;
            if (is_strangers)
                sender.strangers = id_of(socket, attributes);
            is_there = is_there || sends_from(family, socket.id.idiag_src, {from.address});
            if (socket.idiag_uid == ::geteuid())
                too_many = !sender.add(id_of(socket, attributes)) || too_many;
        });
        if (!complete && !is_strangers)
            return {};
    }
    sender.kind = is_strangers            ? Sender::Kind::stranger
                  : is_there && !too_many ? Sender::Kind::obeyed
                                          : Sender::Kind::unknown;
    return found;
}

std::optional<SenderLookup::Receiver> SenderLookup::receiver(const UdpPeer& at, const UdpPeer& to) {
    inet_diag_req_v2 wanted = request(AF_INET, IPPROTO_UDP);
    wanted.id.idiag_dport = at.port; // the other way round than for TCP
    wanted.id.idiag_dst[0] = at.address;
    wanted.id.idiag_sport = to.port;
    wanted.id.idiag_src[0] = to.address;
    std::optional<Receiver> result;
    ask(wanted, false, [&](const inet_diag_msg& found, const Attributes& attributes) {
        if (found.id.idiag_sport == at.port)
            result = {id_of(found, attributes), found.idiag_uid, is_everywhere(found)};
    });
    return result;
}

void SenderLookup::remember_refused(const UdpPeer& from, const Sender& sender) noexcept {
    const auto own = sender.own_sockets();
    if (sender.kind == Sender::Kind::stranger)
        refused_.add(from, sender.strangers);
    else if (sender.kind == Sender::Kind::obeyed && own.size() == 1)
        refused_.add(from, own[0]);
}

std::optional<Sender> SenderLookup::refused(const UdpPeer& from, int at) {
    const SocketId* socket = refused_.find(from);
    if (!socket)
        return {};
    const auto found = receiver(from, name_of(at)); // it may be connected to this server
    if (!found || !(found->socket == *socket))
        return {};
    Sender sender;
    sender.kind = judge(found->uid);
    sender.uid = found->uid;
    if (found->uid == ::geteuid())
        sender.add(found->socket);
    return sender;
}

void SenderLookup::confirm() {
    const auto candidate = std::exchange(candidate_, {});
    if (!candidate)
        return;
    const auto& [from, own, socket] = *candidate;
    if (can_be_shared(from.port))
        return sole_.remove(from);
    const OnPort again = look(from, own);
    if (again.is_alone() && again.sender.own_sockets()[0] == socket)
        sole_.add(from, socket, SoleSenders::Clock::now());
    else
        sole_.remove(from);
}

Sender SenderLookup::of_datagram(const UdpPeer& from, int at) {
    candidate_.reset();
    if (const SocketId* sole = sole_.find(from, SoleSenders::Clock::now()); sole) {
        const auto found = receiver(from);
        if (found && found->socket == *sole && found->uid == ::geteuid() && found->everywhere) {
            Sender sender;
            sender.kind = Sender::Kind::obeyed;
            sender.uid = ::geteuid();
            sender.add(*sole);
            return sender;
        }
    }
    const uint64_t own = inode_of(at);
    const OnPort found = look(from, own);
    if (found.is_alone())
        candidate_ = {from, own, found.sender.own_sockets()[0]};
    else
        sole_.remove(from);
    return found.sender;
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
    ask(wanted, false, [&](const inet_diag_msg& socket, const Attributes& attributes) {
        // Without a connection the kernel answers with whoever listens on that port, and what is left of a closed one
        // seems to be root's.
        if (socket.idiag_state == established && socket.idiag_inode != 0 && socket.id.idiag_sport == from.sin_port &&
            socket.id.idiag_dport == to.sin_port &&
            is_address(socket.idiag_family, socket.id.idiag_src, from.sin_addr) &&
            is_address(socket.idiag_family, socket.id.idiag_dst, to.sin_addr)) {
            found.uid = socket.idiag_uid;
            found.kind = judge(socket.idiag_uid);
            if (socket.idiag_uid == ::geteuid())
                found.add(id_of(socket, attributes));
        }
    });
    return found;
}

} // namespace scs::osc
