// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/binding-options.hpp"

#include "engine/base/settings.hpp"
#include "engine/control/bindings.hpp"
#include "engine/definitions/definitions.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <iterator>
#include <limits>
#include <sstream>
#include <utility>

namespace scs::osc {

namespace {

bool read_option(KeySettings& s, std::string_view key, BindingOptions& options) {
    const std::pair<std::string_view, std::string*> names[] = {
        {"freq", &s.freq},         {"amp", &s.amp},   {"gate", &s.gate},         {"note", &s.note},
        {"velocity", &s.velocity}, {"bend", &s.bend}, {"pressure", &s.pressure}, {"timbre", &s.timbre}};
    for (const auto& [name, to] : names)
        if (key == name) {
            options.read(*to);
            return true;
        }
    if (options.read_source(s.source, key))
        return true;
    if (key == "lowest")
        options.read(s.lowest, 0, 127);
    else if (key == "highest")
        options.read(s.highest, 0, 127);
    else if (key == "voices")
        options.read(s.voices, 1, KeySettings::most_voices);
    else if (key == "mode")
        options.read(s.mode, {"poly", "mono", "legato"});
    else if (key == "steal")
        options.read(s.steal, {"oldest", "newest"});
    else if (key == "mpe")
        options.read(s.zone, {"none", "lower", "upper"});
    else if (key == "curve")
        options.read(s.curve, 1, 4);
    else if (key == "bend-range")
        options.read(s.bend_range);
    else if (key == "tuning")
        options.read(s.tuning, -1, most_buffers);
    else if (key == "set") {
        auto& [name, value] = s.values.emplace_back();
        options.read(name);
        options.read(value);
        if (s.values.size() > KeySettings::most_values)
            options.fail("is there too often");
    } else
        return false;
    return true;
}

/// A word of a setting as an argument: a number if it is one. The word must live as long.
Arg as_arg(const std::string& word) {
    const char* const end = word.data() + word.size();
    Arg arg{};
    if (const auto read = std::from_chars(word.data(), end, arg.i); read.ptr == end && read.ec == std::errc()) {
        arg.type = Arg::Type::int32;
        return arg;
    }
    float value = 0;
    if (const auto read = std::from_chars(word.data(), end, value);
        read.ptr == end && read.ec == std::errc() && std::isfinite(value)) {
        arg.type = Arg::Type::float32;
        arg.f = value;
        return arg;
    }
    arg.type = Arg::Type::string;
    arg.size = uint32_t(word.size());
    arg.s = word.c_str();
    return arg;
}

BindingWord word_of(const Arg& arg) {
    switch (arg.type) {
    case Arg::Type::int32:
    case Arg::Type::chr: return arg.i;
    case Arg::Type::float32: return arg.f;
    case Arg::Type::float64: return arg.d;
    case Arg::Type::int64: return double(arg.h);
    case Arg::Type::string: return std::string(arg.text());
    case Arg::Type::true_:
    case Arg::Type::false_: return int32_t(arg.type == Arg::Type::true_);
    default: return std::string(1, char(arg.type));
    }
}

/// The fraction with a denominator up to 64 that a float is next to, or the float.
double nearest_fraction(float value) {
    for (int denominator = 1; denominator <= 64; ++denominator)
        if (const double near = std::round(double(value) * denominator) / denominator; float(near) == value)
            return near;
    return value;
}

} // namespace

bool BindingOptions::at_command() const {
    ArgReader args = args_;
    return before_command_ && args.at_string() && args.get_string().starts_with('/');
}

void BindingOptions::fail(const std::string& what) {
    if (mistake_.empty())
        mistake_ = (key_.empty() ? "" : std::string(key_) + " ") + what;
}

void BindingOptions::read(int& to, int low, int high) {
    const int32_t value = args_.get_int(low - 1);
    if (value < low || value > high)
        return fail("is to be " + std::to_string(low) + " to " + std::to_string(high));
    to = value;
}

void BindingOptions::read(float& to) {
    if (!std::isfinite(to = args_.get_float(std::numeric_limits<float>::quiet_NaN())))
        fail("is to be a number");
}

void BindingOptions::read_beats(double& to, double low, double high) {
    const bool rounded = args_.tag() == 'f';
    const double value = args_.get_double(std::numeric_limits<double>::quiet_NaN());
    if (!(value >= low && value <= high)) {
        std::ostringstream text;
        text << "is to be " << low << " to " << high;
        return fail(text.str());
    }
    to = rounded ? nearest_fraction(float(value)) : value;
}

void BindingOptions::read(std::string& to) {
    if (!args_.at_string())
        return fail("is to be a name");
    const std::string_view text = args_.get_string();
    if (text.size() > longest_control)
        return fail("is too long");
    to = text;
}

bool BindingOptions::read_source(Source& source, std::string_view key) {
    if (key == "port")
        read(source.port, -1, 127);
    else if (key == "channel")
        read(source.channel, -1, 15);
    else
        return false;
    return true;
}

bool BindingOptions::read_device(Source& source, std::string_view key) {
    if (key == "device")
        read(source.port, -1, ControlEvent::last_device);
    return key == "device";
}

int BindingOptions::read_word(std::initializer_list<std::string_view> words) {
    const std::string_view text = args_.at_string() ? args_.get_string() : std::string_view();
    int value = 0;
    std::string all;
    for (const std::string_view word : words) {
        if (text == word)
            return value;
        all += (value++ ? ", " : "") + std::string(word);
    }
    fail("is to be one of: " + all);
    return 0;
}

std::string read_key_options(ArgReader args, KeySettings& s) {
    constexpr float range_in_zone = 48; // M1-100-UM
    BindingOptions options(args);
    bool ranged = false;
    options.each([&](std::string_view key) {
        ranged |= key == "bend-range";
        return read_option(s, key, options);
    });
    if (s.zone != KeySettings::Zone::none && !ranged)
        s.bend_range = range_in_zone;
    return options.mistake();
}

std::vector<BindingWord> words_of(std::string_view command, std::span<const Arg> args) {
    std::vector<BindingWord> words{std::string(command)};
    std::ranges::transform(args, std::back_inserter(words), word_of);
    return words;
}

Result<std::vector<StartBinding>> parse_bindings(std::string_view text) {
    std::vector<StartBinding> found;
    std::istringstream all{std::string(text)};
    for (std::string one; std::getline(all, one, ';');) {
        std::istringstream words(one);
        KeySettings s;
        if (!(words >> s.synthdef))
            continue;
        std::deque<std::string> kept;
        std::vector<Arg> args;
        for (std::string word; words >> word;)
            args.push_back(as_arg(kept.emplace_back(word)));
        if (s.synthdef.size() > Definitions::longest_name)
            return Error{"a SynthDef's name is too long"};
        if (std::string mistake = read_key_options(ArgReader(args), s); !mistake.empty())
            return Error{s.synthdef + ": " + mistake};
        if (found.size() == Bindings::most)
            return Error{"there are too many"};
        std::vector<BindingWord> sent = words_of("/bind_keys", args);
        sent.insert(sent.begin() + 1, s.synthdef);
        found.push_back({std::move(s), std::move(sent)});
    }
    return found;
}

} // namespace scs::osc
