// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace scs {

// What ends the whole process is said on standard error, and a file with the same line is left at each CrashMarker's
// path. These functions are async-signal-safe. [any]

/// The heap is corrupted. `found`: what the C library has printed.
void report_heap_corruption(std::string_view found) noexcept;
/// A plugin's code has called exit().
void report_exit() noexcept;
/// Code that runs under no guard has crashed on this thread.
void report_crash(int signal) noexcept;

/// A file that is written, if it isn't there, when the process ends by what is reported: a sign for the next run to be
/// careful. The file's folder must exist. [any but rt]
class CrashMarker {
public:
    /// An empty path, one of more than 500 bytes, or one of more than 32 at once: nothing is written.
    explicit CrashMarker(std::string_view path) noexcept;
    ~CrashMarker();
    CrashMarker(const CrashMarker&) = delete;
    CrashMarker& operator=(const CrashMarker&) = delete;

private:
    int slot_ = -1;
};

} // namespace scs
