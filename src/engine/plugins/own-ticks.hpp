// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/synthdef/own-rate.hpp"
#include "engine/ugens/kernel.hpp"

#include <array>
#include <cstdint>

namespace scs {

/// What an instance has beside the others if its definition asks for blocks or a rate of its own.
struct OwnTicks : Ticks {
    bool settled; ///< the rate is known
    bool started, got_ahead;

    /// For units that run once in each block of the server, at its rate: those of control buses, and LagControl.
    Block server_block;
    UnitRate server_audio, server_control;
    Rates server_rates;
    UnitKernels kernels_of_ticks; ///< those that may be used if the frames aren't those of the server's blocks
    /// The World that plugins' units see, for PluginApi::v3 and v5, whose units take their rates from it. For v6 it is
    /// the server's.
    std::array<AbiWorld, size_t(PluginApi::v6)> worlds;
    uint32_t* each; ///< the units that run in each tick, as indices into mCalcUnits
    uint32_t each_count;

    /// For a synth whose controls aren't set yet, with what the server has.
    void begin(int frames, const Rates& rates, const Block& block, UnitKernels kernels) noexcept SCS_NONBLOCKING;
    using Ticks::begin;
    /// Whether it is the first tick that is computed in a block of the server.
    bool is_first() const noexcept { return current == (got_ahead ? 0 : -ahead); }
};

} // namespace scs
