// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/beat-binding.hpp"

#include "engine/world/buses.hpp"

#include <algorithm>
#include <cmath>

namespace scs {
namespace {

struct InBar {
    float beat = 0, bar = 0;
};

/// A beat that is next to nothing before a bar is that bar's first: sums of frames aren't exact.
InBar in_bar(const Beats& beats) noexcept {
    constexpr double nothing = 1e-9;
    if (!(beats.beats_per_bar > 0))
        return {};
    const double bar = std::floor((beats.beat + nothing) / beats.beats_per_bar);
    const auto beat = float(std::max(beats.beat - bar * beats.beats_per_bar, 0.0));
    const auto end = float(beats.beats_per_bar);
    return {beat < end ? beat : std::nextafter(end, 0.f), float(bar)};
}

} // namespace

void BeatBinding::begin_block(const BlockStart& start, BindingTargets& targets) noexcept {
    const Beats now = beats(start);
    const InBar place = in_bar(now);
    int bus = s_.bus;
    for (const float value : {place.beat, float(now.tempo), float(now.playing), place.bar})
        (void)targets.buses.set_control(bus++, value, targets.block);
}

Beats TransportBinding::beats(const BlockStart& start) noexcept {
    const Transport& transport = start.transport;
    return {transport.playing, transport.beat_at(start.transport_frame), transport.tempo, transport.beats_per_bar};
}

void ClockBinding::handle(const ControlEvent& event, BindingTargets& targets) noexcept {
    switch (event.kind) {
    case ControlEvent::Kind::clock: return clock_.clock(targets.seconds);
    case ControlEvent::Kind::start: return clock_.start();
    case ControlEvent::Kind::go_on: return clock_.go_on();
    case ControlEvent::Kind::stop: return clock_.stop(targets.seconds);
    case ControlEvent::Kind::song_position: return clock_.locate(int(event.value));
    default: return;
    }
}

Beats ClockBinding::beats(const BlockStart& start) noexcept {
    return {clock_.playing(), clock_.beat(start.seconds), clock_.tempo(start.seconds), double(s_.beats_per_bar)};
}

Beats LinkBinding::beats(const BlockStart& start) noexcept {
    const LinkTimeline& link = start.link;
    if (!link.joined())
        return {};
    return {link.playing_at(start.time), link.beat_at(start.time), link.tempo, double(s_.beats_per_bar)};
}

} // namespace scs
