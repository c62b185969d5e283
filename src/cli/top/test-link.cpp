// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/link.hpp"

#include "cli/top/test-server.hpp"
#include "osc/codec/compose.hpp"
#include "osc/unix-address.hpp"
#include "osc/unix-listener.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace scs;
using namespace scs::top;
using test::Server;

namespace {

using Bytes = std::vector<std::byte>;

Bytes message(std::string_view address) {
    osc::ReplyComposer composer;
    const auto made = composer.compose(address, {});
    return {made.value().begin(), made.value().end()};
}

Bytes framed(const Bytes& packet) {
    Bytes bytes{std::byte(0), std::byte(0), std::byte(packet.size() >> 8), std::byte(packet.size())};
    bytes.insert(bytes.end(), packet.begin(), packet.end());
    return bytes;
}

Bytes read(int fd) {
    Bytes bytes(1000);
    bytes.resize(size_t(std::max<ssize_t>(::recv(fd, bytes.data(), bytes.size(), 0), 0)));
    return bytes;
}

void write(int fd, std::span<const std::byte> bytes) {
    REQUIRE(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == ssize_t(bytes.size()));
}

/// The addresses of what comes next, and "end" if it says so.
std::string receive(Link& link) {
    pollfd polled{link.fd(), POLLIN, 0};
    ::poll(&polled, 1, 5000);
    std::string all;
    if (!link.receive([&](const osc::Message& got) { all += std::string(got.address) + " "; }))
        all += "end";
    return all;
}

} // namespace

TEST_CASE("the Unix socket, if somebody serves it") {
    char folder[] = "/tmp/scs-link-XXXXXX";
    REQUIRE(::mkdtemp(folder));
    const char* const was = std::getenv("XDG_RUNTIME_DIR");
    const std::string before = was ? was : "";
    ::setenv("XDG_RUNTIME_DIR", folder, 1);
    const Server udp(SOCK_DGRAM);
    const auto comes_by_udp = [&](bool with_password) {
        auto opened = Link::open("127.0.0.1", udp.port, false, with_password ? "x" : "");
        REQUIRE(opened);
        pollfd polled{udp.fd.get(), POLLIN, 0};
        const bool sent = opened.value().send(message("/status")) && ::poll(&polled, 1, 100) > 0;
        for (Bytes bytes(1); sent && ::recv(udp.fd.get(), bytes.data(), 1, MSG_DONTWAIT) > 0;) {
        }
        return sent;
    };
    CHECK(comes_by_udp(false));
    const std::string path = osc::usual_socket_path(uint16_t(udp.port));
    {
        auto local = osc::UnixListener::open(path);
        REQUIRE(local);
        CHECK_FALSE(comes_by_udp(false));
        CHECK(comes_by_udp(true));
        auto opened = Link::open("localhost", udp.port, false, "");
        REQUIRE(opened);
        ::close(::accept(local.value().fd(), nullptr, nullptr)); // the one before
        const Descriptor peer(::accept4(local.value().fd(), nullptr, nullptr, SOCK_CLOEXEC));
        REQUIRE(peer.get() >= 0);
        CHECK(opened.value().send(message("/status")));
        CHECK(read(peer.get()) == framed(message("/status")));
        write(peer.get(), framed(message("/a")));
        CHECK(receive(opened.value()) == "/a ");
    }
    CHECK(comes_by_udp(false));
    ::rmdir(folder);
    was ? ::setenv("XDG_RUNTIME_DIR", before.c_str(), 1) : ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_CASE("UDP") {
    const Server server(SOCK_DGRAM);
    auto opened = Link::open("127.0.0.1", server.port, false, "");
    REQUIRE(opened);
    Link& link = opened.value();
    CHECK(link.send(message("/status")));
    Bytes bytes(100);
    sockaddr_in from{};
    socklen_t size = sizeof from;
    bytes.resize(
        size_t(::recvfrom(server.fd.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &size)));
    CHECK(bytes == message("/status"));
    const auto answer = [&](const Bytes& packet) {
        REQUIRE(::sendto(server.fd.get(), packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&from), size) ==
                ssize_t(packet.size()));
    };
    answer(message("/one"));
    CHECK(receive(link) == "/one ");
    answer(Bytes(7)); // no OSC
    CHECK(receive(link) == "");
    answer({});
    CHECK(receive(link) == "");
}

TEST_CASE("TCP: packets are whole again, however they are cut") {
    const Server server(SOCK_STREAM);
    auto opened = Link::open("127.0.0.1", server.port, true, "secret");
    REQUIRE(opened);
    Link& link = opened.value();
    const Descriptor peer = server.accept();
    const auto word = std::as_bytes(std::span(std::string_view("secret")));
    CHECK(read(peer.get()) == framed({word.begin(), word.end()}));
    CHECK(link.send(message("/status")));
    CHECK(read(peer.get()) == framed(message("/status")));

    Bytes two = framed(message("/one"));
    const Bytes second = framed(message("/two"));
    two.insert(two.end(), second.begin(), second.end());
    for (size_t cut = 1; cut < two.size(); ++cut) {
        write(peer.get(), std::span(two).first(cut));
        std::string all = receive(link);
        write(peer.get(), std::span(two).subspan(cut));
        all += receive(link);
        CHECK(all == "/one /two ");
    }
    write(peer.get(), two);
    ::shutdown(peer.get(), SHUT_WR);
    CHECK(receive(link) == "/one /two end");
}

TEST_CASE("TCP: what can't be a packet ends it") {
    const Server server(SOCK_STREAM);
    auto opened = Link::open("127.0.0.1", server.port, true, "");
    REQUIRE(opened);
    const Descriptor peer = server.accept();
    write(peer.get(), std::as_bytes(std::span(std::string_view("HTTP/1.1 400 Bad Request"))));
    CHECK(receive(opened.value()) == "end");
}

TEST_CASE("one turn reads so much only") {
    const Server server(SOCK_DGRAM);
    auto opened = Link::open("127.0.0.1", server.port, false, "");
    REQUIRE(opened);
    sockaddr_in from{};
    socklen_t size = sizeof from;
    REQUIRE(::getsockname(opened.value().fd(), reinterpret_cast<sockaddr*>(&from), &size) == 0);
    const Bytes packet = message("/a");
    for (int i = 0; i < 100; ++i)
        REQUIRE(::sendto(server.fd.get(), packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&from), size) ==
                ssize_t(packet.size()));
    CHECK(receive(opened.value()).size() == 64 * 3);
    CHECK(receive(opened.value()).size() == 36 * 3);
}

TEST_CASE("a host that drops what asks for a connection") {
    const test::Deaf deaf;
    auto begun = Link::begin("127.0.0.1", deaf.port(), true, "secret");
    REQUIRE(begun);
    CHECK(begun.value().is_connecting());
    CHECK(begun.value().events() == POLLOUT);
    const auto opened = Link::open("127.0.0.1", deaf.port(), true, "secret");
    REQUIRE_FALSE(opened);
    CHECK(opened.error() == "Connection timed out");
}

TEST_CASE("where nobody is") {
    int port = 0;
    {
        const Server server(SOCK_STREAM);
        port = server.port;
    }
    const auto opened = Link::open("127.0.0.1", port, true, "");
    REQUIRE_FALSE(opened);
    CHECK(opened.error() == "Connection refused");
    CHECK_FALSE(Link::open("nowhere", 57110, false, ""));
    auto udp = Link::open("127.0.0.1", port, false, "");
    REQUIRE(udp);
    CHECK(udp.value().send(message("/status")));
    CHECK(receive(udp.value()) == "end");
}
