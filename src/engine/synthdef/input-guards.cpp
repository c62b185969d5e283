// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/input-guards.hpp"

#include "engine/units/unit-facts.hpp"

#include <optional>

namespace scs {

std::vector<InputGuard> input_guards(const SynthDef& def, int block_size) {
    std::vector<InputGuard> guards;
    for (uint32_t i = 0; i < def.units.size(); ++i) {
        const UnitSpec& unit = def.units[i];
        const auto constant = [&](uint32_t input) {
            const InputRef& from = unit.inputs[input];
            return from.is_constant() ? std::optional(def.constants[from.index]) : std::nullopt;
        };
        const auto add = [&](InputGuard guard) {
            const auto number = [](int32_t input) { return uint32_t(input); };
            if (guard.input >= unit.inputs.size() ||
                (guard.high_input >= 0 && number(guard.high_input) >= unit.inputs.size()))
                return;
            guard.unit = i;
            // Checked at the highest rate: at lower ones the input fits, too.
            constexpr float highest_rate = 1e6f;
            const auto value = constant(guard.input);
            const auto high = guard.high_input < 0 ? guard.high : constant(number(guard.high_input));
            if (value && high && !guard.in_bins &&
                guard.apply(*value, guard.in_samples ? *high / highest_rate : *high) == *value)
                return;
            guards.push_back(guard);
        };
        const UnitFacts* facts = find_unit_facts(unit.name);
        if (!facts)
            continue;
        for (const InputLimit& limit : facts->limits()) {
            if ((limit.kind & InputLimit::at_audio_rate) && unit.rate != Rate::audio)
                continue;
            const bool in_block = limit.kind & InputLimit::in_block && unit.rate == Rate::audio;
            const float last_frame = unit.rate == Rate::audio ? float(block_size - 1) : 0.f;
            add({.input = limit.input,
                 .low = limit.low,
                 .high = limit.kind & InputLimit::in_block ? last_frame : limit.high,
                 .in_samples = (limit.kind & InputLimit::in_samples) != 0,
                 .at_start = (limit.kind & InputLimit::at_start) != 0,
                 .in_block = in_block,
                 .in_bins = (limit.kind & InputLimit::in_bins) != 0,
                 .high_input = limit.high_input});
        }
        for (const PortCount& count : facts->counts())
            if (count.each_time && unit.inputs.size() >= count.base)
                add({.input = count.count_input,
                     .low = 0.f,
                     .high = float((unit.inputs.size() - count.base) / count.each)});
    }
    return guards;
}

} // namespace scs
