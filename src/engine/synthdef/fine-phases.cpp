// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/fine-phases.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace scs {
namespace {

struct Source {
    std::string_view name;
    size_t inputs;
};
constexpr std::array sources{Source{"Phasor", 5}, Source{"Sweep", 2}, Source{"Line", 4}};
constexpr size_t phase = 1, read_inputs = 4; // of BufRd

bool is_source(const UnitSpec& unit) {
    return unit.rate == Rate::audio && !unit.outputs.empty() && unit.outputs[0] == Rate::audio &&
           std::any_of(sources.begin(), sources.end(),
                       [&](const Source& one) { return unit.name == one.name && unit.inputs.size() == one.inputs; });
}

} // namespace

void refine_phases(SynthDef& def) {
    for (size_t i = 0; i < def.units.size(); ++i) {
        UnitSpec& reader = def.units[i];
        if (reader.name != "BufRd" || reader.rate != Rate::audio || reader.inputs.size() != read_inputs)
            continue;
        const InputRef from = reader.inputs[phase];
        if (from.is_constant() || from.index != 0 || size_t(from.unit) >= i || !is_source(def.units[size_t(from.unit)]))
            continue;
        UnitSpec& source = def.units[size_t(from.unit)];
        source.outputs.resize(2, Rate::audio);
        reader.inputs.push_back({from.unit, 1});
    }
}

} // namespace scs
