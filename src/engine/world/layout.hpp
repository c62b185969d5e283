// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <boost/container/vector.hpp>
#include <boost/interprocess/allocators/allocator.hpp>
#include <boost/interprocess/managed_shared_memory.hpp>
#include <boost/interprocess/offset_ptr.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

/// The contents of the segment that sclang opens, as sclang 3.13 sees them. sclang uses them as its own objects, so
/// every offset matters. Clients can write to all of it, so nothing here may decide where the server writes.
namespace scs::shm {

namespace ipc = boost::interprocess;

constexpr int scope_count = 128;
constexpr int region_count = 3;

/// One of the three regions of a scope buffer. The server writes one, the client reads one, and each swaps its own for
/// the third when it is finished with it.
struct ScopeRegion {
    ipc::offset_ptr<float> data;      ///< channel after channel, max_frames each
    uint32_t frames = 0;              ///< how many are filled in each channel
    std::atomic<bool> changed{false}; ///< written and not yet read
};

struct Scope {
    enum Status : int { free = 0, initialized = 1 };

    std::atomic<int> status{free};
    uint32_t max_frames = 0;
    uint32_t channels = 0;
    ipc::offset_ptr<float> data;
    std::atomic<int> stage{0}; ///< index of the region that changes hands
    int writing = 1;           ///< the server's region; not for clients
    int reading = 2;           ///< the client's region
    ScopeRegion regions[region_count];
};

/// The object that is found by the segment's own name.
struct Root {
    using ScopePtr = ipc::offset_ptr<Scope>;
    using Allocator = ipc::allocator<ScopePtr, ipc::managed_shared_memory::segment_manager>;

    explicit Root(ipc::managed_shared_memory::segment_manager* manager) : scopes(Allocator(manager)) {}

    alignas(8) std::byte unused[32] = {}; ///< scsynth has a std::string here
    ipc::offset_ptr<float> control_buses;
    boost::container::vector<ScopePtr, Allocator> scopes;
};

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
static_assert(sizeof(ScopeRegion) == 16 && sizeof(Scope) == 88 && sizeof(Root) == 72);

} // namespace scs::shm
