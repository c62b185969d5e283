// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/ugen-arity.hpp"

#include "engine/synthdef/text.hpp"
#include "engine/synthdef/ugen-arity-table.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace scs {
namespace {

using Verdict = std::optional<Error>;

// Far above what a unit can use; keeps sums of a few counts small.
constexpr float most_counted = 65536.0f;

enum class Ports { inputs, outputs };

/// A unit that is told by one of its inputs how many ports it has: base + each * count of them.
struct CountRule {
    std::string_view ugen;
    std::size_t count_input;
    Ports ports;
    std::size_t base;
    std::size_t each;
    float most = most_counted; ///< the unit itself limits the count to this
    bool may_vary = false;     ///< the unit checks a count that is no constant when it uses it
};

constexpr CountRule count_rules[] = {
    {"EnvGen", 6, Ports::inputs, 9, 4, most_counted, true}, // stages of level, time, shape, curve
    {"IEnvGen", 3, Ports::inputs, 5, 4}, // the same, of time, shape, curve, level
    {"Poll", 3, Ports::inputs, 4, 1},    // the letters of a label
    {"Dpoll", 3, Ports::inputs, 4, 1},
    {"TextVU", 4, Ports::inputs, 5, 1},
    {"Getenv", 0, Ports::inputs, 2, 1},
    {"SendReply", 2, Ports::inputs, 3, 1}, // the letters of an address
    {"SetBuf", 2, Ports::inputs, 3, 1},    // values
    {"Dwrand", 1, Ports::inputs, 2, 1},    // weights
    {"Dfsm", 2, Ports::inputs, 3, 2},      // states
    {"FeatureSave", 0, Ports::inputs, 2, 1},
    {"SOMAreaWr", 2, Ports::inputs, 5, 1},
    {"FFTSubbandPower", 1, Ports::inputs, 4, 1},
    {"FFTSubbandPower", 1, Ports::outputs, 1, 1},
    {"FFTSubbandFlatness", 1, Ports::inputs, 2, 1},
    {"FFTSubbandFlatness", 1, Ports::outputs, 1, 1},
    {"MFCC", 1, Ports::outputs, 0, 1, 42.0f},
    {"MatchingP", 3, Ports::outputs, 2, 2},
    {"NearestN", 2, Ports::outputs, 0, 3},
    {"Chromagram", 2, Ports::outputs, 0, 1},
    {"SpectralEntropy", 2, Ports::outputs, 0, 1},
};

class UnitCheck {
public:
    UnitCheck(const SynthDef& def, std::size_t index)
        : def_(def), unit_(def.units[index]),
          place_("UGen " + std::to_string(index) + ' ' + quoted(unit_.name)) {}

    Verdict run() const {
        if (auto wrong = table_row())
            return wrong;
        for (const CountRule& rule : count_rules)
            if (unit_.name == rule.ugen)
                if (auto wrong = counted(rule))
                    return wrong;
        return by_hand();
    }

private:
    std::size_t inputs() const { return unit_.inputs.size(); }
    std::size_t outputs() const { return unit_.outputs.size(); }

    Error error(const std::string& what) const { return Error{place_ + ": " + what}; }

    Verdict at_least(Ports ports, std::size_t least) const {
        const std::size_t has = ports == Ports::inputs ? inputs() : outputs();
        if (has >= least)
            return {};
        return error("needs at least " + std::to_string(least) +
                     (ports == Ports::inputs ? " inputs, has " : " outputs, has ") +
                     std::to_string(has));
    }

    Verdict table_row() const {
        const UgenArity* arity = find_ugen_arity(unit_.name);
        if (arity == nullptr)
            return {};
        if (auto wrong = at_least(Ports::inputs, arity->min_inputs))
            return wrong;
        if (auto wrong = at_least(Ports::outputs, arity->min_outputs))
            return wrong;
        if (outputs() > arity->max_outputs)
            return error("has room for " + std::to_string(arity->max_outputs) + " outputs, has " +
                         std::to_string(outputs()));
        if ((arity->rates & rate_bit(unit_.rate)) == 0)
            return error("cannot run at this rate");
        return {};
    }

