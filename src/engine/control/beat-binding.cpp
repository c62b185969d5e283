// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/beat-binding.hpp"

#include "engine/world/buses.hpp"

namespace scs {

void BeatBinding::handle(const ControlEvent& event, BindingTargets& targets) noexcept {
    follower_.handle(event, targets.seconds);
}

void BeatBinding::begin_block(const BlockStart& start, BindingTargets& targets) noexcept {
    const Beats now = follower_.at_start(start);
    const InBar place = in_bar(now.beat, now.beats_per_bar);
    int bus = bus_;
    for (const float value : {place.beat, float(now.tempo), float(now.playing), place.bar})
        (void)targets.buses.set_control(bus++, value, targets.block);
}

} // namespace scs
