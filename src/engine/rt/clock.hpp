// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/rt/ntp-time.hpp"

#include <cstdint>

namespace scs {

/// Computes when a cycle's frames will be heard, in wall-clock time. The graph's clock is monotonic. The distance
/// between the two clocks is read in each cycle, with jitter, and smoothed here. A reading during which the thread
/// stood still is as wrong as that took, at most; so it counts only as far as it can't be right otherwise.
class CycleClock {
public:
    /// Time constant with which the distance follows its readings (one pole) …
    static constexpr double smoothing_sec = 1.0;
    /// … unless a reading is further off than this, as when the wall clock was set: then it jumps.
    static constexpr int64_t resync_nsec = 10'000'000;
    /// Until a reading took no longer than this, a quicker one replaces what was there.
    static constexpr int64_t quick_nsec = 1'000;

    /// Starts a cycle. `monotonic_nsec_of_frame0`: when the driver's clock says that the cycle's first frame is due;
    /// `realtime_minus_monotonic_nsec`: the distance of the clocks as just read, the monotonic one first;
    /// `output_latency_sec`: the time from then until it is heard; `reading_nsec`: how long the reading took, 0 or
    /// more. Returns the wall-clock time at which frame 0 will be heard. [rt]
    NtpTime begin_cycle(uint64_t monotonic_nsec_of_frame0, int64_t realtime_minus_monotonic_nsec,
                        double output_latency_sec, int64_t reading_nsec = 0) noexcept SCS_NONBLOCKING;

    /// Starts anew: the next reading is used unsmoothed. [rt]
    void reset() noexcept { *this = {}; }

private:
    bool started_ = false;
    uint64_t last_cycle_nsec_ = 0;
    // The smoothed distance is the sum of these two: a double alone can't hold it to the nanosecond.
    int64_t reference_nsec_ = 0;
    double deviation_nsec_ = 0;
    int64_t quickest_nsec_ = 0; ///< the reading that this began with, or a quicker one
};

/// The frame of the block (0 … block - 1) at which an event is due: the nearest one, or the block's first or last if it
/// is due before or after the block. `rate` in frames a second; `block` > 0. `subsample`, if not null, receives where
/// in that frame it is due, in [0, 1) and counted as in scsynth: half a frame more than the distance from the frame, so
/// that 0.5 is exactly on it. [rt]
int frame_in_block(NtpTime event, NtpTime block_start, double rate, int block,
                   float* subsample) noexcept SCS_NONBLOCKING;

} // namespace scs
