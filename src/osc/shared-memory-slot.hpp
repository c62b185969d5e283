// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/world/shared-memory.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace scs::osc {

/// The server's segment for clients on the same machine. It stays the same one when an engine is replaced, so that
/// clients that have it open see the new engine. [any]
class SharedMemorySlot {
public:
    /// [worker] The segment of this port, zeroed, for the next engine. Null after close(), or if there can be none:
    /// then `warn` is called.
    std::shared_ptr<SharedMemory> open(uint16_t port, int control_buses,
                                       const std::function<void(const std::string&)>& warn);
    /// Removes the segment. To be called before the port is closed: after that the name belongs to the next server.
    void close();

private:
    std::mutex mutex_;
    bool closed_ = false;
    std::shared_ptr<SharedMemory> memory_;
};

} // namespace scs::osc
