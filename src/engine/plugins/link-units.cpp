// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/link-units.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/graph-instance.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"

#include <algorithm>
#include <cmath>

namespace scs {
namespace {

constexpr float nothing = -1.f; ///< what the units give where there is no session, as in SuperCollider

/// A unit's memory is zeroed before its constructor runs.
struct LinkUnit : ::Unit {
    NtpTime asked; ///< when it has asked something of the session last

    float in(int index) const noexcept { return mInBuf[index][0]; }
};

/// Says once what makes a session known.
void miss_session(PluginWorld& world) noexcept {
    LinkTimeline& link = world.link();
    if (link.joined() || link.missed || !world.real_time())
        return;
    const FaultGuard::HostCode whole;
    link.missed = true;
    world.outbox().print("LinkPhase, LinkTempo and LinkJump follow a Link session while `pw-scsynth link` runs\n");
}

/// Asks something of the session, unless the unit has done so a moment ago: the answer may still be under way.
void ask(LinkUnit& unit, PluginWorld& world, LinkEvent::What what, double value, double quantum) noexcept {
    constexpr double pause = 0.05; // s
    const NtpTime now = world.time();
    if (unit.asked && std::abs(ntp_seconds_between(unit.asked, now)) < pause)
        return;
    const FaultGuard::HostCode whole;
    unit.asked = now;
    const LinkEvent event{{EventKind::link, sizeof event}, what, world.link().client, value, quantum, now};
    (void)world.outbox().notify(event);
}

void give_phase(::Unit* self, int samples) {
    const auto& unit = *static_cast<LinkUnit*>(self);
    PluginWorld& world = owner_of(unit.mWorld);
    const LinkTimeline& link = world.link();
    const double quantum = unit.in(0), beat = link.beat_at(world.time());
    const Instance& synth = Instance::of(unit);
    const double before = synth.own ? synth.own->samples_before() * synth.audio_rate.duration : 0; // s
    for (int i = 0; i < samples; ++i) {
        const double phase = LinkTimeline::phase(beat + (before + i * unit.mRate->mSampleDur) * link.tempo, quantum);
        const auto rounded = float(phase), end = float(quantum);
        unit.mOutBuf[0][i] = !link.joined()                ? nothing
                             : rounded < end || phase == 0 ? rounded
                                                           : std::nextafter(end, 0.f);
    }
}

void give_tempo(::Unit* self, int samples) {
    auto& unit = *static_cast<LinkUnit*>(self);
    PluginWorld& world = owner_of(unit.mWorld);
    const LinkTimeline& link = world.link();
    const float gate = unit.in(0), wanted = unit.in(1);
    if (link.joined() && gate > 0.f && std::isfinite(wanted)) {
        constexpr double same = 1e-6; // floats round that much
        const double tempo = std::clamp(double(wanted), LinkTimeline::slowest, LinkTimeline::fastest);
        if (std::abs(tempo - link.tempo) > same * tempo)
            ask(unit, world, LinkEvent::What::tempo, tempo, 0);
    }
    std::fill_n(unit.mOutBuf[0], samples, link.joined() ? float(link.tempo) : nothing);
}

void jump(::Unit* self, int samples) {
    auto& unit = *static_cast<LinkUnit*>(self);
    PluginWorld& world = owner_of(unit.mWorld);
    const bool joined = world.link().joined();
    const float trigger = unit.in(0), beat = unit.in(1), quantum = unit.in(2), force = unit.in(3);
    if (joined && trigger > 0.f && std::isfinite(beat) && std::isfinite(quantum) && quantum > 0.f)
        ask(unit, world, force > 0.f ? LinkEvent::What::force : LinkEvent::What::jump, beat, quantum);
    std::fill_n(unit.mOutBuf[0], samples, joined ? 0.f : nothing);
}

template <void (*Compute)(::Unit*, int)>
void start(::Unit* unit) {
    miss_session(owner_of(unit->mWorld));
    unit->mCalcFunc = Compute;
    Compute(unit, 1);
}

} // namespace

void define_link_units(PluginRegistry& registry) {
    registry.define_unit("LinkPhase", sizeof(LinkUnit), start<give_phase>, nullptr, 0);
    registry.define_unit("LinkTempo", sizeof(LinkUnit), start<give_tempo>, nullptr, 0);
    registry.define_unit("LinkJump", sizeof(LinkUnit), start<jump>, nullptr, 0);
}

} // namespace scs
