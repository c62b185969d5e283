// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <sys/resource.h>

namespace scs {

/// Whether a descriptor that was just opened leaves enough for the rest of the process: numbers are given from the
/// lowest. A daemon without any can't accept clients, and tries all the time. [any]
inline bool leaves_descriptors(int fd) noexcept {
    constexpr rlim_t reserve = 256;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    return rlim_t(fd) < limit.rlim_cur - std::min(reserve, limit.rlim_cur / 4);
}

} // namespace scs
