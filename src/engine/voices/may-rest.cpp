// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/may-rest.hpp"

#include "engine/synthdef/endings.hpp"
#include "engine/synthdef/program.hpp"
#include "engine/voices/code.hpp"

#include <algorithm>

namespace scs {
namespace {

constexpr size_t fewest = 4;

class Search {
public:
    Search(const Program& program, std::span<const Kernel* const> kernels, const NativeUgens& ugens)
        : program_(program), kernels_(kernels), ugens_(ugens), found_(program.units.size()) {}

    std::vector<bool> run() {
        for (const UnitPlan& unit : program_.units)
            if (const Kernel* kernel = kernels_[index(unit)]; kernel && kernel->forgets_controls)
                for (uint32_t i = 0; i < unit.num_outputs; ++i)
                    forgotten_.push_back(uint32_t(unit.special_index) + i);
        size_t count = 0;
        for (size_t u = 0; u < found_.size() && count < Resting::most_ops; ++u)
            count += found_[u] = fits(program_.units[u]);
        return count < fewest ? std::vector<bool>(found_.size()) : found_;
    }

private:
    size_t index(const UnitPlan& unit) const { return size_t(&unit - program_.units.data()); }

    bool fits(const UnitPlan& unit) const {
        const Kernel* kernel = kernels_[index(unit)];
        if (!kernel || !kernel->lone || !unit.is_calc() || unit.rate != Rate::control || unit.num_outputs != 1 ||
            !kernel->depends_on_inputs_alone() || shares_state(kernel) ||
            Resting::Items{kernel->state64, kernel->state32}.bytes() > Resting::most_state_bytes ||
            ending_of(program_, unit).ends)
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

    bool shares_state(const Kernel* kernel) const {
        return std::any_of(kernels_.begin(), kernels_.end(),
                           [kernel](const Kernel* other) { return other && other->state_of == kernel; });
    }
    bool is_forgotten(uint32_t control) const {
        return std::find(forgotten_.begin(), forgotten_.end(), control) != forgotten_.end();
    }
    static bool is_constant_zero(const WireSpec& wire) { return wire.from_unit < 0 && wire.value == 0.f; }

    const Program& program_;
    const std::span<const Kernel* const> kernels_;
    const NativeUgens& ugens_;
    std::vector<uint32_t> forgotten_; ///< controls that units set back after each block
    std::vector<bool> found_;
};

} // namespace

std::vector<bool> may_rest(const Program& program, std::span<const Kernel* const> kernels, const NativeUgens& ugens) {
    return Search(program, kernels, ugens).run();
}

} // namespace scs
