// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/driver-time.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace scs {

uint64_t DriverTime::begin_cycle(uint64_t nsec, uint32_t frames, double rate) noexcept {
    const double cycle_sec = frames / rate;
    const double error = double(int64_t(nsec - reference_nsec_)) - expected_nsec_;
    if (seconds_ == 0 || rate != rate_ || std::abs(error) > longest_jitter * 1e9 * cycle_sec) {
        *this = {};
        reference_nsec_ = nsec;
        rate_ = rate;
        seconds_ = cycle_sec;
        expected_nsec_ = 1e9 * cycle_sec;
        return nsec;
    }
    // A loop can't be wider than a part of the cycles' own rate.
    const double width = std::min(std::max(bandwidth, first_bandwidth / (1 + seconds_)), 0.05 / cycle_sec);
    const double omega = 2 * std::numbers::pi * width * cycle_sec;
    const double begun = expected_nsec_ + std::numbers::sqrt2 * omega * error;
    stretch_ += omega * omega * error / (1e9 * cycle_sec);
    seconds_ += cycle_sec;

    const int64_t whole = std::llround(begun);
    reference_nsec_ += uint64_t(whole);
    expected_nsec_ = begun - double(whole) + 1e9 * cycle_sec * stretch_;
    return reference_nsec_;
}

} // namespace scs
