// SPDX-License-Identifier: GPL-3.0-or-later
// Who is obeyed: this user, who must be root here, and no stranger.
#include "osc/admission.hpp"
#include "osc/test-child.hpp"
#include "osc/test-rig.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <functional>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;
using Kind = SenderLookup::Sender::Kind;

namespace {

constexpr uid_t nobody = 65534;

sockaddr_in name_of(const char* address, uint16_t port) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    ::inet_pton(AF_INET, address, &name.sin_addr);
    return name;
}

/// A socket of any kind, closed in the end.
class Socket {
public:
    explicit Socket(int type, int family = AF_INET) : fd_(::socket(family, type | SOCK_CLOEXEC, 0)) {}
    Socket(const Socket&) = delete;
    ~Socket() { close(); }
    int fd() const { return fd_; }
    void close() {
        if (fd_ >= 0)
            ::close(std::exchange(fd_, -1));
    }
    void set(int option) const {
        const int on = 1;
        REQUIRE(::setsockopt(fd_, SOL_SOCKET, option, &on, sizeof on) == 0);
    }
    bool bind(const char* address, uint16_t port) const {
        const sockaddr_in name = name_of(address, port);
        return ::bind(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
    }
    bool connect(uint16_t port) const {
        const sockaddr_in name = name_of("127.0.0.1", port);
        return ::connect(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
    }
    bool send(uint16_t port, const Bytes& bytes) const {
        const sockaddr_in name = name_of("127.0.0.1", port);
        return ::sendto(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&name), sizeof name) ==
               ssize_t(bytes.size());
    }
    /// Sends as if from 127.0.0.1, whatever the socket is bound to.
    bool send_as_localhost(uint16_t port, const Bytes& bytes) const {
        sockaddr_in name = name_of("127.0.0.1", port);
        iovec data{const_cast<std::byte*>(bytes.data()), bytes.size()};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(in_pktinfo))] = {};
        msghdr message{};
        message.msg_name = &name;
        message.msg_namelen = sizeof name;
        message.msg_iov = &data;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = IPPROTO_IP;
        head->cmsg_type = IP_PKTINFO;
        head->cmsg_len = CMSG_LEN(sizeof(in_pktinfo));
        in_pktinfo info{};
        info.ipi_spec_dst = name.sin_addr;
        std::memcpy(CMSG_DATA(head), &info, sizeof info);
        return ::sendmsg(fd_, &message, 0) == ssize_t(bytes.size());
    }
    uint16_t port() const {
        sockaddr_in6 name{};
        socklen_t size = sizeof name;
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&name), &size);
        return ntohs(name.sin6_port); // at the same place as IPv4's
    }
    bool answered(int timeout_ms) const {
        pollfd waiting{fd_, POLLIN, 0};
        return ::poll(&waiting, 1, timeout_ms) > 0;
    }

private:
    int fd_;
};

bool become_nobody() {
    return ::setresgid(nobody, nobody, nobody) == 0 && ::setresuid(nobody, nobody, nobody) == 0;
}

/// A process of another user. It does `action`, and then waits for its end.
struct Stranger : Child {
    explicit Stranger(const std::function<bool()>& action) : Child(become_nobody, action) { REQUIRE(succeeded); }
};

bool can_be_others() {
    if (::geteuid() == 0)
        return true;
    MESSAGE("skipped: only root can send as another user");
    return false;
}

bool wait_for_refused(Rig& rig, uint64_t count) {
    for (int i = 0; i < 5000 && rig.server().counters().refused < count; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return rig.server().counters().refused == count;
}

Bytes framed(const Bytes& packet) {
    Bytes all;
    put_int(all, packet.size(), 4);
    all.insert(all.end(), packet.begin(), packet.end());
    return all;
}

UdpPeer localhost(uint16_t port) {
    return {htonl(INADDR_LOOPBACK), htons(port)};
}

SenderLookup lookup() {
    auto opened = SenderLookup::open();
    REQUIRE(opened);
    return std::move(opened.value());
}

UdpSocket own_socket() {
    auto opened = UdpSocket::open("127.0.0.1", 0);
    REQUIRE(opened);
    return std::move(opened.value());
}

/// What the kernel says of a socket that is sent from. Whoever is obeyed may be remembered as alone with its port.
Kind kind_of(SenderLookup& senders, const UdpSocket& server, const Socket& socket) {
    const Kind kind = senders.of_datagram(localhost(socket.port()), server.fd()).kind;
    if (kind == Kind::obeyed)
        senders.confirm();
    return kind;
}

} // namespace

