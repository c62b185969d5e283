// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compile/may-rest.hpp"

#include "engine/compile/code.hpp"
#include "engine/synthdef/endings.hpp"
#include "engine/synthdef/program.hpp"

#include <algorithm>

namespace scs {
namespace {

constexpr size_t fewest = 4;
// To look whether units have come to rest goes through the inputs of all of them in one block.
constexpr size_t most_inputs = 4096;
constexpr size_t most_units = INT16_MAX; ///< what the numbers of plugins' units have room for

class Search {
public:
    Search(const Program& program, std::span<const Kernel* const> kernels, const NativeUgens& ugens)
        : program_(program), kernels_(kernels), ugens_(ugens), found_(program.units.size()) {}

    std::vector<bool> run() {
        const std::vector<bool> none(program_.units.size());
        if (program_.units.size() > most_units)
            return none;
        for (const UnitPlan& unit : program_.units)
            if (unit.ugen->name == "TrigControl") // sets controls back after each block
                for (uint32_t i = 0; i < unit.num_outputs; ++i)
                    forgotten_.push_back(uint32_t(unit.special_index) + i);
        size_t count = 0, inputs = 0;
        for (size_t u = 0; u < found_.size() && count < Resting::most_ops; ++u) {
            const UnitPlan& unit = program_.units[u];
            if (inputs + unit.num_inputs > most_inputs || !fits(unit))
                continue;
            found_[u] = true;
            ++count;
            inputs += unit.num_inputs;
        }
        return count < fewest ? none : found_;
    }

private:
    bool fits(const UnitPlan& unit) const {
        const Kernel* kernel = kernels_[size_t(&unit - program_.units.data())];
        if (!kernel || !unit.is_calc() || unit.rate != Rate::control || unit.num_outputs != 1 ||
            !kernel->may_be_skipped() || ending_of(program_, unit).ends ||
            Resting::Items{kernel->state64, kernel->state32}.bytes() > most_resting_state)
            return false;
        if (kernel->reads_controls && is_forgotten(uint32_t(unit.special_index)))
            return false;
        const auto inputs = std::span(program_.inputs).subspan(unit.first_input, unit.num_inputs);
        if (ugens_.oscillates(unit.ugen->name) && !is_constant_zero(program_.wires[inputs[0]]))
            return false;
        return std::all_of(inputs.begin(), inputs.end(), [this](uint32_t wire) { return stays(wire); });
    }

    /// Whether a wire changes only where a control is set, or a unit that may be at rest computes it anew.
    bool stays(uint32_t w) const {
        const WireSpec& wire = program_.wires[w];
        if (wire.from_unit < 0 || wire.rate == Rate::scalar)
            return true;
        const int32_t control = program_.control_on(w);
        return control >= 0 ? !is_forgotten(uint32_t(control)) : bool(found_[size_t(wire.from_unit)]);
    }

    bool is_forgotten(uint32_t control) const {
        return std::find(forgotten_.begin(), forgotten_.end(), control) != forgotten_.end();
    }
    static bool is_constant_zero(const WireSpec& wire) { return wire.from_unit < 0 && wire.value == 0.f; }

    const Program& program_;
    const std::span<const Kernel* const> kernels_;
    const NativeUgens& ugens_;
    std::vector<uint32_t> forgotten_; ///< controls
    std::vector<bool> found_;
};

} // namespace

std::vector<bool> may_rest(const Program& program, std::span<const Kernel* const> kernels, const NativeUgens& ugens) {
    return Search(program, kernels, ugens).run();
}

} // namespace scs
