// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/input-guards.hpp"

#include <string_view>

namespace scs {
namespace {

struct Rule {
    std::string_view ugen;
    bool only_audio; ///< at control rate the unit looks itself
    std::uint32_t input;
    float low, high;
};

// A bus below the first one is taken for an address; the first one is what scsynth uses instead at the start.
constexpr float no_bus = 16777216.f;
// The product of the most channels and the most frames is just no overflow.
constexpr float most_channels = 256.f, most_frames = 4194304.f;
constexpr float most_stages = 65536.f;

constexpr Rule rules[] = {
    {"Out", true, 0, 0.f, no_bus},
    {"ReplaceOut", true, 0, 0.f, no_bus},
    {"OffsetOut", true, 0, 0.f, no_bus},
    {"XOut", true, 0, 0.f, no_bus},
    {"In", true, 0, 0.f, no_bus},
    {"InFeedback", true, 0, 0.f, no_bus},
    {"LocalBuf", false, 0, 1.f, most_channels},
    {"LocalBuf", false, 1, 1.f, most_frames},
    {"EnvGen", false, 7, -99.f, most_stages}, // the node to hold at until released
    {"EnvGen", false, 8, -99.f, most_stages}, // the node to return to until then
};

// EnvGen's inputs: nine, then four for each of its stages.
constexpr std::uint32_t envelope_count_input = 6, envelope_head = 9, envelope_stage = 4;

} // namespace

std::vector<InputGuard> input_guards(const SynthDef& def) {
    std::vector<InputGuard> guards;
    for (std::uint32_t i = 0; i < def.units.size(); ++i) {
        const UnitSpec& unit = def.units[i];
        const auto add = [&](std::uint32_t input, float low, float high) {
            const InputGuard guard{i, input, low, high};
            if (input >= unit.inputs.size())
                return;
            const InputRef& from = unit.inputs[input];
            if (from.is_constant() && guard.apply(def.constants[from.index]) == def.constants[from.index])
                return;
            guards.push_back(guard);
        };
        for (const Rule& rule : rules)
            if (unit.name == rule.ugen && (!rule.only_audio || unit.rate == Rate::audio))
                add(rule.input, rule.low, rule.high);
        if (unit.name == "EnvGen" && unit.inputs.size() >= envelope_head)
            add(envelope_count_input, 0.f,
                static_cast<float>((unit.inputs.size() - envelope_head) / envelope_stage));
    }
    return guards;
}

} // namespace scs
