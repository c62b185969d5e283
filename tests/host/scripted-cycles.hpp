// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "host.hpp"
#include "scripted-clock.hpp"

#include "engine/rt/ntp-time.hpp"

#include <optional>

namespace scs::test {

constexpr uint64_t first_nsec = 5'000'000'000;                     // the driver's clock at frame 0
constexpr uint64_t wall_ahead = 1'700'000'000'000'000'000 + 12345; // how far the wall clock is ahead of it

/// Cycles with a scripted clock: process() begins exactly in time and takes no time.
class ScriptedCycles {
public:
    explicit ScriptedCycles(Host& host) : host_(host) {
        host.position().clock.nsec = first_nsec;
        host.before_process = [this] {
            const uint64_t now = host_.position().clock.nsec;
            clock_.emplace(now, now + wall_ahead + uint64_t(wall_leap));
        };
        host.after_process = [this] { clock_.reset(); };
    }
    ~ScriptedCycles() { host_.before_process = host_.after_process = nullptr; }
    ScriptedCycles(const ScriptedCycles&) = delete;
    ScriptedCycles& operator=(const ScriptedCycles&) = delete;

    /// How far the wall clock was set since the start, ns; may be changed between cycles.
    int64_t wall_leap = 0;

private:
    Host& host_;
    std::optional<ScriptedClock> clock_;
};

/// The time tag of a frame; frame 0 is the first one of the first cycle.
inline NtpTime tag(double frame, double rate = 48000) {
    const uint64_t wall = first_nsec + wall_ahead;
    const NtpTime frame0 = ntp_from_unix(int64_t(wall / 1'000'000'000), uint32_t(wall % 1'000'000'000));
    return frame0 + NtpTime(frame / rate * 4294967296.0 + 0.5);
}

} // namespace scs::test
