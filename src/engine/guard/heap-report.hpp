// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace scs {

/// Says on standard error that the heap is corrupted and which UGen was running, and leaves a file at each HeapMarker's
/// path. The process can't go on after that. Async-signal-safe. [any]
void report_heap_corruption(std::string_view found) noexcept;

/// A file that is written, if it isn't there, when the process ends because its heap is corrupted: a sign for the next
/// run to be careful. The file's folder must exist. [any but rt]
class HeapMarker {
public:
    /// An empty path, one of more than 500 bytes, or one of more than 32 at once: nothing is written.
    explicit HeapMarker(std::string_view path) noexcept;
    ~HeapMarker();
    HeapMarker(const HeapMarker&) = delete;
    HeapMarker& operator=(const HeapMarker&) = delete;

private:
    int slot_ = -1;
};

} // namespace scs
