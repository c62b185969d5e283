// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/watch.hpp"

#include "cli/top/test-server.hpp"
#include "osc/codec/compose.hpp"

#include <doctest/doctest.h>

#include <array>
#include <poll.h>
#include <string_view>

using namespace scs;
using namespace scs::top;
using News = Watch::News;
using std::chrono::seconds;

namespace {

ServerOptions at(int port, bool tcp) {
    ServerOptions options;
    options.port = port;
    options.tcp = tcp;
    return options;
}

bool wait(const Watch& watch) {
    pollfd polled{watch.fd(), watch.events(), 0};
    return ::poll(&polled, 1, 5000) > 0;
}

/// Answers a query that has come with its first page, without any node.
void answer(const test::Server& server, bool is_last) {
    std::array<std::byte, 1000> bytes;
    sockaddr_in from{};
    socklen_t size = sizeof from;
    REQUIRE(::recvfrom(server.fd.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &size) > 0);
    std::vector<osc::ReplyArg> args{int32_t(0), int32_t(0), int32_t(0), int32_t(64), 48000.0, 12.5f, 20.f, 70.f};
    args.insert(args.end(), 7, int32_t(1));
    if (!is_last)
        args.insert(args.end(), {std::string_view("next"), int32_t(0), int32_t(0)});
    osc::ReplyComposer composer;
    const auto packet = composer.compose("/g_queryCost.reply", args);
    REQUIRE(packet);
    const auto& sent = packet.value();
    REQUIRE(::sendto(server.fd.get(), sent.data(), sent.size(), 0, reinterpret_cast<sockaddr*>(&from), size) ==
            ssize_t(sent.size()));
}

} // namespace

TEST_CASE("a server is asked, page by page") {
    const test::Server server(SOCK_DGRAM);
    Watch watch(at(server.port, false), 1);
    CHECK(watch.fd() == -1);
    CHECK(watch.go_on() == News::none);
    for (const bool is_last : {false, true}) {
        answer(server, is_last);
        REQUIRE(wait(watch));
        CHECK(watch.receive() == (is_last ? News::sample : News::none));
    }
    CHECK(watch.sample().server.load == 12.5);
    CHECK(watch.due() > Watch::Clock::now());
    watch.hurry();
    CHECK(watch.due() <= Watch::Clock::now());
}

TEST_CASE("a server that tells too long is given up") {
    const test::Server server(SOCK_DGRAM);
    Watch watch(at(server.port, false), 1, seconds(0));
    CHECK(watch.go_on() == News::none);
    answer(server, false);
    REQUIRE(wait(watch));
    CHECK(watch.receive() == News::refused);
    CHECK(watch.why() == "the server took more than 0 s to tell its tree");
    CHECK(watch.fd() == -1);
}

TEST_CASE("a connection is waited for elsewhere, and then the server is asked") {
    const test::Server server(SOCK_STREAM);
    Watch watch(at(server.port, true), 1);
    CHECK(watch.go_on() == News::none);
    const Descriptor peer = server.accept();
    if (watch.events() == POLLOUT) {
        REQUIRE(wait(watch));
        CHECK(watch.receive() == News::none);
    }
    CHECK(watch.events() == POLLIN);
    std::array<std::byte, 100> bytes;
    CHECK(::recv(peer.get(), bytes.data(), bytes.size(), 0) > 0);
}

TEST_CASE("a host that drops what asks for a connection is waited for elsewhere, too") {
    const test::Deaf deaf;
    Watch watch(at(deaf.port(), true), 1);
    CHECK(watch.go_on() == News::none);
    CHECK(watch.events() == POLLOUT);
    const auto due = watch.due();
    CHECK(due > Watch::Clock::now());
    watch.hurry(); // it is under way
    CHECK(watch.due() == due);
    CHECK(watch.go_on() == News::lost); // as if that time had come
    CHECK(watch.why() == "no server at 127.0.0.1:" + std::to_string(deaf.port()) + " (Connection timed out)");
}
