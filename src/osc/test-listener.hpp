// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace scs::osc::testing {

/// Stands in for the program that a PrintSocket connects to.
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
        const timeval longest{10, 0};
        ::setsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
    }
    ~Listener() {
        leave();
        ::close(listening);
        std::filesystem::remove_all(std::filesystem::path(path).parent_path());
    }
    /// Waits for 10 s at most.
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
            all.append(part, 0, size_t(n));
        return all;
    }

    std::string path;
    int listening = -1, connection = -1;
};

} // namespace scs::osc::testing
