// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace scs {

/// Whether enough descriptors are left after `fd`, which was just opened; the kernel gives the lowest free number. A
/// daemon that has none left can't accept clients, and keeps trying. [any]
inline bool leaves_descriptors(int fd) noexcept {
    constexpr rlim_t reserve = 256;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    return rlim_t(fd) < limit.rlim_cur - std::min(reserve, limit.rlim_cur / 4);
}

/// A descriptor that is closed in the end; -1: none. [any but rt]
class Descriptor {
public:
    explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(other.take()) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() {
        if (fd_ >= 0)
            ::close(fd_);
    }
    int get() const noexcept { return fd_; }
    int take() noexcept { return std::exchange(fd_, -1); }

private:
    int fd_;
};

} // namespace scs
