// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/shared-memory-slot.hpp"

#include "engine/guard/fault-guard.hpp"

namespace scs::osc {

std::shared_ptr<SharedMemory> SharedMemorySlot::open(uint16_t port, int control_buses,
                                                     const std::function<void(const std::string&)>& warn) {
    const std::lock_guard lock(mutex_);
    // A client may have made the file shorter: then touching it is a fault.
    if (memory_ && !FaultGuard::run_host([this] { memory_->reset(); })) {
        memory_->remove();
        memory_.reset();
    }
    if (!memory_ && !closed_) {
        const std::string name = "SuperColliderServer_"; // which sclang looks for
        SharedMemory::remove_abandoned(name);
        auto made = SharedMemory::create(name + std::to_string(port), control_buses);
        if (made)
            memory_ = std::move(made.value());
        else
            warn(made.error());
    }
    return memory_;
}

void SharedMemorySlot::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (memory_)
        memory_->remove();
    memory_.reset();
}

} // namespace scs::osc
