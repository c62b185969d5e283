// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

namespace scs {

/// Whether this many bytes can be allocated without swapping, with enough left for everybody else. To be asked because
/// the kernel promises more memory than it has, and kills the daemon when that is used. true if the kernel doesn't say.
/// [worker]
inline bool leaves_memory(int64_t bytes) {
    constexpr int64_t reserve = 256 << 20;
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("MemAvailable:"))
            return bytes <= std::strtoll(line.c_str() + line.find(':') + 1, nullptr, 10) * 1024 - reserve;
    return true;
}

} // namespace scs
