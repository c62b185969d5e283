// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <doctest/doctest.h>

#include <fcntl.h>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

namespace scs::osc::testing {

/// A process that becomes something else first (another user, one in a sandbox), then does `action`, and waits for its
/// end.
class Child {
public:
    Child(const std::function<bool()>& enter, const std::function<bool()>& action) {
        int done[2];
        REQUIRE(::pipe2(end_, O_CLOEXEC) == 0);
        REQUIRE(::pipe2(done, O_CLOEXEC) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            ::close(end_[1]);
            char byte = !enter() ? 2 : action();
            static_cast<void>(!::write(done[1], &byte, 1));
            static_cast<void>(!::read(end_[0], &byte, 1));
            ::_exit(0);
        }
        ::close(done[1]);
        char result = 0;
        REQUIRE(::read(done[0], &result, 1) == 1);
        ::close(done[0]);
        entered = result != 2;
        succeeded = result == 1;
    }
    ~Child() {
        ::close(end_[1]);
        ::close(end_[0]);
        ::waitpid(pid_, nullptr, 0);
    }
    pid_t pid() const { return pid_; }

    bool entered = false, succeeded = false;

private:
    int end_[2];
    pid_t pid_ = -1;
};

} // namespace scs::osc::testing
