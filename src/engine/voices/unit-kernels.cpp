// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/unit-kernels.hpp"

#include "engine/synthdef/program.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace scs {
namespace {

// What an Op's numbers can hold.
constexpr uint32_t most_wires = 0x7fff;

using Names = std::span<const std::string_view>;

// What reads the controls of a native voice, or wires that another unit of it fills.
constexpr std::string_view of_voices[] = {"AudioControl", "Control",  "LagControl",
                                          "LocalIn",      "LocalOut", "TrigControl"};
// Buffers of one synth alone are the plugins' business.
constexpr std::string_view makes_buffers[] = {"LocalBuf", "MaxLocalBufs"};
constexpr std::string_view reads_buffers[] = {"BufChannels", "BufDur", "BufFrames", "BufRateScale", "BufRd",
                                              "BufSampleRate", "BufSamples", "COsc", "FoldIndex", "Index", "IndexL",
                                              "Osc", "OscN", "PlayBuf", "Shaper", "WrapIndex"};
// Another generator than the first: then no kernel draws, and we don't ask which ones would.
constexpr std::string_view picks_generator[] = {"RandID"};

bool among(const UnitPlan& unit, Names names) {
    return std::find(names.begin(), names.end(), unit.ugen->name) != names.end();
}

bool any_among(const Program& program, Names names) {
    return std::any_of(program.units.begin(), program.units.end(),
                       [&](const UnitPlan& unit) { return among(unit, names); });
}

} // namespace

const Kernel* kernel_of(const Program& program, const UnitPlan& unit, const NativeUgens& ugens) {
    if (unit.num_inputs > most_wires || unit.num_outputs > most_wires)
        return nullptr;
    std::vector<Signature::Input> inputs;
    for (uint32_t i = 0; i < unit.num_inputs; ++i) {
        const WireSpec& wire = program.wires[program.inputs[unit.first_input + i]];
        inputs.push_back({wire.rate, wire.from_unit < 0, wire.value});
    }
    const Kernel* kernel = ugens.find(unit.ugen->name, {unit.rate, unit.special_index, inputs, unit.num_outputs});
    if (!kernel || (unit.is_calc() && !kernel->lone) || (kernel->reads_after_writing && !unit.ugen->cant_alias))
        return nullptr;
    for (uint32_t i = 0; i < unit.num_outputs; ++i)
        if (program.wires[unit.first_output_wire + i].rate != unit.rate)
            return nullptr;
    return kernel;
}

std::vector<const Kernel*> kernels_among_plugins(const Program& program, const NativeUgens& ugens, int block_size) {
    if (block_size % block_multiple != 0 || any_among(program, picks_generator))
        return {};
    const bool own_buffers = any_among(program, makes_buffers);
    std::vector<const Kernel*> kernels;
    for (const UnitPlan& unit : program.units) {
        const Kernel* kernel = nullptr;
        if (!among(unit, of_voices) && !(own_buffers && among(unit, reads_buffers)))
            kernel = kernel_of(program, unit, ugens);
        if (kernel && (kernel->state_of || kernel->waits_for_done || kernel->forgets_controls))
            kernel = nullptr;
        kernels.push_back(kernel);
    }
    if (std::all_of(kernels.begin(), kernels.end(), [](const Kernel* kernel) { return !kernel; }))
        kernels.clear();
    return kernels;
}

} // namespace scs
