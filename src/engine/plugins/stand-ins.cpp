// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/stand-ins.hpp"

#include "engine/plugins/registry.hpp"

namespace scs {
namespace {

template <int minimum_input>
void give_minimum(::Unit* unit, int) {
    unit->mOutBuf[0][0] = unit->mInBuf[minimum_input][0];
}

template <int minimum_input>
void construct(::Unit* unit) {
    unit->mCalcFunc = give_minimum<minimum_input>;
    give_minimum<minimum_input>(unit, 1);
}

} // namespace

void define_stand_ins(PluginRegistry& registry) {
    for (const char* name : {"MouseX", "MouseY", "MouseButton"})
        registry.define_unit(name, sizeof(::Unit), construct<0>, nullptr, 0);
    registry.define_unit("KeyState", sizeof(::Unit), construct<1>, nullptr, 0);
}

} // namespace scs
