// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/reply-to.hpp"
#include "engine/rt/ntp-time.hpp"

#include <cmath>
#include <cstdint>

namespace scs {

/// The beats of an Ableton Link session, as a client told of them last. They go on without further word. It changes
/// between blocks only.
struct LinkTimeline {
    static constexpr double slowest = 20.0 / 60, fastest = 999.0 / 60; ///< beats a second, of Link's sessions

    NtpTime time = 0;     ///< when a frame is heard …
    double beat = 0;      ///< … that beat of the session is
    double tempo = 0;     ///< beats a second; 0: there is no session
    bool playing = false; ///< from `since` on; before that the opposite
    NtpTime since = 0;    ///< 0: always
    uint32_t leaps = 0;   ///< how often beats have leapt: by the begin of a session, or a jump
    double landed = 0;    ///< where they came to by the last leap
    ReplyTo client;       ///< who told: it carries out what synths and commands ask of the session
    bool missed = false;  ///< the log has said that there is no session

    /// What a client tells now in place of this. More than a clock's drift is a leap.
    LinkTimeline followed_by(LinkTimeline next) const noexcept {
        constexpr double drift = 0.01; // beats
        const bool leaps_now = next.joined() && (!joined() || std::abs(beat_at(next.time) - next.beat) > drift);
        next.missed = missed;
        next.leaps = leaps + leaps_now;
        next.landed = leaps_now ? next.beat : landed;
        return next;
    }
    bool joined() const noexcept { return tempo > 0; }
    double beat_at(NtpTime at) const noexcept { return beat + ntp_seconds_between(time, at) * tempo; }
    bool playing_at(NtpTime at) const noexcept {
        return joined() && (since == 0 || ntp_ticks_between(since, at) >= 0 ? playing : !playing);
    }
    /// The beat in a bar, or cycle, of `quantum` beats: 0 and more, less than `quantum`; 0 unless that is above 0.
    static double phase(double beat, double quantum) noexcept {
        if (!(quantum > 0))
            return 0;
        const double rest = std::fmod(beat, quantum), phase = rest < 0 ? rest + quantum : rest;
        return phase < quantum ? phase : 0;
    }
};

} // namespace scs
