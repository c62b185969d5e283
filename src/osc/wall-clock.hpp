// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/ntp-time.hpp"

#include <time.h>

namespace scs::osc {

/// [any] The time that bundles' time tags are compared with.
inline NtpTime wall_clock() noexcept {
    timespec now;
    ::clock_gettime(CLOCK_REALTIME, &now);
    return ntp_from_unix(now.tv_sec, uint32_t(now.tv_nsec));
}

} // namespace scs::osc
