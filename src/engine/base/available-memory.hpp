// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

namespace scs {

/// How many bytes can be allocated without swapping, with enough left for everybody else; negative if that is less. To
/// be asked because the kernel promises more memory than it has, and kills the daemon when that is used. The largest
/// number if the kernel doesn't say. [worker]
inline int64_t spare_memory() {
    constexpr int64_t reserve = 256 << 20;
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("MemAvailable:"))
            return std::strtoll(line.c_str() + line.find(':') + 1, nullptr, 10) * 1024 - reserve;
    return std::numeric_limits<int64_t>::max();
}

/// Whether there are as many. [worker]
inline bool leaves_memory(int64_t bytes) {
    return bytes <= spare_memory();
}

} // namespace scs
