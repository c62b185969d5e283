// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/link/session.hpp"

#include "engine/base/descriptors.hpp"

#include <ableton/Link.hpp>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <utility>

namespace scs::link {

namespace {

using std::chrono::microseconds;

/// A phase to this quantum is the number of beats since the session's beat 0: it wraps after years. Beats of that size
/// are still exact to the millionth that Link counts.
constexpr double endless = 0x1p30;
constexpr double minute = 60;

int64_t nsec(clockid_t clock) {
    timespec now;
    ::clock_gettime(clock, &now);
    return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Link's clock isn't the one of time tags: it leaves out what NTP corrects. The distance is read anew for each use.
class Clocks {
public:
    Clocks() {
        // The reading that took least time is the truest: no other thread came in between.
        int64_t least = INT64_MAX;
        for (int i = 0; i < 5; ++i) {
            const int64_t before = nsec(CLOCK_MONOTONIC_RAW), wall = nsec(CLOCK_REALTIME);
            const int64_t took = nsec(CLOCK_MONOTONIC_RAW) - before;
            if (took >= least)
                continue;
            least = took;
            host_ = before + took / 2;
            wall_ = wall;
        }
    }
    microseconds now() const { return microseconds(host_ / 1000); }
    NtpTime to_wall(microseconds host) const {
        const int64_t at = wall_ + int64_t(host.count()) * 1000 - host_;
        return ntp_from_unix(at / 1'000'000'000, uint32_t(at % 1'000'000'000));
    }
    /// What is more than a few seconds away counts as now.
    microseconds to_host(NtpTime time) const {
        const auto wall = ntp_from_unix(wall_ / 1'000'000'000, uint32_t(wall_ % 1'000'000'000));
        const double ahead = ntp_seconds_between(wall, time);
        return now() + microseconds(std::abs(ahead) < 5 ? std::llround(ahead * 1e6) : 0);
    }

private:
    int64_t host_ = 0, wall_ = 0; ///< ns
};

class AbletonSession final : public Session {
public:
    AbletonSession(double tempo, Descriptor event) : event_(std::move(event)), link_(tempo) {
        // They are called on a thread of Link's.
        link_.setTempoCallback([this](double) { wake(); });
        link_.setStartStopCallback([this](bool) { wake(); });
        link_.setNumPeersCallback([this](size_t) { wake(); });
        link_.enableStartStopSync(true);
        link_.enable(true);
    }
    ~AbletonSession() override { link_.enable(false); }

    int fd() const override { return event_.get(); }

    Place look() override {
        uint64_t count;
        (void)!::read(event_.get(), &count, sizeof count);
        const Clocks clocks;
        const auto state = link_.captureAppSessionState();
        Place place;
        place.time = clocks.to_wall(clocks.now());
        place.beat = state.phaseAtTime(clocks.now(), endless);
        if (place.beat > endless / 2)
            place.beat -= endless;
        place.tempo = state.tempo() / minute;
        place.playing = state.isPlaying();
        place.since = state.timeForIsPlaying().count() > 0 ? clocks.to_wall(state.timeForIsPlaying()) : 0;
        place.peers = link_.numPeers();
        return place;
    }

    void set_tempo(double tempo, NtpTime from) override {
        change([&](auto& state, const Clocks& clocks) { state.setTempo(tempo * minute, clocks.to_host(from)); });
    }
    void set_playing(bool playing, NtpTime from) override {
        change([&](auto& state, const Clocks& clocks) { state.setIsPlaying(playing, clocks.to_host(from)); });
    }
    void jump(double beat, double quantum, NtpTime at, bool force) override {
        change([&](auto& state, const Clocks& clocks) {
            if (force)
                state.forceBeatAtTime(beat, clocks.to_host(at), quantum);
            else
                state.requestBeatAtTime(beat, clocks.to_host(at), quantum);
        });
    }

private:
    void wake() {
        const uint64_t one = 1;
        (void)!::write(event_.get(), &one, sizeof one);
    }
    template <class Change>
    void change(Change&& make) {
        auto state = link_.captureAppSessionState();
        make(state, Clocks());
        link_.commitAppSessionState(state);
        wake();
    }

    Descriptor event_;
    ableton::Link link_;
};

} // namespace

Result<std::unique_ptr<Session>> Session::join(double tempo) {
    Descriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (event.get() < 0)
        return Error{std::string("cannot join a session: ") + std::strerror(errno)};
    return std::unique_ptr<Session>(std::make_unique<AbletonSession>(tempo, std::move(event)));
}

} // namespace scs::link
