// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/validator.hpp"

#include "engine/synthdef/text.hpp"
#include "engine/synthdef/unit-check.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace scs {
namespace {

using Verdict = std::optional<Error>;

constexpr size_t longest_name = 255;

// What an instance needs besides the units' own state, rounded up: a wire, a control's value,
// mapping and rate, and for each input and output of a unit a pointer to its wire and one to its
// samples.
constexpr size_t wire_bytes = 32;
constexpr size_t control_bytes = 24;
constexpr size_t port_bytes = 2 * sizeof(void*);

Verdict check_name(std::string_view name, const std::string& what) {
    if (name.empty())
        return Error{what + " has no name"};
    if (name.size() > longest_name)
        return Error{what + " has a name longer than " + std::to_string(longest_name) + " bytes"};
    if (name.find('\0') != std::string_view::npos)
        return Error{what + " has a zero byte in its name"};
    return {};
}

Verdict check_numbers(std::span<const float> values, std::string_view what) {
    for (size_t i = 0; i < values.size(); ++i)
        if (std::isnan(values[i]))
            return Error{std::string(what) + ' ' + std::to_string(i) + " is not a number"};
    return {};
}

Verdict check_controls(const SynthDef& def) {
    if (auto wrong = check_numbers(def.controls, "control"))
        return wrong;
    for (const ControlName& control : def.control_names) {
        if (auto wrong = check_name(control.name, "a control"))
            return wrong;
        if (control.index >= def.controls.size())
            return Error{"control " + quoted(control.name) + " has index " + std::to_string(control.index) +
                         ", but there are " + std::to_string(def.controls.size()) + " controls"};
    }
    return {};
}

Verdict check_variants(const SynthDef& def) {
    for (const Variant& variant : def.variants) {
        if (auto wrong = check_name(variant.name, "a variant"))
            return wrong;
        if (variant.values.size() != def.controls.size())
            return Error{"variant " + quoted(variant.name) + " has " + std::to_string(variant.values.size()) +
                         " values for " + std::to_string(def.controls.size()) + " controls"};
        if (auto wrong = check_numbers(variant.values, "variant " + quoted(variant.name) + " value"))
            return wrong;
    }
    return {};
}

bool is_rate(Rate rate) {
    return rate <= Rate::demand;
}

bool reads_controls(std::string_view ugen) {
    constexpr std::array names{std::string_view("Control"), std::string_view("TrigControl"),
                               std::string_view("AudioControl"), std::string_view("LagControl")};
    for (std::string_view name : names)
        if (ugen == name)
            return true;
    return false;
}

Verdict check_inputs(const SynthDef& def, size_t unit_index, const std::string& place) {
    const UnitSpec& unit = def.units[unit_index];
    for (size_t i = 0; i < unit.inputs.size(); ++i) {
        const InputRef& input = unit.inputs[i];
        const std::string here = place + ": input " + std::to_string(i) + " reads ";
        if (input.is_constant()) {
            if (input.index >= def.constants.size())
                return Error{here + "constant " + std::to_string(input.index) + ", but there are " +
                             std::to_string(def.constants.size())};
            continue;
        }
        const auto from = size_t(input.unit);
        if (from >= unit_index)
            return Error{here + "unit " + std::to_string(from) + ", which does not come earlier"};
        if (input.index >= def.units[from].outputs.size())
            return Error{here + "output " + std::to_string(input.index) + " of unit " + std::to_string(from) +
                         ", which has " + std::to_string(def.units[from].outputs.size())};
    }
    return {};
}

Verdict check_outputs(const SynthDef& def, const UnitSpec& unit, const std::string& place) {
    for (size_t i = 0; i < unit.outputs.size(); ++i) {
        if (!is_rate(unit.outputs[i]))
            return Error{place + ": output " + std::to_string(i) + " has no valid rate"};
        // A unit at audio rate writes a block to each output, so each needs a wire buffer.
        if (unit.rate == Rate::audio && unit.outputs[i] != Rate::audio)
            return Error{place + ": output " + std::to_string(i) + " is not at audio rate as the unit is"};
    }
    if (reads_controls(unit.name)) {
        const auto first = ptrdiff_t(unit.special_index);
        const auto last = first + ptrdiff_t(unit.outputs.size());
        if (first < 0 || last > ptrdiff_t(def.controls.size()))
            return Error{place + ": reads controls " + std::to_string(first) + " to " + std::to_string(last - 1) +
                         ", but there are " + std::to_string(def.controls.size())};
    }
    return {};
}

/// A sum that can't overflow: above the limit it no longer grows.
class Budget {
public:
    void add(size_t count, size_t bytes_each) {
        if (bytes_each != 0 && count > max_instance_bytes / bytes_each)
            total_ = max_instance_bytes + 1;
        else if (within())
            total_ += count * bytes_each;
    }
    bool within() const { return total_ <= max_instance_bytes; }

private:
    size_t total_ = 0;
};

Error missing(const std::string& name, const UgenCatalog& catalog) {
    const std::string advice = catalog.advice(name);
    return {"UGen " + quoted(name) + " not installed" + (advice.empty() ? "" : ": " + advice)};
}

Verdict check_units(const SynthDef& def, const UgenCatalog& catalog) {
    Budget memory;
    memory.add(def.constants.size(), wire_bytes);
    memory.add(def.controls.size(), control_bytes);
    for (size_t i = 0; i < def.units.size(); ++i) {
        const UnitSpec& unit = def.units[i];
        if (auto wrong = check_name(unit.name, "UGen " + std::to_string(i)))
            return wrong;
        const UgenInfo* ugen = catalog.find(unit.name);
        if (ugen == nullptr)
            return missing(unit.name, catalog);
        const std::string place = "UGen " + std::to_string(i) + ' ' + quoted(unit.name);
        if (!is_rate(unit.rate))
            return Error{place + ": has no valid rate"};
        if (auto wrong = check_inputs(def, i, place))
            return wrong;
        if (auto wrong = check_outputs(def, unit, place))
            return wrong;
        if (auto wrong = check_unit(def, i))
            return wrong;

        memory.add(1, ugen->unit_bytes);
        memory.add(2, sizeof(void*)); // a pointer in the list of all units and one in that of those called each block
        memory.add(unit.inputs.size(), port_bytes);
        memory.add(unit.outputs.size(), port_bytes + wire_bytes);
        if (!memory.within())
            return Error{place + ": an instance would take more than " + std::to_string(max_instance_bytes >> 20) +
                         " MiB"};
    }
    return {};
}

} // namespace

Verdict validate(const SynthDef& def, const UgenCatalog& catalog) {
    if (auto wrong = check_name(def.name, "the definition"))
        return wrong;
    if (auto wrong = check_numbers(def.constants, "constant"))
        return wrong;
    if (auto wrong = check_controls(def))
        return wrong;
    if (auto wrong = check_units(def, catalog))
        return wrong;
    return check_variants(def);
}

} // namespace scs
