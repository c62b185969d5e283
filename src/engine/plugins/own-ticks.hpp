// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/synthdef/own-rate.hpp"
#include "engine/ugens/kernel.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace scs {

/// What an instance has beside the others if its definition asks for blocks or a rate of its own. One of its blocks is
/// a tick: several may lie in a block of the server.
struct OwnTicks {
    bool settled; ///< the rate is known
    SynthRate rate;
    int server_frames; ///< of the server's blocks
    int32_t count;     ///< ticks in a block of the server
    int32_t ahead;     ///< by how many ticks it is computed ahead, so that its output isn't late
    int32_t current;   ///< the tick of this block: 0 … count - 1; below 0 while it gets ahead
    uint32_t number;   ///< of all ticks
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
    /// Whether it is the first tick that is computed in a block of the server.
    bool is_first() const noexcept { return current == (got_ahead ? 0 : -ahead); }
    /// The first frame of the server's block that begins in the current tick, or after it …
    int place() const noexcept { return frames_before(current); }
    /// … and how many begin in it. Ticks before the first one count, too.
    int places() const noexcept { return frames_before(current + 1) - frames_before(current); }
    /// The frame of the server's block in which a sample of the current tick lies; 0 while it gets ahead.
    int server_frame(int sample) const noexcept { return current < 0 ? 0 : (samples_before() + sample) / rate.factor; }
    /// Samples of this block of the server's that have been computed, at the synth's rate.
    int samples_before() const noexcept { return std::max(current, 0) * rate.frames; }
    /// Frames by which its output would be late if it weren't computed ahead, and by which it is computed ahead.
    int delay() const noexcept SCS_NONBLOCKING;
    int frames_ahead() const noexcept { return ahead * rate.frames / rate.factor; }

private:
    int frames_before(int32_t tick) const noexcept {
        const int samples = tick * rate.frames;
        return (samples >= 0 ? samples + rate.factor - 1 : samples) / rate.factor;
    }
};

} // namespace scs
