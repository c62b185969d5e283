// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/deadline.hpp"

#include <time.h>

namespace scs {

NanoClock NanoClock::system() noexcept {
    return {[](void*) noexcept SCS_NONBLOCKING {
        timespec now;
        SCS_UNPROVEN_BEGIN // Linux answers it without a system call
        clock_gettime(CLOCK_MONOTONIC, &now);
        SCS_UNPROVEN_END
        return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
    }};
}

} // namespace scs
