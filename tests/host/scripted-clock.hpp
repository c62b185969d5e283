// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace scs::test {

/// While it lives, all code on the calling thread reads these times from the clocks: the test program's clock_gettime()
/// takes precedence over the C library's.
class ScriptedClock {
public:
    ScriptedClock(uint64_t monotonic_nsec, uint64_t realtime_nsec) noexcept;
    ~ScriptedClock();
    ScriptedClock(const ScriptedClock&) = delete;
    ScriptedClock& operator=(const ScriptedClock&) = delete;
};

} // namespace scs::test
