// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/fine-phases.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace scs {
namespace {

struct Kind {
    std::string_view name;
    size_t inputs;
};
constexpr Kind sources[] = {{"Phasor", 5}, {"Sweep", 2}, {"Line", 4}, {"LFSaw", 2}};
constexpr Kind arithmetic[] = {{"BinaryOpUGen", 2}, {"MulAdd", 3}, {"Sum3", 3}, {"Sum4", 4}, {"Wrap", 3}};
constexpr int16_t operators[] = {0, 1, 2, 4, 5}; // + - * / %
constexpr size_t phase = 1, read_inputs = 4;     // of BufRd

bool is_one_of(std::span<const Kind> kinds, const UnitSpec& unit) {
    return std::ranges::any_of(
        kinds, [&](const Kind& kind) { return unit.name == kind.name && unit.inputs.size() == kind.inputs; });
}

class Refinement {
public:
    explicit Refinement(const SynthDef& def) : def_(def), units_(def.units.size()) {
        for (size_t i = 0; i < units_.size(); ++i)
            units_[i].can_be_fine = can_be_fine(i);
        for (size_t i = units_.size(); i-- > 0;)
            note_needs(i);
    }
    bool is_empty() const { return std::ranges::none_of(units_, &Unit::needed); }
    SynthDef made() const {
        SynthDef fine = def_;
        fine.constants.push_back(0.f);
        for (size_t i = 0; i < units_.size(); ++i) {
            UnitSpec& unit = fine.units[i];
            if (is_reader(unit) && is_fine(i, unit.inputs[phase]))
                unit.inputs.push_back(rest_of(i, unit.inputs[phase]));
            if (!units_[i].needed)
                continue;
            unit.outputs.push_back(Rate::audio);
            if (!is_one_of(sources, unit))
                for (size_t k = 0, count = unit.inputs.size(); k < count; ++k)
                    unit.inputs.push_back(rest_of(i, unit.inputs[k]));
        }
        return fine;
    }

private:
    struct Unit {
        bool can_be_fine = false, needed = false;
    };

    static bool is_reader(const UnitSpec& unit) {
        return unit.name == "BufRd" && unit.rate == Rate::audio && unit.inputs.size() == read_inputs;
    }
    bool can_be_fine(size_t index) const {
        const UnitSpec& unit = def_.units[index];
        if (unit.rate != Rate::audio || unit.outputs.size() != 1 || unit.outputs[0] != Rate::audio)
            return false;
        if (is_one_of(sources, unit))
            return true;
        if (!is_one_of(arithmetic, unit))
            return false;
        if (unit.name == "BinaryOpUGen") {
            if (std::ranges::find(operators, unit.special_index) == std::end(operators))
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
        if (is_reader(unit))
            note(unit.inputs[phase]);
        if (units_[index].needed && !is_one_of(sources, unit))
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