TEST_CASE("a stranger's datagrams have no effect and no answer, the owner's do") {
    if (!can_be_others())
        return;
    Rig rig;
    Client owner(rig);
    const uint16_t port = rig.server().port();
    const std::string path = "/tmp/scs-stranger-" + std::to_string(::getpid()) + ".wav";
    const std::vector<Bytes> packets{message("/b_alloc", {1, 64, 1}), message("/b_setn", {1, 0, 1, 0.5f}),
                                     message("/b_write", {1, path, "wav", "int16"}), message("/status")};
    {
        Stranger stranger([&] {
            Socket socket(SOCK_DGRAM);
            for (const Bytes& packet : packets)
                if (!socket.send(port, packet))
                    return false;
            return !socket.answered(500);
        });
        CHECK(wait_for_refused(rig, packets.size()));
    }
    owner.send("/b_query", {1});
    CHECK(owner.receive() == "/b_info 1 0 0 0f");
    struct stat status;
    CHECK(::stat(path.c_str(), &status) != 0);
    CHECK(rig.server().counters().received == 1);
    CHECK(rig.log().find("of user 65534 was refused") != std::string::npos);
}

TEST_CASE("a stranger's TCP connection is closed") {
    if (!can_be_others())
        return;
    Rig rig;
    const uint16_t port = rig.server().port();
    const Bytes packet = framed(message("/b_alloc", {1, 64, 1}));
    const auto knock = [&] {
        Socket socket(SOCK_STREAM);
        return socket.connect(port) && ::send(socket.fd(), packet.data(), packet.size(), MSG_NOSIGNAL) >= 0 &&
               socket.answered(5000);
    };
    {
        Stranger stranger(knock);
        CHECK(wait_for_refused(rig, 1));
    }
    {
        Stranger hasty([&] {
            Socket socket(SOCK_STREAM);
            return socket.connect(port) && ::send(socket.fd(), packet.data(), packet.size(), MSG_NOSIGNAL) > 0;
        });
        CHECK(wait_for_refused(rig, 2));
    }
    Client owner(rig);
    owner.send("/b_query", {1});
    CHECK(owner.receive() == "/b_info 1 0 0 0f");
    CHECK(rig.server().counters().received == 1);
}

TEST_CASE("with allow = any strangers are obeyed") {
    if (!can_be_others())
        return;
    ServerSettings settings;
    settings.allow = "any";
    Rig rig(settings);
    const uint16_t port = rig.server().port();
    const Bytes packet = message("/status");
    Stranger stranger([&] {
        Socket socket(SOCK_DGRAM);
        return socket.send(port, packet) && socket.answered(5000);
    });
    CHECK(rig.server().counters().refused == 0);
}

TEST_CASE("an address beyond this machine needs allow = any") {
    ServerSettings settings;
    settings.port = 0;
    settings.bind = "0.0.0.0";
    const auto refused = Server::start(settings);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().find("scsynth.allow = any") != std::string::npos);
}

