// SPDX-License-Identifier: GPL-3.0-or-later
#include "scripted-clock.hpp"

#include <atomic>
#include <ctime>
#include <dlfcn.h>

namespace {

struct Script {
    bool on = false;
    uint64_t monotonic = 0, realtime = 0;
};
// initial-exec: the variable is in the executable itself, so that reading it needs no allocation.
thread_local Script script __attribute__((tls_model("initial-exec")));

using Function = int(clockid_t, timespec*);
std::atomic<Function*> real{nullptr};

} // namespace

namespace scs::test {

ScriptedClock::ScriptedClock(uint64_t monotonic_nsec, uint64_t realtime_nsec) noexcept {
    script = {true, monotonic_nsec, realtime_nsec};
}

ScriptedClock::~ScriptedClock() {
    script.on = false;
}

} // namespace scs::test

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* now) noexcept {
    if (script.on && (clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME)) {
        const uint64_t nsec = clock == CLOCK_MONOTONIC ? script.monotonic : script.realtime;
        *now = {time_t(nsec / 1'000'000'000), long(nsec % 1'000'000'000)};
        return 0;
    }
    Function* found = real.load(std::memory_order_relaxed);
    if (!found) {
        found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "clock_gettime"));
        real.store(found, std::memory_order_relaxed);
    }
    return found(clock, now);
}
