// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/rt/ntp-time.hpp"

#include <cstddef>
#include <memory>

namespace scs::link {

/// Where a session is. Beats are those that all peers count: in phase with each other for any quantum.
struct Place {
    NtpTime time = 0; ///< when that beat is
    double beat = 0;
    double tempo = 0;     ///< beats a second
    bool playing = false; ///< from `since` on
    NtpTime since = 0;    ///< 0: always
    size_t peers = 0;     ///< others
};

/// A session of Ableton Link, by the network's interfaces, with threads and sockets of its own.
class Session {
public:
    /// `tempo`: beats a minute, if nobody else is there. An error is a sentence.
    static Result<std::unique_ptr<Session>> join(double tempo);
    virtual ~Session() = default;

    /// To be polled for input: the tempo, the peers, or whether it plays, has changed; look() takes it. Of a jump Link
    /// says nothing.
    virtual int fd() const = 0;
    virtual Place look() = 0;

    /// Beats a second, from then on.
    virtual void set_tempo(double tempo, NtpTime from) = 0;
    virtual void set_playing(bool playing, NtpTime from) = 0;
    /// At that time the beat is to come, in phase with others that are there: then at the next such place. `force`: at
    /// once, for all of them.
    virtual void jump(double beat, double quantum, NtpTime at, bool force) = 0;
};

} // namespace scs::link
