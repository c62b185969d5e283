// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/unix-listener.hpp"

#include "osc/unix-address.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace scs::osc {

namespace {

constexpr int most_waiting = 64;
constexpr int most_tries = 8; ///< for a lock whose file is removed by its last owner just then

} // namespace

Result<UnixListener> UnixListener::open(const std::string& path) {
    UnixListener result;
    result.path_ = path;
    if (path.size() > longest_path)
        return result.failed("its path is too long, 107 bytes at most");
    if (!result.lock())
        return result.failed(errno == EWOULDBLOCK ? "another server has it" : nullptr);
    if (const char* why = result.remove_stale())
        return result.failed(*why ? why : nullptr);
    result.socket_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (result.fd() < 0 || !result.bind() || ::listen(result.fd(), most_waiting) != 0)
        return result.failed();
    return result;
}

UnixListener::UnixListener(UnixListener&& other) noexcept {
    *this = std::move(other);
}

UnixListener& UnixListener::operator=(UnixListener&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(socket_, other.socket_);
    std::swap(lock_, other.lock_);
    std::swap(bound_, other.bound_);
    return *this;
}

/// Whoever has the lock is alone with both files.
UnixListener::~UnixListener() {
    if (bound_)
        ::unlink(path_.c_str());
    if (lock_.get() >= 0)
        ::unlink((path_ + ".lock").c_str());
}

Error UnixListener::failed(const char* why) const {
    return Error{"the Unix socket " + path_ + " cannot be opened: " + (why ? why : std::strerror(errno))};
}

bool UnixListener::lock() {
    const std::string path = path_ + ".lock";
    for (int tries = 0; tries < most_tries; ++tries) {
        Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (file.get() < 0 || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
            return false;
        struct stat locked, there;
        if (::fstat(file.get(), &locked) != 0)
            return false;
        if (::lstat(path.c_str(), &there) == 0 && locked.st_ino == there.st_ino && locked.st_dev == there.st_dev) {
            lock_ = std::move(file);
            return true;
        }
    }
    errno = EWOULDBLOCK;
    return false;
}

const char* UnixListener::remove_stale() const {
    struct stat status;
    if (::lstat(path_.c_str(), &status) != 0)
        return errno == ENOENT ? nullptr : "";
    if (S_ISLNK(status.st_mode))
        return "there is a link in its place";
    if (!S_ISSOCK(status.st_mode))
        return "there is a file in its place";
    if (status.st_uid != ::geteuid())
        return "there is another user's socket in its place";
    const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const sockaddr_un name = unix_address(path_);
    if (probe.get() < 0)
        return "";
    if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 || errno != ECONNREFUSED)
        return "another program serves it";
    return ::unlink(path_.c_str()) == 0 || errno == ENOENT ? nullptr : "";
}

/// The file gets the mode that the socket has before.
bool UnixListener::bind() {
    const sockaddr_un name = unix_address(path_);
    bound_ = ::fchmod(fd(), 0600) == 0 && ::bind(fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
    return bound_;
}

} // namespace scs::osc
