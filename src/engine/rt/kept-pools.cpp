// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/kept-pools.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <utility>

namespace scs {
namespace {

struct Kept {
    std::mutex mutex;
    std::array<std::unique_ptr<Pool>, KeptPools::most_pools> pools;
};

/// Never destroyed: threads that outlive everything free what they have from these pools.
Kept& kept() noexcept {
    static auto* const all = new Kept;
    return *all;
}

} // namespace

Result<KeptPools::Owner> KeptPools::take(size_t bytes, Pool::Pages pages) {
    std::unique_ptr<Pool> found;
    if (pages == Pool::Pages::ahead) {
        Kept& all = kept();
        const std::lock_guard lock(all.mutex);
        for (std::unique_ptr<Pool>& each : all.pools)
            if (!found && each && each->is_for(bytes))
                found = std::move(each);
    }
    if (found) {
        found->wake();
        return Owner(found.release());
    }
    auto made = Pool::create(bytes, pages);
    if (!made)
        return Error{made.error()};
    return Owner(made.value().release());
}

void KeptPools::Keep::operator()(Pool* ended) const noexcept {
    std::unique_ptr<Pool> pool(ended);
    pool->take_back(SIZE_MAX);
    if (pool->used_blocks() == 0)
        return;
    if (pool->used_bytes() <= std::min(most_bytes, pool->region_bytes() / 8)) {
        pool->rest();
        Kept& all = kept();
        const std::lock_guard lock(all.mutex);
        const auto place = std::ranges::find_if(all.pools, [](const auto& each) { return !each; });
        if (place != all.pools.end()) {
            *place = std::move(pool);
            return;
        }
    }
    Pool::leave_addresses(std::move(pool));
}

} // namespace scs
