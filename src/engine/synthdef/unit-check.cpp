// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/unit-check.hpp"

#include "engine/synthdef/text.hpp"
#include "engine/units/unit-facts.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace scs {
namespace {

using Verdict = std::optional<Error>;

enum class Ports { inputs, outputs };

class UnitCheck {
public:
    UnitCheck(const SynthDef& def, size_t index)
        : def_(def), unit_(def.units[index]), place_("UGen " + std::to_string(index) + ' ' + quoted(unit_.name)) {}

    Verdict run() const {
        const UnitFacts* facts = find_unit_facts(unit_.name);
        if (!facts)
            return {};
        if (auto wrong = fixed(*facts))
            return wrong;
        for (const PortCount& rule : facts->counts())
            if (auto wrong = counted(rule))
                return wrong;
        switch (facts->special) {
        case Check::none: return {};
        case Check::demand: return at_least(Ports::outputs, inputs() - 2); // one for each input after the first two
        case Check::lag_control: return lag_control();
        case Check::send_peak_rms: return send_peak_rms();
        case Check::pack_fft: return pack_fft();
        case Check::tag_system: return tag_system();
        }
        return {};
    }

private:
    size_t inputs() const { return unit_.inputs.size(); }
    size_t outputs() const { return unit_.outputs.size(); }

    Error error(const std::string& what) const { return Error{place_ + ": " + what}; }

    Verdict at_least(Ports ports, size_t least) const {
        const size_t has = ports == Ports::inputs ? inputs() : outputs();
        if (has >= least)
            return {};
        return error("needs at least " + std::to_string(least) +
                     (ports == Ports::inputs ? " inputs, has " : " outputs, has ") + std::to_string(has));
    }

    Verdict fixed(const UnitFacts& facts) const {
        if (auto wrong = at_least(Ports::inputs, facts.min_inputs))
            return wrong;
        if (auto wrong = at_least(Ports::outputs, facts.min_outputs))
            return wrong;
        if (outputs() > facts.max_outputs)
            return error("has room for " + std::to_string(facts.max_outputs) + " outputs, has " +
                         std::to_string(outputs()));
        if ((facts.rates & rate_bit(unit_.rate)) == 0)
            return error("cannot run at this rate");
        return {};
    }

    /// Reads a count from an input that must be a constant. Error: why that isn't possible.
    Result<size_t> count(size_t input) const {
        const InputRef& ref = unit_.inputs[input];
        if (!ref.is_constant())
            return error("input " + std::to_string(input) + " is a count and must be a constant");
        const float value = def_.constants[ref.index];
        if (!(value > -1.0f && value <= most_ports))
            return error("input " + std::to_string(input) + " is no possible count: " + std::to_string(value));
        return size_t(std::trunc(std::fabs(value)));
    }

    Verdict counted(const PortCount& rule) const {
        if (rule.count_input >= inputs())
            return at_least(Ports::inputs, size_t(rule.count_input) + 1);
        if (rule.each_time && !unit_.inputs[rule.count_input].is_constant())
            return {};
        auto number = count(rule.count_input);
        if (!number)
            return Error{number.error()};
        const size_t limited = std::min(number.value(), size_t(rule.most));
        return at_least(rule.of_outputs ? Ports::outputs : Ports::inputs, rule.base + rule.each * limited);
    }

    /// LagControl has a lag for each output, and reads as many controls as it has lags.
    Verdict lag_control() const {
        if (auto wrong = at_least(Ports::inputs, outputs()))
            return wrong;
        if (unit_.special_index < 0 || size_t(unit_.special_index) + inputs() > def_.controls.size())
            return error("has more inputs than there are controls");
        return {};
    }

    /// SendPeakRMS: four inputs, a list of signals with its length, an address with its length. It puts the signals'
    /// levels on the stack.
    Verdict send_peak_rms() const {
        constexpr size_t most_signals = 1024;
        auto signals = count(3);
        if (!signals)
            return Error{signals.error()};
        if (signals.value() > most_signals)
            return error("has more than " + std::to_string(most_signals) + " signals");
        const size_t length_input = 4 + signals.value();
        if (auto wrong = at_least(Ports::inputs, length_input + 1))
            return wrong;
        auto letters = count(length_input);
        if (!letters)
            return Error{letters.error()};
        return at_least(Ports::inputs, length_input + 1 + letters.value());
    }

    /// PackFFT: six inputs, then magnitude and phase for each bin from `from` to `to`. It finds the Nyquist bin's by
    /// counting backwards.
    Verdict pack_fft() const {
        auto from = count(2);
        auto to = count(3);
        auto values = count(5);
        for (const auto* number : {&from, &to, &values})
            if (!*number)
                return Error{number->error()};
        if (to.value() < from.value() || values.value() + 4 < 2 * from.value())
            return error("bins " + std::to_string(from.value()) + " to " + std::to_string(to.value()) +
                         " don't fit its " + std::to_string(values.value()) + " values");
        if (auto wrong = at_least(Ports::inputs, 6 + values.value()))
            return wrong;
        return at_least(Ports::inputs, 6 + 2 * (to.value() - from.value() + 1));
    }

    /// The tag system: six inputs, an axiom with its length, the lengths of the rules with their number, then the
    /// rules.
    Verdict tag_system() const {
        auto axiom = count(4);
        if (!axiom)
            return Error{axiom.error()};
        auto rules = count(5);
        if (!rules)
            return Error{rules.error()};
        const size_t first_length = 6 + axiom.value();
        size_t needed = first_length + rules.value();
        if (auto wrong = at_least(Ports::inputs, needed))
            return wrong;
        for (size_t i = 0; i < rules.value(); ++i) {
            auto length = count(first_length + i);
            if (!length)
                return Error{length.error()};
            needed += length.value();
        }
        return at_least(Ports::inputs, needed);
    }

    const SynthDef& def_;
    const UnitSpec& unit_;
    std::string place_;
};

} // namespace

std::optional<Error> check_unit(const SynthDef& def, size_t unit_index) {
    return UnitCheck(def, unit_index).run();
}

} // namespace scs
