// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compile/unit-kernels.hpp"

#include "engine/synthdef/own-rate.hpp"
#include "engine/synthdef/program.hpp"

#include <algorithm>

namespace scs {
namespace {

// The limit of the wire numbers in an Op.
constexpr uint32_t most_wires = 0x7fff;

bool any_gives(const Program& program, const NativeUgens& ugens, Gives what) {
    return std::any_of(program.units.begin(), program.units.end(),
                       [&](const UnitPlan& unit) { return ugens.gives(unit.ugen->name) == what; });
}

/// Without a cross-fade, whose last bit depends on how SuperCollider was compiled.
bool only_reaches_buses(const Kernel& kernel) {
    return kernel.effect != Effect::none && kernel.effect != Effect::draws && !kernel.looks_back &&
           kernel.first_channel == 1;
}

bool is_own_buffer(const Program& program, const WireSpec& wire) {
    return wire.from_unit >= 0 && program.units[size_t(wire.from_unit)].ugen->name == "LocalBuf";
}

} // namespace

const Kernel* kernel_of(const Program& program, const UnitPlan& unit, const NativeUgens& ugens) {
    if (unit.num_inputs > most_wires || unit.num_outputs > most_wires)
        return nullptr;
    std::vector<Signature::Input> inputs;
    for (uint32_t i = 0; i < unit.num_inputs; ++i) {
        const WireSpec& wire = program.wires[program.inputs[unit.first_input + i]];
        inputs.push_back({wire.rate, wire.from_unit < 0, wire.value, wire.late, is_own_buffer(program, wire)});
    }
    const Kernel* kernel = ugens.find(unit.ugen->name, {unit.rate, unit.special_index, inputs, unit.num_outputs,
                                                        ugens.release, ugens.right_durations, asks(program.own_rate)});
    if (!kernel || (unit.is_calc() && !kernel->lone) || (kernel->reads_after_writing && !unit.ugen->cant_alias))
        return nullptr;
    for (uint32_t i = 0; i < unit.num_outputs; ++i)
        if (program.wires[unit.first_output_wire + i].rate != unit.rate)
            return nullptr;
    return kernel;
}

uint64_t gate_controls(const Program& program, std::span<const Kernel* const> kernels) {
    uint64_t controls = 0;
    for (size_t u = 0; u < kernels.size(); ++u)
        if (kernels[u] && kernels[u]->has_gate)
            if (const int32_t control = program.control_on(program.inputs[program.units[u].first_input]); control >= 0)
                controls |= TurnFacts::control_bit(size_t(control));
    return controls;
}

std::vector<const Kernel*> kernels_among_plugins(const Program& program, const NativeUgens& ugens, NativeUnits which,
                                                 int block_size) {
    // If the synth may use a generator other than the engine's, no unit is native: it isn't known which of them draw.
    if (block_size % block_multiple != 0 || any_gives(program, ugens, Gives::generator))
        return {};
    std::vector<const Kernel*> kernels;
    for (const UnitPlan& unit : program.units) {
        const Kernel* kernel = kernel_of(program, unit, ugens);
        if (kernel && (kernel->state_of || kernel->waits_for_done || kernel->reads_controls || kernel->pulls ||
                       kernel->writes_own_buffers || (which == NativeUnits::buses && !only_reaches_buses(*kernel))))
            kernel = nullptr;
        kernels.push_back(kernel);
    }
    if (std::all_of(kernels.begin(), kernels.end(), [](const Kernel* kernel) { return !kernel; }))
        kernels.clear();
    return kernels;
}

} // namespace scs
