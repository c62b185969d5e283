// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace scs::test {

/// While it lives, the clocks that the calling thread reads stand still whenever that thread doesn't run, so that what
/// else the machine does changes nothing: the test program's clock_gettime() takes precedence over the C library's.
class ThreadClock {
public:
    ThreadClock() noexcept;
    ~ThreadClock();
    ThreadClock(const ThreadClock&) = delete;
    ThreadClock& operator=(const ThreadClock&) = delete;

    /// Processor time of the thread since the clock was made, ns.
    int64_t spent() const noexcept;
};

} // namespace scs::test
