// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/beats.hpp"

#include <algorithm>
#include <cmath>

namespace scs {
namespace {

constexpr double nothing = 1e-9;     ///< beats
constexpr double longest_late = 0.1; ///< seconds after a leap of a session: older beats are left out

} // namespace

InBar in_bar(double beat, double beats_per_bar) noexcept {
    if (!(beats_per_bar > 0))
        return {};
    const double bar = std::floor((beat + nothing) / beats_per_bar);
    const auto rest = float(std::max(beat - bar * beats_per_bar, 0.0));
    const auto end = float(beats_per_bar);
    return {rest < end ? rest : std::nextafter(end, 0.f), float(bar)};
}

double BeatLine::beat_at(double at) const noexcept {
    return std::min(beat + (at - frame) * beats_per_frame, most);
}

/// Of several ports that have clocks the first one is followed, until it has been silent for two beats.
bool BeatFollower::takes(const ControlEvent& event, double seconds) noexcept {
    if (!from_.source.hears(event))
        return false;
    if (event.port == port_)
        return true;
    if (clock_.heard(seconds))
        return false;
    if (port_ >= 0)
        clock_ = {};
    port_ = event.port;
    return true;
}

void BeatFollower::handle(const ControlEvent& event, double seconds) noexcept {
    using Kind = ControlEvent::Kind;
    if (from_.of != BeatSource::midi || !event.of_clock() || !takes(event, seconds))
        return;
    switch (event.kind) {
    case Kind::clock: return clock_.clock(seconds);
    case Kind::start: clock_.start(); break;
    case Kind::go_on: return clock_.go_on();
    case Kind::stop: return clock_.stop(seconds);
    case Kind::song_position: clock_.locate(int(event.value)); break;
    default: return;
    }
    ++leaps_;
    landed_ = clock_.beat(seconds);
}

Beats BeatFollower::at_start(const BlockStart& start) noexcept {
    if (from_.of == BeatSource::midi)
        return {clock_.playing(), clock_.beat(start.seconds), clock_.tempo(start.seconds), double(from_.beats_per_bar)};
    if (from_.of == BeatSource::link) {
        const LinkTimeline& link = start.link;
        if (!link.joined())
            return {};
        return {link.playing_at(start.time), link.beat_at(start.time), link.tempo, double(from_.beats_per_bar)};
    }
    int until = 0;
    const Transport& transport = start.transports.in_effect(start.frame, start.delay, until);
    return {transport.playing, transport.beat_at(start.frame - start.delay), transport.tempo, transport.beats_per_bar};
}

BeatLine BeatFollower::line(const BlockStart& start, int from) const noexcept {
    BeatLine line;
    line.until = start.frames;
    if (from_.of == BeatSource::midi) {
        const MidiClock::Line clock = clock_.line();
        line.runs = clock.runs;
        line.frame = (clock.time - start.seconds) * start.rate;
        line.beat = clock.beat;
        line.beats_per_frame = clock.tempo / start.rate;
        line.most = clock.most;
        line.tempo = clock_.tempo(start.seconds);
        line.beats_per_bar = from_.beats_per_bar;
        line.leaps = leaps_;
        line.landed = landed_;
        return line;
    }
    if (from_.of == BeatSource::link) {
        const LinkTimeline& link = start.link;
        line.runs = link.joined();
        line.beat = link.beat_at(start.time);
        line.beats_per_frame = link.tempo / start.rate;
        line.tempo = link.tempo;
        line.beats_per_bar = from_.beats_per_bar;
        line.leaps = link.leaps;
        line.landed = std::max(link.landed, line.beat - link.tempo * longest_late);
        return line;
    }
    int until = start.frame + start.frames;
    const Transport& transport = start.transports.in_effect(start.frame + from, start.delay, until);
    line.runs = transport.playing && transport.beats_per_frame > 0;
    line.frame = transport.frame + start.delay - start.frame;
    line.beat = line.landed = transport.beat;
    line.beats_per_frame = transport.beats_per_frame;
    line.tempo = transport.tempo;
    line.beats_per_bar = transport.beats_per_bar;
    line.leaps = transport.leaps;
    line.until = until - start.frame;
    return line;
}

/// Begins anew at the place that a leap led to.
void BeatDivision::land(const BeatLine& line, int from) noexcept {
    const double beat = any_ ? line.landed : line.beat_at(from);
    next_ = std::ceil((beat - nothing - offset_) / division_);
    leaps_ = line.leaps;
    any_ = line.beats_per_frame >= 0; // beats that go back count no multiples
}

/// The frame at which the line reaches the next multiple; -1: not before `until`.
int BeatDivision::reach(const BeatLine& line, int from, int until) const noexcept {
    const double beats = multiple() - nothing - line.beat;
    if (!line.runs || multiple() > line.most + nothing)
        return -1;
    if (line.beats_per_frame <= 0)
        return beats <= 0 ? from : -1;
    const double frame = std::ceil(line.frame + beats / line.beats_per_frame);
    return frame < until ? std::max(int(std::max(frame, 0.0)), from) : -1;
}

/// Leaves out the multiples before `until`. Returns how many.
size_t BeatDivision::leave_out(const BeatLine& line, int until) noexcept {
    const double after = std::floor((line.beat_at(until - 1) + nothing - offset_) / division_) + 1;
    const double count = std::max(after - next_, 0.0);
    next_ = std::max(next_, after);
    return size_t(std::min(count, 1e9));
}

int BeatDivision::next(BeatFollower& follower, const BlockStart& start, int32_t block, int until,
                       size_t& refused) noexcept {
    if (block != block_) {
        block_ = block;
        reached_ = taken_ = 0;
    }
    while (reached_ < until) {
        const BeatLine line = follower.line(start, reached_);
        if (!any_ || line.leaps != leaps_)
            land(line, reached_);
        const int end = std::min(until, line.until);
        const int at = reach(line, reached_, end);
        if (at >= 0 && taken_ < most) {
            found_ = {true, multiple(), line.tempo, line.beats_per_bar};
            ++taken_;
            next_ += 1;
            return reached_ = at;
        }
        if (at >= 0)
            refused += leave_out(line, end);
        reached_ = end;
    }
    return -1;
}

} // namespace scs
