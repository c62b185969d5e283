// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compile/turn-facts.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/ugens/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace scs {

struct Program;

/// What is known of the blocks of a UnitGraph. One with a unit of which nothing is known may do anything.
struct GraphFacts : TurnFacts {
    static constexpr int32_t constant = -1, unknown = -2;
    /// A unit that reaches buses.
    struct Reach {
        Effect effect;
        int32_t control; ///< that is the number of the first one; or constant, or unknown
        float number;    ///< the constant
        uint32_t channels;
    };
    std::vector<Reach> reaches; ///< in order
    size_t work = 0;            ///< as of a lone voice's operations
};

/// [worker] `kernels`: see kernels_among_plugins().
std::unique_ptr<const GraphFacts> judge_graph(const Program&, UnitKernels kernels);

} // namespace scs
