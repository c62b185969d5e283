// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/release.hpp"

#include <atomic>
#include <cstdint>

namespace scs {

/// Counts and loads that any thread may read at any time.
struct EngineStatus {
    std::atomic<int32_t> units{0}, synths{0}, groups{1}, synthdefs{0};
    std::atomic<float> average_cpu{0}, peak_cpu{0}; ///< % of the time a cycle has
    std::atomic<double> rate{0};                    ///< Hz, at which it runs now
    std::atomic<bool> rate_in_use{false};           ///< whether a synth or a buffer was ever made for a rate
    std::atomic<bool> scheduled{false};             ///< bundles wait for their time
    std::atomic<uint64_t> cycles{0};                ///< process() and run_idle() calls that began
    /// The thread that is in one of these now, as FaultGuard::look_for_wait() knows it; 0: none, or it isn't watched.
    std::atomic<int32_t> in_cycle{0};
    std::atomic<uint64_t> dropped_events{0}; ///< notifications that found the ring full
    std::atomic<uint64_t> late_bundles{0};
    std::atomic<int32_t> bindings{0};
    std::atomic<uint64_t> refused_control{0}; ///< events of control ports that were too many at once
    std::atomic<bool> pointer_missing{false}; ///< synths ask for the pointer, and nobody has said where it is
    std::atomic<uint64_t> unsent_control{0};  ///< events for control ports that were too many at once
    /// ns that the longest block of the last minute took; 0: none was timed, as no cycle had a deadline.
    std::atomic<int64_t> longest_block{0};
    std::atomic<uint64_t> cuts{0};                ///< cycles with blocks that were left out
    std::atomic<uint64_t> bad_blocks{0};          ///< blocks with NaN or infinity on an output bus: silent there
    std::atomic<uint64_t> ended{0};               ///< synths that were ended for want of time
    std::atomic<int32_t> paused{0};               ///< synths that are paused for want of time, at present
    std::atomic<uint64_t> silent_frames{0};       ///< of files that weren't read in time
    std::atomic<uint64_t> dropped_frames{0};      ///< recorded, but not written in time
    std::atomic<uint64_t> computed_ahead{0};      ///< batches of voices that other threads than the data loop computed
    std::atomic<uint64_t> pipelined{0};           ///< blocks that were computed several at once, by several threads
    std::atomic<Release> release{Release::v3_13}; ///< whose units the native ones sound as
    /// The engine's own code crashed, most likely because a UGen wrote to memory that isn't its own. The engine is
    /// silent from now on and accepts nothing. What it holds stays untouched and is never freed.
    std::atomic<bool> broken{false};
};

} // namespace scs
