// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <sys/resource.h>

namespace scs {

/// Whether enough descriptors are left after `fd`, which was just opened; the kernel gives the lowest free number. A
/// daemon that has none left can't accept clients, and keeps trying. [any]
inline bool leaves_descriptors(int fd) noexcept {
    constexpr rlim_t reserve = 256;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    return rlim_t(fd) < limit.rlim_cur - std::min(reserve, limit.rlim_cur / 4);
}

} // namespace scs
