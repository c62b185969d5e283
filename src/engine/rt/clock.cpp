// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/clock.hpp"

#include <algorithm>
#include <cmath>

namespace scs {

namespace {

constexpr int64_t nsec_per_sec = 1'000'000'000;

// The counts may be anything, so this avoids signed overflow.
int64_t difference(uint64_t to, uint64_t from) noexcept {
    return int64_t(to - from);
}

/// How far what is known lies from a reading that took a time, and was taken at any moment of it: 0 if both can be
/// right.
double contradiction(double reading, double known, double took) noexcept {
    const double most = reading - known, least = most - took;
    return least > 0 ? least : std::min(most, 0.0);
}

} // namespace

NtpTime CycleClock::begin_cycle(uint64_t monotonic_nsec_of_frame0, int64_t realtime_minus_monotonic_nsec,
                                double output_latency_sec, int64_t reading_nsec) noexcept {
    const double reading = double(difference(uint64_t(realtime_minus_monotonic_nsec), uint64_t(reference_nsec_)));
    const double error = contradiction(reading, deviation_nsec_, double(reading_nsec));
    const bool better = quickest_nsec_ > quick_nsec && reading_nsec < quickest_nsec_;
    if (!started_ || better || std::abs(error) > double(resync_nsec)) {
        started_ = true;
        quickest_nsec_ = reading_nsec;
        reference_nsec_ = realtime_minus_monotonic_nsec;
        deviation_nsec_ = 0;
    } else if (monotonic_nsec_of_frame0 > last_cycle_nsec_) {
        const double elapsed_sec = double(monotonic_nsec_of_frame0 - last_cycle_nsec_) / nsec_per_sec;
        deviation_nsec_ += error * elapsed_sec / (smoothing_sec + elapsed_sec);
    }
    last_cycle_nsec_ = monotonic_nsec_of_frame0;

    const int64_t correction = std::llround(deviation_nsec_ + output_latency_sec * 1e9);
    const auto unix_nsec = int64_t(monotonic_nsec_of_frame0 + uint64_t(reference_nsec_) + uint64_t(correction));
    int64_t seconds = unix_nsec / nsec_per_sec;
    int64_t nanoseconds = unix_nsec % nsec_per_sec;
    if (nanoseconds < 0) {
        --seconds;
        nanoseconds += nsec_per_sec;
    }
    return ntp_from_unix(seconds, uint32_t(nanoseconds));
}

int frame_in_block(NtpTime event, NtpTime block_start, double rate, int block, float* subsample) noexcept {
    // In scsynth's precision, so that the subsample offset has the same bits.
    const auto ticks = float(ntp_ticks_between(block_start, event));
    const auto position = float(double(ticks) * (rate * 0x1p-32) + 0.5);
    const float frame = std::floor(position);
    if (subsample != nullptr) {
        *subsample = position - frame;
    }
    if (!(frame > 0)) {
        return 0;
    }
    return frame < float(block) ? int(frame) : block - 1;
}

} // namespace scs
