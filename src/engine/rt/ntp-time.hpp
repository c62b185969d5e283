// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

namespace scs {

/// Wall-clock time as OSC time tags have it: seconds since 1900 in the upper 32 bits, fraction of a second in the lower
/// 32. The tags 1 (OSC's "immediately") and 0 are not times: handle them before calling these functions.
using NtpTime = uint64_t;

/// The OSC time tag that means "now".
inline constexpr NtpTime immediately = 1;

/// From seconds since 1970 and nanoseconds within that second (0 … 999 999 999). [any]
constexpr NtpTime ntp_from_unix(int64_t seconds, uint32_t nanoseconds) noexcept {
    constexpr uint64_t seconds_1900_to_1970 = 2'208'988'800;
    const uint64_t fraction = (uint64_t{nanoseconds} << 32) / 1'000'000'000;
    return ((uint64_t(seconds) + seconds_1900_to_1970) << 32) | fraction;
}

/// In seconds since 1900, of which a double has half a microsecond. [any]
constexpr double ntp_seconds(NtpTime time) noexcept {
    return double(time) * 0x1p-32;
}

/// The time that many seconds after 1900 began: 0 and more, less than 2^32; for other numbers it is 0. [any]
constexpr NtpTime ntp_from_seconds(double seconds) noexcept {
    return seconds >= 0 && seconds < 0x1p32 ? NtpTime(seconds * 0x1p32) : 0;
}

/// Ticks of 2^-32 s from `from` to `to`, negative if `to` is earlier. Correct for times within 68 years of each other,
/// even across the wrap in 2036. [any]
constexpr int64_t ntp_ticks_between(NtpTime from, NtpTime to) noexcept {
    return int64_t(to - from);
}

/// The same in seconds. [any]
constexpr double ntp_seconds_between(NtpTime from, NtpTime to) noexcept {
    return double(ntp_ticks_between(from, to)) * 0x1p-32;
}

/// The time `frames` (may be negative, |frames| < 2^53) after `start` at `rate` frames a second (> 0), to the nearest
/// tick. Count frames from one start: adding up steps would add up their rounding errors. [any]
inline NtpTime ntp_advance(NtpTime start, int64_t frames, double rate) noexcept {
    // Whole seconds are computed separately, so that long spans lose no precision.
    const double count = double(frames);
    const double seconds = std::floor(count / rate);
    const double rest = count - seconds * rate;
    return start + (static_cast<NtpTime>(int64_t(seconds)) << 32) +
           static_cast<NtpTime>(std::llround(rest / rate * 0x1p32));
}

} // namespace scs
