// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/world/layout.hpp"

#include <stdexcept>
#include <string>

// A client's side of the shared memory as in sclang, for tests.
namespace scs::test {

class ShmReader {
public:
    /// Opens the segment. Throws if it isn't a server's.
    explicit ShmReader(const std::string& name)
        : segment_(shm::ipc::open_only, name.c_str()), root_(segment_.find<shm::Root>(name.c_str()).first) {
        if (!root_)
            throw std::runtime_error("no such object in " + name);
    }

    shm::Root& root() { return *root_; }
    float* control_buses() { return root_->control_buses.get(); }
    shm::Scope& scope(size_t index) { return *root_->scopes[index]; }
    std::byte* memory() { return static_cast<std::byte*>(segment_.get_address()); }
    size_t bytes() const { return segment_.get_size(); }

    static bool valid(const shm::Scope& scope) {
        return scope.status.load(std::memory_order_acquire) != shm::Scope::free;
    }
    /// Takes the newest frames if there are new ones. Returns how many.
    static uint32_t pull(shm::Scope& scope) {
        const int stage = scope.stage.load(std::memory_order_relaxed);
        if (scope.regions[stage].changed.load(std::memory_order_relaxed)) {
            scope.regions[scope.reading].changed.store(false, std::memory_order_relaxed);
            scope.reading = scope.stage.exchange(scope.reading, std::memory_order_acq_rel);
        }
        return scope.regions[scope.reading].frames;
    }
    static const float* data(const shm::Scope& scope) { return scope.regions[scope.reading].data.get(); }

private:
    shm::ipc::managed_shared_memory segment_;
    shm::Root* root_;
};

} // namespace scs::test
