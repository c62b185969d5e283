// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/input-mends.hpp"

#include "engine/synthdef/program.hpp"
#include "engine/units/unit-facts.hpp"

#include <algorithm>

namespace scs {
namespace {

constexpr uint32_t known_inputs = 64; // block_inputs() has a bit for each

bool is_negative_width(const UnitPlan& unit, uint32_t input, const WireSpec& wire) {
    constexpr uint32_t width = 3;
    return unit.ugen->name == "PanAz" && input == width && !(wire.from_unit < 0 && wire.value >= 0.f);
}

} // namespace

std::vector<InputMend> input_mends(const Program& program) {
    std::vector<InputMend> mends;
    for (uint32_t u = 0; u < program.units.size(); ++u) {
        const UnitPlan& unit = program.units[u];
        if (unit.rate != Rate::audio)
            continue;
        const uint64_t blocks = block_inputs(unit.ugen->name);
        for (uint32_t i = 0; i < std::min(unit.num_inputs, known_inputs); ++i) {
            const WireSpec& wire = program.wires[program.inputs[unit.first_input + i]];
            const bool single = wire.rate == Rate::control || wire.rate == Rate::scalar;
            if (single && (blocks >> i & 1))
                mends.push_back({u, i, InputMend::Kind::held, wire.rate == Rate::control});
            else if (is_negative_width(unit, i, wire))
                mends.push_back({u, i, InputMend::Kind::absolute, wire.rate != Rate::scalar});
        }
    }
    return mends;
}

} // namespace scs
