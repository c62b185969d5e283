// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/print-socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace scs::osc {

constexpr size_t most_at_once = 32768; // a record must fit the socket's buffer

Result<PrintSocket> PrintSocket::open(const std::string& path) {
    const auto failed = [&](int error) { return Error{"cannot print to " + path + ": " + std::strerror(error)}; };
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    if (path.size() >= sizeof name.sun_path)
        return failed(ENAMETOOLONG);
    path.copy(name.sun_path, path.size());
    PrintSocket socket;
    socket.fd_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket.fd_ < 0 || ::connect(socket.fd_, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
        return failed(errno);
    return socket;
}

PrintSocket::PrintSocket(PrintSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)), lost_(other.lost_) {}

PrintSocket& PrintSocket::operator=(PrintSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(lost_, other.lost_);
    return *this;
}

PrintSocket::~PrintSocket() {
    if (fd_ >= 0)
        ::close(fd_);
}

/// False: there was no room; or the other side is gone, then the socket is closed.
bool PrintSocket::send(std::string_view text) {
    if (::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) >= 0)
        return true;
    if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS)
        *this = PrintSocket();
    return false;
}

bool PrintSocket::print(std::string_view line) {
    if (fd_ < 0)
        return false;
    std::string text = lost_ > 0 ? "... " + std::to_string(lost_) + " lines are lost ...\n" : std::string();
    text += line;
    text += '\n';
    for (size_t at = 0; at < text.size(); at += most_at_once)
        if (!send(std::string_view(text).substr(at, most_at_once))) {
            ++lost_;
            return fd_ >= 0;
        }
    lost_ = 0;
    return true;
}

} // namespace scs::osc
