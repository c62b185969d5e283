// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/print-socket.hpp"

#include "osc/server.hpp"
#include "osc/test-listener.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace scs;
using osc::PrintSocket;
using osc::testing::Listener;

namespace {

/// A path on a mount that doesn't answer: connect() there waits until it is released, or ten seconds.
constexpr const char* dead_path = "/dead/mount";
enum class At { nowhere, waiting, gone_on };
std::atomic<At> at_dead_path{At::nowhere};
std::atomic<bool> released{false};

template <class Condition>
bool wait_for(Condition condition, int seconds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (!condition() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return condition();
}

} // namespace

#pragma GCC visibility push(default)
extern "C" int connect(int fd, const sockaddr* name, socklen_t size) {
    if (name->sa_family == AF_UNIX && std::string(reinterpret_cast<const sockaddr_un*>(name)->sun_path) == dead_path) {
        at_dead_path = At::waiting;
        wait_for([] { return released.load(); }, 10);
        at_dead_path = At::gone_on;
        errno = EHOSTDOWN;
        return -1;
    }
    return int(::syscall(SYS_connect, fd, name, size));
}
#pragma GCC visibility pop

TEST_CASE("lines come as they were printed") {
    Listener listener;
    auto opened = PrintSocket::open(listener.path);
    REQUIRE(opened);
    PrintSocket socket = std::move(opened.value());
    listener.accept();
    CHECK(socket.print("one"));
    CHECK(socket.print(""));
    const std::string large(100'000, 'x');
    CHECK(socket.print(large));
    CHECK(listener.read() == "one\n\n" + large + "\n");
}

TEST_CASE("who doesn't read loses lines and is told how many") {
    Listener listener;
    PrintSocket socket = std::move(PrintSocket::open(listener.path).value());
    listener.accept();
    const int sent = 100'000;
    for (int i = 0; i < sent; ++i)
        REQUIRE(socket.print("line"));
    const std::string first = listener.read();
    const size_t kept = first.size() / 5;
    CHECK(kept > 10);
    REQUIRE(kept < size_t(sent));
    CHECK(socket.print("again"));
    CHECK(listener.read() == "... " + std::to_string(size_t(sent) - kept) + " lines are lost ...\nagain\n");
    CHECK(socket.print("on"));
    CHECK(listener.read() == "on\n");
}

TEST_CASE("nobody there") {
    CHECK_FALSE(PrintSocket().print("one"));
    const auto none = PrintSocket::open("/nowhere/s");
    REQUIRE_FALSE(none);
    CHECK(none.error() == "cannot print to /nowhere/s: No such file or directory");
    CHECK_FALSE(PrintSocket::open(std::string(200, 'x')));

    Listener listener;
    PrintSocket socket = std::move(PrintSocket::open(listener.path).value());
    listener.accept();
    CHECK(socket.print("one"));
    listener.leave();
    CHECK_FALSE(socket.print("two"));
    CHECK_FALSE(socket.print("three"));
}

TEST_CASE("a path that doesn't answer holds up neither the start nor the end of a server") {
    const auto alive = std::make_shared<int>();
    osc::ServerSettings settings;
    settings.port = 0;
    settings.load_synthdefs = false;
    settings.print_to = dead_path;
    settings.state = [alive](const std::string&) {};
    auto server = osc::Server::start(std::move(settings));
    REQUIRE(server);
    CHECK(wait_for([] { return at_dead_path != At::nowhere; }, 10));
    server.value().reset();
    CHECK(at_dead_path == At::waiting);
    released = true;
    CHECK(wait_for([&] { return alive.use_count() == 1; }, 60)); // the worker that was left behind
}
