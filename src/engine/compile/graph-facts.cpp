// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compile/graph-facts.hpp"

#include "engine/compile/unit-kernels.hpp"
#include "engine/synthdef/endings.hpp"
#include "engine/synthdef/program.hpp"
#include "engine/units/unit-effects.hpp"

namespace scs {
namespace {

constexpr size_t work_of_unit = 2; // operations of a lone voice: plugins' units are larger ones

class Judge {
public:
    Judge(const Program& program, UnitKernels kernels)
        : program_(program), kernels_(kernels), facts_(std::make_unique<GraphFacts>()) {}

    std::unique_ptr<const GraphFacts> run() {
        facts_->name = program_.name;
        facts_->gate_controls = gate_controls(program_, kernels_);
        facts_->acts_on_itself = facts_->pipelines = true;
        for (uint32_t u = 0; u < program_.units.size() && facts_->acts_on_itself; ++u) {
            const UnitPlan& unit = program_.units[u];
            if (unit.rate == Rate::scalar)
                continue;
            facts_->work += work_of_unit;
            note_ending(ending_of(program_, unit));
            if (const Kernel* kernel = kernels_.empty() ? nullptr : kernels_[u])
                note_kernel(unit, *kernel);
            else
                note_plugin(unit);
        }
        facts_->pipelines = facts_->pipelines && facts_->acts_on_itself;
        return std::move(facts_);
    }

private:
    const WireSpec& input(const UnitPlan& unit, uint32_t index) const {
        return program_.wires[program_.inputs[unit.first_input + index]];
    }

    void note_kernel(const UnitPlan& unit, const Kernel& kernel) {
        facts_->reads_buffers = facts_->reads_buffers || kernel.reads_buffers;
        facts_->sends = facts_->sends || kernel.sends;
        facts_->pipelines = facts_->pipelines && !kernel.looks_back;
        switch (kernel.effect) {
        case Effect::none: break;
        case Effect::draws: facts_->draws = true; break;
        case Effect::writes_audio:
        case Effect::writes_control:
            note_reach(kernel.effect, unit, int64_t(unit.num_inputs) - kernel.first_channel);
            break;
        case Effect::reads_audio:
        case Effect::reads_control:
            facts_->reads = true;
            note_reach(kernel.effect, unit, unit.num_outputs);
            break;
        }
    }

    void note_plugin(const UnitPlan& unit) {
        const UnitEffects* effects = find_unit_effects(unit.ugen->name);
        if (!effects) {
            facts_->acts_on_itself = false;
            return;
        }
        const auto does = [effects](UnitEffects::Kind kind) { return (effects->kinds & kind) != 0; };
        facts_->draws = facts_->draws || does(UnitEffects::draws) || effects->draws_as(unit.special_index);
        facts_->sends = facts_->sends || does(UnitEffects::sends);
        facts_->allocates = facts_->allocates || does(UnitEffects::allocates);
        facts_->reads_buffers = facts_->reads_buffers || does(UnitEffects::reads_buffers);
        facts_->writes_buffers = facts_->writes_buffers || does(UnitEffects::writes_buffers) ||
                                 (does(UnitEffects::changes_chain) && !has_own_chain(unit, 0)) ||
                                 (does(UnitEffects::changes_second_chain) && !has_own_chain(unit, 1));
        facts_->pipelines = facts_->pipelines && !does(UnitEffects::alone);
    }

    /// Whether a unit for spectra finds them in a local buffer of the synth.
    bool has_own_chain(const UnitPlan& unit, uint32_t which) const {
        const UnitPlan* at = &unit;
        for (uint32_t chain = which; chain < at->num_inputs; chain = 0) {
            const int32_t from = input(*at, chain).from_unit;
            if (from < 0)
                return false;
            at = &program_.units[size_t(from)];
            if (at->ugen->name == "LocalBuf")
                return true;
            const UnitEffects* effects = find_unit_effects(at->ugen->name);
            if (!effects || !(effects->kinds & UnitEffects::changes_chain))
                return false;
        }
        return false;
    }

    void note_ending(const UnitEnding& ending) {
        facts_->ends = facts_->ends || ending.ends;
        facts_->acts_on_itself = facts_->acts_on_itself && !ending.others;
    }

    void note_reach(Effect effect, const UnitPlan& unit, int64_t channels) {
        const WireSpec& bus = input(unit, 0);
        GraphFacts::Reach reach{effect, GraphFacts::constant, bus.value, uint32_t(channels)};
        if (bus.from_unit >= 0) {
            const int32_t control = program_.control_on(program_.inputs[unit.first_input]);
            reach.control = control < 0 ? GraphFacts::unknown : control;
            if (control >= 0)
                facts_->bus_controls |= TurnFacts::control_bit(size_t(reach.control));
        }
        facts_->reaches.push_back(reach);
    }

    const Program& program_;
    const UnitKernels kernels_;
    std::unique_ptr<GraphFacts> facts_;
};

} // namespace

std::unique_ptr<const GraphFacts> judge_graph(const Program& program, UnitKernels kernels) {
    return Judge(program, kernels).run();
}

} // namespace scs
