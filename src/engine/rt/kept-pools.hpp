// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/pool.hpp"

#include <memory>

namespace scs {

/// Pools in which plugins have left memory when their engine ended. A plugin may have kept its addresses in a static or
/// thread-local object, which other servers of the process use, too, and which is destroyed with its thread. So what is
/// left stays as it is, and the rest serves the next engine whose pool is as large. [any but rt]
class KeptPools {
public:
    /// More than that isn't kept: the addresses stay reserved, but read as zeros.
    static constexpr size_t most_bytes = size_t{8} << 20; ///< in one pool, and an eighth of it
    static constexpr size_t most_pools = 64;

    /// Ends the use of a pool; it is destroyed if nothing is allocated in it.
    struct Keep {
        void operator()(Pool*) const noexcept;
    };
    using Owner = std::unique_ptr<Pool, Keep>;

    /// One that was kept, or a new one; see Pool::create().
    static Result<Owner> take(size_t bytes, Pool::Pages);
};

} // namespace scs
