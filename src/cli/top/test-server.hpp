// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/descriptors.hpp"
#include "osc/socket-address.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <sys/socket.h>
#include <vector>

namespace scs::test {

/// A socket at a free port, which listens if it is one of TCP.
struct Server {
    explicit Server(int type) : fd(::socket(AF_INET, type, 0)) {
        sockaddr_in name = osc::to_sockaddr("127.0.0.1", 0).value();
        socklen_t size = sizeof name;
        REQUIRE(::bind(fd.get(), reinterpret_cast<sockaddr*>(&name), size) == 0);
        REQUIRE(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &size) == 0);
        port = ntohs(name.sin_port);
        if (type == SOCK_STREAM)
            REQUIRE(::listen(fd.get(), 1) == 0);
    }
    Descriptor accept() const { return Descriptor(::accept(fd.get(), nullptr, nullptr)); }

    Descriptor fd;
    int port = 0;
};

/// A port of TCP that answers no more than a dead host would: as many wait there already as it has room for.
class Deaf {
public:
    Deaf() {
        const sockaddr_in name = osc::to_sockaddr("127.0.0.1", uint16_t(port())).value();
        for (int error = 0; error != EINPROGRESS;) {
            REQUIRE(waiting_.size() < 10);
            // On loopback a connection is made at once where there is room.
            waiting_.emplace_back(::socket(AF_INET, SOCK_STREAM, 0));
            const timeval time{0, 100'000};
            ::setsockopt(waiting_.back().get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
            const int fd = waiting_.back().get();
            error = ::connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 ? 0 : errno;
        }
    }
    int port() const { return server_.port; }

private:
    const Server server_{SOCK_STREAM};
    std::vector<Descriptor> waiting_;
};

} // namespace scs::test
