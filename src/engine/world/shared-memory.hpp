// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/world/scope-buffers.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace scs {

/// The segment through which local clients read and write control buses, and read scope buffers, without messages: a
/// managed segment of boost.interprocess with scsynth's layout. All its pages are present from the start, so that
/// touching them neither fails nor waits.
class SharedMemory {
public:
    /// [worker] Makes the segment `folder`/`name` with this many control buses (0 … 2^24), all zero. Clients see it
    /// only when it is complete. Replaces a segment that was left behind. Errors: no such folder, no space, the name
    /// belongs to somebody else or to a living segment.
    static Result<std::shared_ptr<SharedMemory>> create(const std::string& name, int control_buses,
                                                        const std::string& folder = "/dev/shm");
    /// [worker] Removes the segments named `name` and a number that killed servers of this program and this user have
    /// left: nobody has locked them any more. Never those of other programs, scsynth's among them, which lock nothing.
    static void remove_abandoned(const std::string& name, const std::string& folder = "/dev/shm") noexcept;
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    /// [any] Removes the name. Processes that have the segment open keep it.
    void remove() noexcept;
    /// [worker] Resets buses and scopes for another engine. SIGBUS if somebody has truncated the file.
    void reset() noexcept;

    float* control_buses() noexcept { return control_buses_; }
    ScopeBuffers& scopes() noexcept { return *scopes_; }

private:
    SharedMemory(std::string path, int file, std::byte* memory, size_t bytes, int control_buses);
    void construct(const std::string& name);

    std::string path_;
    int file_; ///< locked as long as it is open, which shows that the server lives
    std::byte* memory_;
    size_t bytes_;
    size_t control_count_;
    float* control_buses_ = nullptr;
    std::unique_ptr<ScopeBuffers> scopes_;
};

} // namespace scs
