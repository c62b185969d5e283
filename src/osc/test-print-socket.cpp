// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/print-socket.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace scs;
using osc::PrintSocket;

namespace {

/// Somebody who listens at a path.
struct Listener {
    Listener() {
        char folder[] = "/tmp/print-socket-XXXXXX";
        REQUIRE(::mkdtemp(folder));
        path = std::string(folder) + "/s";
        listening = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        path.copy(name.sun_path, path.size());
        REQUIRE(::bind(listening, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0);
        REQUIRE(::listen(listening, 1) == 0);
    }
    ~Listener() {
        leave();
        ::close(listening);
        std::filesystem::remove_all(std::filesystem::path(path).parent_path());
    }
    void accept() { connection = ::accept(listening, nullptr, nullptr); }
    void leave() {
        if (connection >= 0)
            ::close(connection);
        connection = -1;
    }
    /// All that has come.
    std::string read() const {
        std::string all, part(65536, '\0');
        for (ssize_t n; (n = ::recv(connection, part.data(), part.size(), MSG_DONTWAIT)) > 0;)
            all.append(part, 0, std::size_t(n));
        return all;
    }

    std::string path;
    int listening = -1, connection = -1;
};

} // namespace

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
