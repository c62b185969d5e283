// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/midi-clock.hpp"

#include <algorithm>

namespace scs {
namespace {

constexpr double shortest_period = 0.001, longest_period = 0.5; ///< seconds: 2500 and 5 beats a minute
constexpr double root_of_two = 1.4142135623730951;              ///< for critical damping
constexpr double bandwidth = 0.1;                               ///< of the loop, radians a clock, once it has settled
constexpr double settling = 2;                                  ///< and of its first clocks, divided by their number
constexpr double far = 0.4;   ///< periods from where it was expected: such a clock doesn't change the period …
constexpr int many = 4;       ///< … unless that many come in a row …
constexpr double alike = 1.5; ///< … and the longest time between them is less than that many of the shortest

constexpr bool is_period(double seconds) noexcept {
    return seconds >= shortest_period && seconds <= longest_period;
}

} // namespace

bool MidiClock::gone(double time) const noexcept {
    return time - arrived_ > (period_ > 0 ? period_ : longest_period) * longest_gap;
}

void MidiClock::begin(double time) noexcept {
    heard_ = 1;
    strays_ = 0;
    period_ = 0;
    time_ = next_ = time;
}

void MidiClock::follow(double error) noexcept {
    heard_ = std::min(heard_ + 1, 1000);
    const double omega = std::max(bandwidth, settling / heard_);
    time_ = next_;
    next_ += root_of_two * omega * error + period_;
    period_ = std::clamp(period_ + omega * omega * error, shortest_period, longest_period);
    next_ = std::max(next_, time_ + shortest_period);
}

/// A clock was late, or comes with others that were, or the tempo has leapt: then the clocks after it are as far from
/// each other.
void MidiClock::stray(double time) noexcept {
    const double interval = time - arrived_;
    if (strays_++ == 0) {
        astray_since_ = arrived_;
        shortest_ = longest_ = interval;
    }
    shortest_ = std::min(shortest_, interval);
    longest_ = std::max(longest_, interval);
    if (strays_ == many) {
        strays_ = 0;
        const double mean = (time - astray_since_) / many;
        if (is_period(mean) && longest_ < alike * shortest_) {
            period_ = mean;
            heard_ = 2;
        }
    }
    time_ = time;
    next_ = time + period_;
}

void MidiClock::track(double time) noexcept {
    if (heard_ == 0 || gone(time)) {
        begin(time);
    } else if (period_ == 0) {
        const double interval = time - arrived_;
        begin(time);
        if (is_period(interval)) {
            period_ = interval;
            next_ = time + interval;
            heard_ = 2;
        }
    } else if (const double error = time - next_; error > far * period_ || error < -far * period_) {
        stray(time);
    } else {
        strays_ = 0;
        follow(error);
    }
    arrived_ = time;
}

void MidiClock::clock(double time) noexcept {
    track(time);
    if (!playing_)
        return;
    position_ = next_position_++;
    waiting_ = false;
}

void MidiClock::start() noexcept {
    locate(0);
    playing_ = true;
}

void MidiClock::stop(double time) noexcept {
    (void)beat(time);
    playing_ = false;
    waiting_ = true;
}

void MidiClock::go_on() noexcept {
    playing_ = true;
}

void MidiClock::locate(int sixteenths) noexcept {
    next_position_ = int64_t(sixteenths) * (clocks_per_beat / 4);
    waiting_ = true;
    shown_ = sixteenths / 4.0;
}

double MidiClock::tempo(double time) const noexcept {
    return period_ > 0 && !gone(time) ? 1 / (clocks_per_beat * period_) : 0;
}

double MidiClock::beat(double time) noexcept {
    if (!playing_ || waiting_)
        return shown_;
    const Line now = line();
    const double since = std::max(time - now.time, 0.0) * now.tempo;
    return shown_ = std::max(shown_, std::min(now.beat + since, now.most));
}

MidiClock::Line MidiClock::line() const noexcept {
    return {playing_ && !waiting_, time_, double(position_) / clocks_per_beat,
            next_ > time_ ? 1 / (clocks_per_beat * (next_ - time_)) : 0,
            double(position_ + most_ahead) / clocks_per_beat};
}

} // namespace scs
