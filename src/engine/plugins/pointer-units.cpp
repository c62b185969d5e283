// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/pointer-units.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"

#include <algorithm>
#include <cmath>

namespace scs {
namespace {

/// A unit's memory is zeroed before its constructor runs, so that it starts at the pointer's place.
struct PointerUnit : ::Unit {
    float level;  ///< in the last block
    float factor; ///< by which the distance to the pointer's place shrinks in a block
    float lag;    ///< s, that the factor was made for

    float in(int index) const noexcept { return mInBuf[index][0]; }
};

/// Between inputs 0 and 1: linear where input 2 is 0, else exponential.
float between(const PointerUnit& unit, float place) noexcept {
    const float low = unit.in(0), high = unit.in(1);
    return unit.in(2) == 0.f ? (high - low) * place + low : std::pow(high / low, place) * low;
}

float along_x(const PointerUnit& unit, const Pointer& pointer) noexcept {
    return between(unit, pointer.x);
}
float along_y(const PointerUnit& unit, const Pointer& pointer) noexcept {
    return between(unit, pointer.y);
}
float by_button(const PointerUnit& unit, const Pointer& pointer) noexcept {
    return unit.in(pointer.pressed ? 1 : 0);
}
float by_key(const PointerUnit& unit, const Pointer& pointer) noexcept {
    return unit.in(pointer.is_down(unit.in(0)) ? 2 : 1);
}

/// As SuperCollider's units keep it: 0 in place of denormals and of what has blown up.
float kept(float level) noexcept {
    const float size = std::abs(level);
    return size > 1e-15f && size < 1e15f ? level : 0.f;
}

/// The factor with which a distance shrinks to a thousandth in `lag` seconds.
float factor_of(float lag, double rate) noexcept {
    constexpr double log_of_thousandth = -6.907755278982137;
    return lag == 0.f ? 0.f : float(std::exp(log_of_thousandth / (double(lag) * rate)));
}

/// Says once what makes that known which nobody tells of.
void ask_for(PluginWorld& world, bool told, bool& missed, const char* text) noexcept {
    if (told || missed || !world.real_time())
        return;
    const FaultGuard::HostCode whole;
    missed = true;
    world.outbox().print(text);
}

void ask_for_keys(PluginWorld& world) noexcept {
    Pointer& pointer = world.pointer();
    ask_for(world, pointer.keys_told, pointer.keys_missed,
            "KeyState follows the keyboard while `pw-scsynth pointer --keys` runs\n");
}

template <float (*Goal)(const PointerUnit&, const Pointer&) noexcept, int LagInput>
struct Follower {
    static void follow(::Unit* self, int samples) {
        auto& unit = *static_cast<PointerUnit*>(self);
        const float goal = Goal(unit, owner_of(unit.mWorld).pointer()), lag = unit.in(LagInput);
        const float level = goal + unit.factor * (unit.level - goal);
        std::fill_n(unit.mOutBuf[0], samples, level);
        unit.level = kept(level);
        if (lag == unit.lag)
            return;
        unit.lag = lag;
        unit.factor = factor_of(lag, unit.mRate->mSampleRate); // for the next block, as in SuperCollider
    }
    static void start(::Unit* unit) {
        if constexpr (Goal == by_key)
            ask_for_keys(owner_of(unit->mWorld));
        else
            ask_for_pointer(owner_of(unit->mWorld));
        unit->mCalcFunc = follow;
        follow(unit, 1);
    }
};

} // namespace

void define_pointer_units(PluginRegistry& registry) {
    registry.define_unit("KeyState", sizeof(PointerUnit), Follower<by_key, 3>::start, nullptr, 0);
    registry.define_unit("MouseX", sizeof(PointerUnit), Follower<along_x, 3>::start, nullptr, 0);
    registry.define_unit("MouseY", sizeof(PointerUnit), Follower<along_y, 3>::start, nullptr, 0);
    registry.define_unit("MouseButton", sizeof(PointerUnit), Follower<by_button, 2>::start, nullptr, 0);
}

void ask_for_pointer(PluginWorld& world) noexcept {
    Pointer& pointer = world.pointer();
    ask_for(world, pointer.told, pointer.missed,
            "the mouse is known while `pw-scsynth pointer` runs; pw-scsynth runs that for the server that it has "
            "started, unless that has --no-pointer or a password\n");
}

} // namespace scs
