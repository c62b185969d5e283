// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

// Proves that code keeps off what a real-time thread may not do. Inside an RtScope each system call but reading
// the clock, each allocation and each lock is recorded, with the address of the code that did it. The program's
// own malloc, pthread_mutex_lock and so on stand before the C library's, so that a plugin's calls come by too.

namespace scs::test {

/// Whether this build can be guarded; if not, `reason` (sanitizers bring their own allocator and need system calls).
bool rt_guard_works(std::string& reason);

/// Lets the kernel trap the calling thread's system calls from now on. Outside of a scope they're carried out.
void guard_thread();

/// While it lives, the thread is a real-time thread.
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

/// A breach that is known and accepted, and why.
struct Allowed {
    std::string what;  ///< as Breach::what
    std::string where; ///< part of Breach::where
    std::string reason;
};

/// What was recorded since the last call and isn't allowed. Never inside a scope.
std::vector<Breach> take_breaches(const std::vector<Allowed>& allowed = {});

} // namespace scs::test