    /// A count from an input that must be a constant; the error says why there is none.
    Result<std::size_t> count(std::size_t input) const {
        const InputRef& ref = unit_.inputs[input];
        if (!ref.is_constant())
            return error("input " + std::to_string(input) + " is a count and must be a constant");
        const float value = def_.constants[ref.index];
        if (!(value > -1.0f && value <= most_counted))
            return error("input " + std::to_string(input) +
                         " is no possible count: " + std::to_string(value));
        return static_cast<std::size_t>(std::trunc(std::fabs(value)));
    }

    Verdict counted(const CountRule& rule) const {
        if (rule.count_input >= inputs())
            return at_least(Ports::inputs, rule.count_input + 1);
        if (rule.may_vary && !unit_.inputs[rule.count_input].is_constant())
            return {};
        auto number = count(rule.count_input);
        if (!number)
            return Error{number.error()};
        const std::size_t limited = std::min(number.value(), static_cast<std::size_t>(rule.most));
        return at_least(rule.ports, rule.base + rule.each * limited);
    }

    Verdict by_hand() const {
        if (unit_.name == "Demand") // an output for each of the inputs after the first two
            return at_least(Ports::outputs, inputs() - 2);
        if (unit_.name == "LagControl")
            return lag_control();
        if (unit_.name == "SendPeakRMS")
            return send_peak_rms();
        if (unit_.name == "PackFFT")
            return pack_fft();
        if (unit_.name == "Dneuromodule")
            return neuromodule();
        if (unit_.name == "Dtag" || unit_.name == "DbufTag")
            return tag_system();
        return {};
    }

    /// It has a lag for each output and reads as many controls as it has lags.
    Verdict lag_control() const {
        if (auto wrong = at_least(Ports::inputs, outputs()))
            return wrong;
        if (unit_.special_index < 0 ||
            static_cast<std::size_t>(unit_.special_index) + inputs() > def_.controls.size())
            return error("has more inputs than there are controls");
        return {};
    }

    /// Four inputs, a counted list of signals, a counted address. It puts the signals' levels on
    /// the stack.
    Verdict send_peak_rms() const {
        constexpr std::size_t most_signals = 1024;
        auto signals = count(3);
        if (!signals)
            return Error{signals.error()};
        if (signals.value() > most_signals)
            return error("has more than " + std::to_string(most_signals) + " signals");
        const std::size_t length_input = 4 + signals.value();
        if (auto wrong = at_least(Ports::inputs, length_input + 1))
            return wrong;
        auto letters = count(length_input);
        if (!letters)
            return Error{letters.error()};
        return at_least(Ports::inputs, length_input + 1 + letters.value());
    }

    /// Six inputs, then magnitude and phase for each bin from `from` to `to`; the Nyquist bin's is
    /// taken from a place that is counted backwards.
    Verdict pack_fft() const {
        auto from = count(2);
        auto to = count(3);
        auto values = count(5);
        for (const auto* number : {&from, &to, &values})
            if (!*number)
                return Error{number->error()};
        if (to.value() < from.value() || values.value() + 4 < 2 * from.value())
            return error("bins " + std::to_string(from.value()) + " to " +
                         std::to_string(to.value()) + " don't fit its " +
                         std::to_string(values.value()) + " values");
        if (auto wrong = at_least(Ports::inputs, 6 + values.value()))
            return wrong;
        return at_least(Ports::inputs, 6 + 2 * (to.value() - from.value() + 1));
    }

    /// The size of a net: so many thresholds, initial values and outputs, and its square of
    /// weights.
    Verdict neuromodule() const {
        auto size = count(0);
        if (!size)
            return Error{size.error()};
        if (auto wrong =
                at_least(Ports::inputs, 1 + 2 * size.value() + size.value() * size.value()))
            return wrong;
        return at_least(Ports::outputs, size.value());
    }

    /// Six inputs, a counted axiom, the lengths of a counted list of rules, then the rules.
    Verdict tag_system() const {
        auto axiom = count(4);
        if (!axiom)
            return Error{axiom.error()};
        auto rules = count(5);
        if (!rules)
            return Error{rules.error()};
        const std::size_t first_length = 6 + axiom.value();
        std::size_t needed = first_length + rules.value();
        if (auto wrong = at_least(Ports::inputs, needed))
            return wrong;
        for (std::size_t i = 0; i < rules.value(); ++i) {
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

std::optional<Error> check_ugen_arity(const SynthDef& def, std::size_t unit_index) {
    return UnitCheck(def, unit_index).run();
}

} // namespace scs