TEST_CASE("whose datagram it is") {
    SenderLookup senders = lookup();
    const UdpSocket server = own_socket();
    SUBCASE("any address, one address, connected, dual-stack") {
        Socket any(SOCK_DGRAM), one(SOCK_DGRAM), connected(SOCK_DGRAM), both(SOCK_DGRAM, AF_INET6);
        REQUIRE(any.bind("0.0.0.0", 0));
        REQUIRE(one.bind("127.0.0.1", 0));
        REQUIRE(connected.connect(server.port()));
        sockaddr_in6 name{};
        name.sin6_family = AF_INET6;
        const bool ipv6 = ::bind(both.fd(), reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
        for (const Socket* socket : {&any, &one, &connected, &both}) {
            if (socket == &both && !ipv6) {
                MESSAGE("skipped: there is no IPv6");
                continue;
            }
            CHECK(kind_of(senders, server, *socket) == Kind::obeyed);
            if (can_be_others()) {
                REQUIRE(::fchown(socket->fd(), nobody, nobody) == 0);
                CHECK(kind_of(senders, server, *socket) == Kind::stranger);
            }
        }
    }
    SUBCASE("a socket that is gone, and the server's own") {
        Socket brief(SOCK_DGRAM);
        REQUIRE(brief.bind("127.0.0.1", 0));
        const uint16_t port = brief.port();
        brief.close();
        CHECK(senders.of_datagram(localhost(port), server.fd()).kind == Kind::unknown);
        CHECK(senders.of_datagram(localhost(server.port()), server.fd()).kind == Kind::unknown);
    }
    SUBCASE("whoever has sent from another address is gone, and the port there is another's") {
        Socket any(SOCK_DGRAM), one(SOCK_DGRAM);
        REQUIRE(any.bind("0.0.0.0", 0));
        REQUIRE(one.bind("127.0.0.1", 0));
        const auto kind_at = [&](const Socket& socket) {
            return senders.of_datagram({htonl(INADDR_LOOPBACK + 1), htons(socket.port())}, server.fd()).kind;
        };
        CHECK(kind_at(one) == Kind::unknown);
        CHECK(kind_at(any) == Kind::obeyed);
    }
    SUBCASE("a socket that can only speak IPv6 has the same port") {
        Socket owner(SOCK_DGRAM), other(SOCK_DGRAM, AF_INET6);
        REQUIRE(owner.bind("0.0.0.0", 0));
        const int on = 1;
        sockaddr_in6 name{};
        name.sin6_family = AF_INET6;
        name.sin6_port = htons(owner.port());
        if (!can_be_others() || ::setsockopt(other.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0 ||
            ::bind(other.fd(), reinterpret_cast<sockaddr*>(&name), sizeof name) != 0) {
            MESSAGE("skipped: there is no IPv6");
            return;
        }
        REQUIRE(::fchown(other.fd(), nobody, nobody) == 0);
        CHECK(kind_of(senders, server, owner) == Kind::obeyed);
    }
}

TEST_CASE("a stranger who has the owner's port is refused, whatever address is given") {
    if (!can_be_others())
        return;
    SenderLookup senders = lookup();
    const UdpSocket server = own_socket();
    for (const int option : {SO_REUSEPORT, SO_REUSEADDR}) {
        Socket owner(SOCK_DGRAM), other(SOCK_DGRAM);
        owner.set(option);
        other.set(option);
        REQUIRE(owner.bind("127.0.0.1", 0));
        REQUIRE(other.bind("127.0.0.1", owner.port()));
        CHECK(kind_of(senders, server, owner) == Kind::obeyed);
        REQUIRE(::fchown(other.fd(), nobody, nobody) == 0);
        CHECK(kind_of(senders, server, owner) == Kind::stranger);
        other.close();
        CHECK(kind_of(senders, server, owner) == Kind::obeyed);
    }
    SUBCASE("another address, and a forged one in the packet") {
        Rig rig;
        Socket owner(SOCK_DGRAM);
        REQUIRE(owner.bind("127.0.0.1", 0));
        const uint16_t port = rig.server().port();
        const Bytes packet = message("/b_alloc", {1, 64, 1}), status = message("/status");
        {
            Stranger stranger([&] {
                static Socket socket(SOCK_DGRAM);
                return socket.bind("127.0.0.2", owner.port()) && socket.send_as_localhost(port, packet);
            });
            CHECK(wait_for_refused(rig, 1));
        }
        REQUIRE(owner.send(port, status));
        CHECK(owner.answered(5000));
        CHECK(rig.server().counters().received == 1);
    }
}

TEST_CASE("a socket that is known to be alone with its port, and what may happen to it") {
    if (!can_be_others())
        return;
    SenderLookup senders = lookup();
    const UdpSocket server = own_socket();
    Socket owner(SOCK_DGRAM), other(SOCK_DGRAM);
    REQUIRE(owner.bind("0.0.0.0", 0));
    const uint16_t port = owner.port();
    const auto learn = [&] {
        for (int i = 0; i < 2 * SoleSenders::enough; ++i)
            REQUIRE(kind_of(senders, server, owner) == Kind::obeyed);
    };
    const auto kind = [&] { return senders.of_datagram(localhost(port), server.fd()).kind; };
    learn();
    SUBCASE("another user's") {
        REQUIRE(::fchown(owner.fd(), nobody, nobody) == 0);
        CHECK(kind() == Kind::stranger);
    }
    SUBCASE("closed") {
        owner.close();
        CHECK(kind() == Kind::unknown);
        REQUIRE(other.bind("0.0.0.0", port));
        REQUIRE(::fchown(other.fd(), nobody, nobody) == 0);
        CHECK(kind() == Kind::stranger);
    }
    SUBCASE("connected, so that others may have the port on other addresses") {
        REQUIRE(owner.connect(server.port()));
        REQUIRE(other.bind("127.0.0.2", port));
        REQUIRE(::fchown(other.fd(), nobody, nobody) == 0);
        CHECK(kind() == Kind::stranger);
    }
    SUBCASE("nobody else gets the port") {
        for (const int option : {SO_REUSEPORT, SO_REUSEADDR})
            other.set(option);
        for (const char* address : {"0.0.0.0", "127.0.0.1", "127.0.0.2"})
            CHECK_FALSE(other.bind(address, port));
    }
}

TEST_CASE("a socket that shares its port, or may, is never believed to be alone") {
    if (!can_be_others())
        return;
    SenderLookup senders = lookup();
    const UdpSocket server = own_socket();
    for (const int option : {SO_REUSEPORT, SO_REUSEADDR, 0}) {
        Socket owner(SOCK_DGRAM), other(SOCK_DGRAM);
        if (option) {
            owner.set(option);
            other.set(option);
        }
        REQUIRE(owner.bind(option ? "0.0.0.0" : "127.0.0.1", 0));
        for (int i = 0; i < 2 * SoleSenders::enough; ++i)
            REQUIRE(kind_of(senders, server, owner) == Kind::obeyed);
        REQUIRE(other.bind(option ? "0.0.0.0" : "127.0.0.2", owner.port()));
        REQUIRE(::fchown(other.fd(), nobody, nobody) == 0);
        CHECK(kind_of(senders, server, owner) == Kind::stranger);
    }
}

TEST_CASE("how long a socket is believed to be alone") {
    using namespace std::chrono_literals;
    SoleSenders sole;
    const SoleSenders::Clock::time_point now{1h};
    const UdpPeer alice{1, 1}, bob{1, 2};
    const SocketId socket{1, 2, 3}, other{1, 3, 3};
    for (int i = 0; i < SoleSenders::enough; ++i) {
        CHECK_FALSE(sole.find(alice, now));
        sole.add(alice, socket, now);
    }
    REQUIRE(sole.find(alice, now));
    CHECK(*sole.find(alice, now) == socket);
    CHECK_FALSE(sole.find(bob, now));
    CHECK_FALSE(sole.find(alice, now + 1s));
    sole.add(alice, socket, now + 1s);
    CHECK(sole.find(alice, now + 1s));
    sole.add(alice, other, now + 1s);
    CHECK_FALSE(sole.find(alice, now + 1s));
    for (int i = 0; i < SoleSenders::enough; ++i)
        sole.add(alice, other, now);
    CHECK(sole.find(alice, now));
    sole.remove(bob);
    CHECK(sole.find(alice, now));
    sole.remove(alice);
    CHECK_FALSE(sole.find(alice, now));
}

TEST_CASE("the socket of a sender that was refused is found again as long as it is there") {
    if (!can_be_others())
        return;
    SenderLookup senders = lookup();
    const UdpSocket server = own_socket();
    Socket other(SOCK_DGRAM), owner(SOCK_DGRAM);
    REQUIRE(other.bind("127.0.0.1", 0));
    const UdpPeer from = localhost(other.port());
    const auto refused = [&] { return senders.refused(from, server.fd()); };
    CHECK_FALSE(refused());
    REQUIRE(::fchown(other.fd(), nobody, nobody) == 0);
    senders.remember_refused(from, senders.of_datagram(from, server.fd()));
    REQUIRE(refused());
    CHECK(refused()->kind == Kind::stranger);
    CHECK(refused()->uid == nobody);
    CHECK_FALSE(senders.refused({from.address + htonl(1), from.port}, server.fd()));
    SUBCASE("connected") {
        REQUIRE(other.connect(server.port()));
        CHECK(refused());
    }
    SUBCASE("it is given to somebody else") {
        REQUIRE(::fchown(other.fd(), ::geteuid(), ::getegid()) == 0);
        REQUIRE(refused());
        CHECK(refused()->kind == Kind::obeyed);
        CHECK(refused()->own_sockets().size() == 1);
    }
    SUBCASE("closed, and its port is another's") {
        other.close();
        CHECK_FALSE(refused());
        REQUIRE(owner.bind("127.0.0.1", ntohs(from.port)));
        CHECK_FALSE(refused());
        CHECK(kind_of(senders, server, owner) == Kind::obeyed);
    }
}

TEST_CASE("who was refused is obeyed only if all sockets with its port are asked for") {
    if (!can_be_others())
        return;
    ServerSettings settings;
    settings.allow = "user";
    auto admission = Admission::open(settings);
    REQUIRE(admission);
    std::atomic<uint64_t> refused{0};
    admission.value().report_to(refused, [](const std::string&) {});
    UdpSocket server = own_socket();
    Socket sender(SOCK_DGRAM), other(SOCK_DGRAM);
    REQUIRE(sender.bind("127.0.0.1", 0));
    const auto answer = [&] {
        REQUIRE(sender.send(server.port(), message("/status")));
        admission.value().begin_turn();
        return admission.value().admits(*server.receive(), server.fd());
    };
    REQUIRE(::fchown(sender.fd(), nobody, nobody) == 0);
    for (int i = 0; i < 3; ++i)
        CHECK(answer() == Admission::Answer::no);
    REQUIRE(::fchown(sender.fd(), ::geteuid(), ::getegid()) == 0);
    REQUIRE(other.bind("127.0.0.2", sender.port()));
    REQUIRE(::fchown(other.fd(), nobody, nobody) == 0);
    CHECK(answer() == Admission::Answer::no);
    CHECK(refused == 4);
    other.close();
    CHECK(answer() == Admission::Answer::yes);
}

TEST_CASE("whose connection it is") {
    SenderLookup senders = lookup();
    Socket listener(SOCK_STREAM);
    REQUIRE(listener.bind("127.0.0.1", 0));
    REQUIRE(::listen(listener.fd(), 4) == 0);
    const auto accept = [&] { return ::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC); };
    Socket peer(SOCK_STREAM);
    REQUIRE(peer.connect(listener.port()));
    const int connection = accept();
    CHECK(senders.of_connection(connection).kind == Kind::obeyed);
    if (can_be_others()) {
        REQUIRE(::fchown(peer.fd(), nobody, nobody) == 0);
        CHECK(senders.of_connection(connection).kind == Kind::stranger);
    }
    SUBCASE("the peer has closed it") {
        peer.close();
        CHECK(senders.of_connection(connection).kind == Kind::unknown);
    }
    SUBCASE("the peer has reset it, and somebody listens on the same port") {
        const uint16_t port = peer.port();
        const linger reset{1, 0};
        REQUIRE(::setsockopt(peer.fd(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset) == 0);
        peer.close();
        Socket next(SOCK_STREAM);
        next.set(SO_REUSEADDR);
        REQUIRE(next.bind("127.0.0.1", port));
        REQUIRE(::listen(next.fd(), 4) == 0);
        CHECK(senders.of_connection(connection).kind == Kind::unknown);
    }
    ::close(connection);
}

TEST_CASE("one question serves what had arrived before it, also if others have sent in between") {
    ServerSettings settings;
    settings.allow = "user";
    auto admission = Admission::open(settings);
    REQUIRE(admission);
    std::atomic<uint64_t> refused{0};
    admission.value().report_to(refused, [](const std::string&) {});
    UdpSocket server = own_socket();
    Socket sender(SOCK_DGRAM), other(SOCK_DGRAM);
    REQUIRE(sender.bind("127.0.0.1", 0));
    uint16_t beside = 1; // in the last four bits, so that its answer takes another place
    while (!other.bind("127.0.0.1", sender.port() ^ beside))
        REQUIRE(++beside < 16);
    for (const Socket* each : {&sender, &other, &sender, &sender})
        REQUIRE(each->send(server.port(), message("/status")));
    auto first = server.receive(), between = server.receive(), second = server.receive();
    REQUIRE(first);
    REQUIRE(between);
    REQUIRE(second);
    CHECK(second->arrived.tv_sec > 0);
    CHECK(admission.value().admits(*first, server.fd()) == Admission::Answer::yes);
    CHECK(admission.value().admits(*between, server.fd()) == Admission::Answer::yes);
    REQUIRE(sender.send(server.port(), message("/status")));
    sender.close();
    CHECK(admission.value().admits(*second, server.fd()) == Admission::Answer::yes);
    CHECK(admission.value().admits(*server.receive(), server.fd()) == Admission::Answer::yes);
    // came after the question
    CHECK(admission.value().admits(*server.receive(), server.fd()) == Admission::Answer::no);
    admission.value().begin_turn();
    CHECK(admission.value().admits(*second, server.fd()) == Admission::Answer::no);
    CHECK(refused == 2);
}
