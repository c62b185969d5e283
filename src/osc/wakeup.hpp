// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>

namespace scs::osc {

/// Wakes a thread that polls its fd(). Not for the data loop to ring: that is a system call.
class Wakeup {
public:
    Wakeup() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
    ~Wakeup() { ::close(fd_); }
    Wakeup(const Wakeup&) = delete;
    Wakeup& operator=(const Wakeup&) = delete;

    int fd() const noexcept { return fd_; }
    void ring() noexcept {
        const uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);
    }
    void clear() noexcept {
        uint64_t count;
        [[maybe_unused]] const auto read = ::read(fd_, &count, sizeof count);
    }

private:
    int fd_;
};

} // namespace scs::osc
