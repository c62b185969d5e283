// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/descriptors.hpp"

#include <csignal>
#include <span>
#include <sys/signalfd.h>
#include <unistd.h>

namespace scs::top {

/// Signals come through a descriptor, in turn with all else, so that the terminal is in order before the end.
class Signals {
public:
    explicit Signals(std::span<const int> numbers) {
        sigset_t set;
        sigemptyset(&set);
        for (const int number : numbers)
            sigaddset(&set, number);
        sigprocmask(SIG_BLOCK, &set, &former_);
        fd_ = Descriptor(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
    }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    ~Signals() { sigprocmask(SIG_SETMASK, &former_, nullptr); }

    int fd() const { return fd_.get(); }
    /// 0: none is left.
    int next() const {
        signalfd_siginfo info;
        return ::read(fd(), &info, sizeof info) == ssize_t(sizeof info) ? int(info.ssi_signo) : 0;
    }

private:
    sigset_t former_{};
    Descriptor fd_;
};

} // namespace scs::top
