// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/fine-phases.hpp"

#include "engine/units/unit-facts.hpp"

#include <algorithm>

namespace scs {
namespace {

constexpr size_t phase_input = 1; // of what reads one

/// The unit's row, if the number of its inputs is the row's.
const UnitFacts* facts_of(const UnitSpec& unit) {
    const UnitFacts* facts = find_unit_facts(unit.name);
    return facts && facts->phase != Phase::none && unit.inputs.size() == facts->min_inputs ? facts : nullptr;
}

class Refinement {
public:
    explicit Refinement(const SynthDef& def) : def_(def), units_(def.units.size()) {
        for (size_t i = 0; i < units_.size(); ++i) {
            units_[i] = {.facts = facts_of(def.units[i])};
            units_[i].can_be_fine = can_be_fine(i);
        }
        for (size_t i = units_.size(); i-- > 0;)
            note_needs(i);
    }
    bool is_empty() const { return std::ranges::none_of(units_, &Unit::needed); }
    SynthDef made() const {
        SynthDef fine = def_;
        fine.constants.push_back(0.f);
        for (size_t i = 0; i < units_.size(); ++i) {
            UnitSpec& unit = fine.units[i];
            if (is_reader(i) && is_fine(i, unit.inputs[phase_input]))
                unit.inputs.push_back(rest_of(i, unit.inputs[phase_input]));
            if (!units_[i].needed)
                continue;
            unit.outputs.push_back(Rate::audio);
            if (does(i, Phase::passes))
                for (size_t k = 0, count = unit.inputs.size(); k < count; ++k)
                    unit.inputs.push_back(rest_of(i, unit.inputs[k]));
        }
        return fine;
    }

private:
    struct Unit {
        const UnitFacts* facts = nullptr; ///< null: it has nothing to do with phases
        bool can_be_fine = false, needed = false;
    };

    bool does(size_t index, Phase what) const { return units_[index].facts && units_[index].facts->phase == what; }
    bool is_reader(size_t index) const { return does(index, Phase::reads) && def_.units[index].rate == Rate::audio; }
    bool can_be_fine(size_t index) const {
        const UnitSpec& unit = def_.units[index];
        if (unit.rate != Rate::audio || unit.outputs.size() != 1 || unit.outputs[0] != Rate::audio)
            return false;
        if (does(index, Phase::makes))
            return true;
        if (!does(index, Phase::passes))
            return false;
        if (const uint64_t operators = units_[index].facts->phase_operators) {
            if (!has_operator(operators, unit.special_index))
                return false;
        } else if (!is_audio(index, unit.inputs[0])) {
            return false;
        }
        return std::ranges::any_of(unit.inputs, [&](const InputRef& from) { return is_fine(index, from); });
    }
    /// An input of the unit `of`.
    bool is_audio(size_t of, const InputRef& from) const {
        if (from.is_constant() || size_t(from.unit) >= of)
            return false;
        const UnitSpec& unit = def_.units[size_t(from.unit)];
        return from.index < unit.outputs.size() && unit.outputs[from.index] == Rate::audio;
    }
    bool is_fine(size_t of, const InputRef& from) const {
        return is_audio(of, from) && from.index == 0 && units_[size_t(from.unit)].can_be_fine;
    }
    void note_needs(size_t index) {
        const UnitSpec& unit = def_.units[index];
        const auto note = [&](const InputRef& from) {
            if (is_fine(index, from))
                units_[size_t(from.unit)].needed = true;
        };
        if (is_reader(index))
            note(unit.inputs[phase_input]);
        if (units_[index].needed && does(index, Phase::passes))
            std::ranges::for_each(unit.inputs, note);
    }
    InputRef rest_of(size_t of, const InputRef& from) const {
        return is_fine(of, from) ? InputRef{from.unit, 1} : InputRef{-1, uint32_t(def_.constants.size())};
    }

    const SynthDef& def_;
    std::vector<Unit> units_;
};

} // namespace

std::optional<SynthDef> refined_phases(const SynthDef& def) {
    const Refinement refinement(def);
    return refinement.is_empty() ? std::nullopt : std::optional(refinement.made());
}

} // namespace scs
