// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

// Checks that code does nothing that a real-time thread must not do. In an RtScope every allocation, every lock, and
// every system call except reading the clock is recorded, with the address of the code that did it. The program's own
// malloc, pthread_mutex_lock and so on take precedence over the C library's, so that calls from plugins are seen, too.

namespace scs::test {

/// Whether this build can be guarded; if not, `reason` says why. (Sanitizers have their own allocator and need system
/// calls.)
bool rt_guard_works(std::string& reason);

/// From now on the kernel traps the calling thread's system calls. Outside of a scope they are carried out.
void guard_thread();

/// While it lives, the thread counts as a real-time thread.
class RtScope {
public:
    RtScope() noexcept;
    ~RtScope();
    RtScope(const RtScope&) = delete;
    RtScope& operator=(const RtScope&) = delete;
};

/// A breach: "malloc at libfoo.so+0x1234", "system call 1 (write) at …".
struct Breach {
    std::string what;  ///< "malloc", "pthread_mutex_lock", "system call 202"
    std::string where; ///< library, and the function's name if it's known
};

/// A breach that is known and accepted, with the reason.
struct Allowed {
    std::string what;  ///< as Breach::what
    std::string where; ///< part of Breach::where
    std::string reason;
};

/// What was recorded since the last call and isn't allowed. Not to be called inside a scope.
std::vector<Breach> take_breaches(const std::vector<Allowed>& allowed = {});

} // namespace scs::test
