// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>

namespace scs::osc {

/// What drives the graph that the node is in, as of the last cycle.
struct Driver {
    std::array<char, 64> name{}; ///< ends in a NUL; empty: there was no cycle yet, or it doesn't say
    uint32_t id = 0;             ///< of its node in PipeWire, if the name isn't empty
    int32_t quantum = 0;         ///< frames of a cycle, at the graph's rate
    double rate = 0;             ///< Hz, the graph's
};

} // namespace scs::osc
