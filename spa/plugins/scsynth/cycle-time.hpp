// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/deadline.hpp"

#include <cstdint>

namespace scs::spa {

/// Decides how much of each cycle a node's engine may take. The nodes of a data loop share the time: each is sure of
/// its part, and what it leaves is the next one's. [rt]
class CycleTime {
public:
    explicit CycleTime(double cpu_limit) noexcept : cpu_limit_(cpu_limit) {}

    /// A cycle as the driver's clock has it. Times are of the monotonic clock.
    struct Span {
        uint32_t clock;  ///< the clock's ID
        uint64_t nsec;   ///< when it began
        double duration; ///< ns
    };
    /// `now`: when the node's turn came, ns. To be called once a cycle, on the data loop.
    CycleLimit begin(const Span&, int64_t now) noexcept;

private:
    bool behind(const Span&, int64_t now) noexcept;

    double cpu_limit_;       ///< of the duration, for all nodes of a loop; 0: no limit
    int64_t late_since_ = 0; ///< since when each cycle has been late; 0: the last one was not
};

} // namespace scs::spa
