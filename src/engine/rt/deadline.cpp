// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/deadline.hpp"

#include <time.h>

namespace scs {

NanoClock NanoClock::system() noexcept {
    return {[](void*) {
        timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
    }};
}

} // namespace scs
