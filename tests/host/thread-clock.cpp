// SPDX-License-Identifier: GPL-3.0-or-later
#include "thread-clock.hpp"

#include <atomic>
#include <ctime>
#include <dlfcn.h>

namespace {

using Function = int(clockid_t, timespec*);

constexpr int64_t second = 1'000'000'000;

int system_clock(clockid_t clock, timespec* now) noexcept {
    static std::atomic<Function*> real{nullptr};
    Function* found = real.load(std::memory_order_relaxed);
    if (!found) {
        found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "clock_gettime"));
        real.store(found, std::memory_order_relaxed);
    }
    return found(clock, now);
}

int64_t read(clockid_t clock) noexcept {
    timespec now;
    system_clock(clock, &now);
    return int64_t(now.tv_sec) * second + now.tv_nsec;
}

struct Origin {
    bool on = false;
    int64_t thread = 0, monotonic = 0, realtime = 0;
};
// initial-exec: the variable is in the executable itself, so that reading it needs no allocation.
thread_local Origin origin __attribute__((tls_model("initial-exec")));

} // namespace

namespace scs::test {

ThreadClock::ThreadClock() noexcept {
    origin = {true, read(CLOCK_THREAD_CPUTIME_ID), read(CLOCK_MONOTONIC), read(CLOCK_REALTIME)};
}

ThreadClock::~ThreadClock() {
    origin.on = false;
}

int64_t ThreadClock::spent() const noexcept {
    return read(CLOCK_THREAD_CPUTIME_ID) - origin.thread;
}

} // namespace scs::test

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* now) noexcept {
    if (!origin.on || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME))
        return system_clock(clock, now);
    const int64_t start = clock == CLOCK_MONOTONIC ? origin.monotonic : origin.realtime;
    const int64_t nsec = start + read(CLOCK_THREAD_CPUTIME_ID) - origin.thread;
    *now = {time_t(nsec / second), long(nsec % second)};
    return 0;
}
