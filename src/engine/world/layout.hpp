// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <boost/interprocess/containers/vector.hpp>
#include <boost/interprocess/managed_shared_memory.hpp>
#include <boost/interprocess/offset_ptr.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

/// What lies in the segment that sclang opens, as sclang 3.13 sees it. It takes what it finds for its own
/// objects, so each offset counts. Clients can write to all of it: nothing here may decide where the server writes.
namespace scs::shm {

namespace ipc = boost::interprocess;

constexpr int scope_count = 128;
constexpr int region_count = 3;

/// One of the three regions of a scope buffer: the server writes one, the client reads one, and the third changes
/// hands. The owners swap theirs for the third.
struct ScopeRegion {
    ipc::offset_ptr<float> data;      ///< channel after channel, max_frames each
    uint32_t frames = 0;              ///< filled, in each channel
    std::atomic<bool> changed{false}; ///< written and not yet read
};

struct Scope {
    enum Status : int { free = 0, initialized = 1 };

    std::atomic<int> status{free};
    uint32_t max_frames = 0;
    uint32_t channels = 0;
    ipc::offset_ptr<float> data;
    std::atomic<int> stage{0}; ///< index of the region that changes hands
    int writing = 1;           ///< the server's; a client has no use for it
    int reading = 2;           ///< the client's
    ScopeRegion regions[region_count];
};

/// The object that is found by the segment's own name.
struct Root {
    using ScopePtr = ipc::offset_ptr<Scope>;
    using Allocator = ipc::allocator<ScopePtr, ipc::managed_shared_memory::segment_manager>;

    explicit Root(ipc::managed_shared_memory::segment_manager* manager) : scopes(Allocator(manager)) {}

    alignas(8) std::byte unused[32] = {}; ///< a std::string of the server's
    ipc::offset_ptr<float> control_buses;
    ipc::vector<ScopePtr, Allocator> scopes;
};

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
static_assert(sizeof(ScopeRegion) == 16 && sizeof(Scope) == 88 && sizeof(Root) == 72);

} // namespace scs::shm
