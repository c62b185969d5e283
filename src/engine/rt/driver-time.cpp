// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/driver-time.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace scs {

uint64_t DriverTime::begin(uint64_t nsec, double cycle_nsec, double rate) noexcept {
    *this = {};
    reference_nsec_ = nsec;
    expected_nsec_ = cycle_nsec;
    seconds_ = cycle_nsec / 1e9;
    rate_ = rate;
    return nsec;
}

uint64_t DriverTime::begin_cycle(uint64_t nsec, uint32_t frames, double rate) noexcept {
    const double cycle_sec = frames / rate;
    double error = double(int64_t(nsec - reference_nsec_)) - expected_nsec_;
    if (seconds_ == 0 || rate != rate_)
        return begin(nsec, 1e9 * cycle_sec, rate);
    if (const double cycles = error / (1e9 * cycle_sec); std::abs(cycles) > longest_jitter) {
        const double lost = std::round(cycles);
        if (lost < 1 || lost > most_lost || std::abs(cycles - lost) > close_to_whole)
            return begin(nsec, 1e9 * cycle_sec, rate);
        expected_nsec_ += lost * 1e9 * cycle_sec * stretch_;
        error = double(int64_t(nsec - reference_nsec_)) - expected_nsec_;
    }
    if (seconds_ > settled)
        error = std::min(error, most_late);
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
