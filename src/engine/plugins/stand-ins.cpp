// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/stand-ins.hpp"

#include "engine/plugins/registry.hpp"
#include "engine/units/unit-facts.hpp"

#include <string>

namespace scs {
namespace {

template <int input>
void give(::Unit* unit, int) {
    unit->mOutBuf[0][0] = unit->mInBuf[input][0];
}

template <int input>
void construct(::Unit* unit) {
    unit->mCalcFunc = give<input>;
    give<input>(unit, 1);
}

} // namespace

void define_stand_ins(PluginRegistry& registry) {
    for (const UnitFacts& facts : all_unit_facts())
        if (facts.stand_in_input >= 0)
            registry.define_unit(std::string(facts.name).c_str(), sizeof(::Unit),
                                 facts.stand_in_input == 0 ? construct<0> : construct<1>, nullptr, 0);
}

} // namespace scs
