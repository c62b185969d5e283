// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/later-inputs.hpp"

#include <optional>
#include <string_view>

namespace scs {
namespace {

/// Units whose later inputs say what the first one was before the synth began.
struct Delayed {
    std::string_view name;
    size_t inputs; ///< since 3.14
};
constexpr Delayed delayed[] = {{"Delay1", 2}, {"Delay2", 3}};

} // namespace

void add_later_inputs(SynthDef& def, Release release) {
    if (release < Release::v3_14)
        return;
    std::optional<uint32_t> zero; // the constant's index
    for (UnitSpec& unit : def.units)
        for (const Delayed& one : delayed) {
            if (unit.name != one.name || unit.inputs.empty() || unit.inputs.size() >= one.inputs)
                continue;
            if (unit.rate == Rate::audio && !zero) {
                zero = uint32_t(def.constants.size());
                def.constants.push_back(0.f);
            }
            const InputRef before = unit.rate == Rate::audio ? InputRef{-1, *zero} : unit.inputs[0];
            unit.inputs.resize(one.inputs, before);
        }
}

} // namespace scs
