// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/later-inputs.hpp"

#include "engine/units/unit-facts.hpp"

#include <optional>

namespace scs {

void add_later_inputs(SynthDef& def, Release release) {
    if (release < Release::v3_14)
        return;
    std::optional<uint32_t> zero; // the constant's index
    for (UnitSpec& unit : def.units) {
        const UnitFacts* facts = find_unit_facts(unit.name);
        if (!facts || unit.inputs.empty() || unit.inputs.size() >= facts->later_inputs)
            continue;
        if (unit.rate == Rate::audio && !zero) {
            zero = uint32_t(def.constants.size());
            def.constants.push_back(0.f);
        }
        const InputRef before = unit.rate == Rate::audio ? InputRef{-1, *zero} : unit.inputs[0];
        unit.inputs.resize(facts->later_inputs, before);
    }
}

} // namespace scs
