// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/world/scope-buffers.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace scs {

/// The segment by which local clients read and write control buses and read scope buffers without messages: a
/// boost.interprocess managed segment with the layout of scsynth's. All of its pages are there from the start, so
/// that touching them neither fails nor waits.
class SharedMemory {
public:
    /// [worker] The segment `folder`/`name` with so many control buses (0 … 2^24), all zero; clients see it only when
    /// it is complete. Replaces one that was left behind. Errors: no such folder, no space, the name is somebody
    /// else's or of a living segment.
    static Result<std::shared_ptr<SharedMemory>> create(const std::string& name, int control_buses,
                                                        const std::string& folder = "/dev/shm");
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    /// [any] Takes the name away. Who has the segment open keeps it.
    void remove() noexcept;
    /// [worker] Buses and scopes as new, for another engine. SIGBUS if somebody made the file shorter.
    void reset() noexcept;

    float* control_buses() noexcept { return control_buses_; }
    ScopeBuffers& scopes() noexcept { return *scopes_; }

private:
    SharedMemory(std::string path, int file, std::byte* memory, size_t bytes, int control_buses);
    void construct(const std::string& name);

    std::string path_;
    int file_; ///< locked as long as it is open: a sign of life
    std::byte* memory_;
    size_t bytes_;
    size_t control_count_;
    float* control_buses_ = nullptr;
    std::unique_ptr<ScopeBuffers> scopes_;
};

} // namespace scs
