// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/ntp-time.hpp"

#include <cstdint>

namespace scs {

/// Tells when a cycle's frames will be heard, in wall-clock time. The graph's clock is monotonic;
/// the distance between both clocks is read anew each cycle, with jitter, and smoothed here.
class CycleClock {
public:
    /// The distance follows its readings with this time constant (one pole) …
    static constexpr double smoothing_sec = 1.0;
    /// … and at once if a reading is further off than this (the wall clock was set).
    static constexpr int64_t resync_nsec = 10'000'000;

    /// Starts a cycle. `monotonic_nsec_of_frame0`: when the driver's clock says that the cycle's
    /// first frame is due; `realtime_minus_monotonic_nsec`: the distance of the clocks as just
    /// read; `output_latency_sec`: from there to the listener's ear. Returns the wall-clock time at
    /// which frame 0 will be heard. [rt]
    NtpTime begin_cycle(uint64_t monotonic_nsec_of_frame0, int64_t realtime_minus_monotonic_nsec,
                        double output_latency_sec) noexcept;

    /// Forgets everything: the next reading is taken as it is. [rt]
    void reset() noexcept { *this = {}; }

private:
    bool started_ = false;
    uint64_t last_cycle_nsec_ = 0;
    // The smoothed distance is the sum of both: a double alone can't hold it to the nanosecond.
    int64_t reference_nsec_ = 0;
    double deviation_nsec_ = 0;
};

/// The frame of the block (0 … block - 1) at which an event is due: the nearest one, or the block's
/// first or last if it is due before or after the block. `rate` in frames a second; `block` > 0.
/// `subsample`, if not null, receives in [0, 1) where in that frame it is due, as scsynth counts:
/// half a frame more than the distance from the frame, so 0.5 is due exactly on it. [rt]
int frame_in_block(NtpTime event, NtpTime block_start, double rate, int block, float* subsample) noexcept;

} // namespace scs
