// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/command-line.hpp"

#include "dict.hpp"
#include "osc/socket-address.hpp"
#include "settings.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

namespace scs::cli {

namespace {

constexpr std::string_view prefix = "scsynth.";

/// An option that does nothing here, and why. One without a reason does nothing in scsynth either.
struct Ignored {
    char letter;
    bool has_value;
    const char* reason;
};

constexpr Ignored ignored[] = {
    {'C', true, nullptr},
    {'y', true, "the helpers run where the kernel puts them"},
    {'R', true, "there is no publishing by zeroconf"},
    {'I', true, "scsynth has it on macOS only; -i 0 makes a server without inputs"},
    {'O', true, "scsynth has it on macOS only"},
    {'s', true, "scsynth has it on macOS only; PipeWire's sinks do the clipping"},
    {'L', false, "PipeWire's daemon locks its memory itself (mem.mlock-all in its configuration)"},
};

const Ignored* find_ignored(char letter) {
    const auto found = std::find_if(std::begin(ignored), std::end(ignored),
                                    [&](const Ignored& each) { return each.letter == letter; });
    return found == std::end(ignored) ? nullptr : found;
}

std::string option(char letter) {
    return {'-', letter};
}

/// A whole number, perhaps written as a float: in sclang 2**12 is 4096.0.
std::optional<int> whole(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || std::isspace(static_cast<unsigned char>(text[0])) ||
        !(std::fabs(value) <= 2147483647.0) || value != std::trunc(value))
        return {};
    return int(value);
}

/// A number after an option that may have what the setting may have.
Result<int> number(char letter, const std::string& text, const Setting& setting) {
    const auto value = whole(text);
    if (!value || !allows(setting, *value))
        return Error{option(letter) + " " + text + ": expected a whole number from " + range_text(setting)};
    return *value;
}

int power_of_two(int number) {
    return int(std::bit_ceil(unsigned(std::clamp(number, 1, 1 << 30))));
}

std::string absolute(const std::string& path) {
    std::error_code failed;
    const auto made = std::filesystem::absolute(path, failed);
    return failed || path.empty() ? path : made.string();
}

std::string absolute_paths(std::string_view list) {
    std::string made;
    while (true) {
        const auto end = list.find(':');
        made += absolute(std::string(list.substr(0, end)));
        if (end == list.npos)
            return made;
        made += ':';
        list.remove_prefix(end + 1);
    }
}

class Parser {
public:
    explicit Parser(std::span<const char* const> arguments) : rest_(arguments) {}

    Result<CommandLine> run() {
        for (const spa::BoundSetting& each : settings_)
            if (const auto& other = each.setting->scsynth_default)
                set(*each.setting,
                    std::holds_alternative<bool*>(each.field) ? *other ? "true" : "false" : std::to_string(*other));
        while (!rest_.empty() && !last_) {
            const std::string argument = take();
            if (auto error = read(argument))
                return std::move(*error);
        }
        if (!last_)
            if (auto error = finish())
                return std::move(*error);
        return std::move(line_);
    }

private:
    using Failure = std::optional<Error>;

    std::string take() {
        const std::string argument = rest_[0];
        rest_ = rest_.subspan(1);
        return argument;
    }

    void set(const Setting& setting, const std::string& value) { set(std::string(prefix) + setting.key, value); }

    void set(const std::string& key, const std::string& value) {
        for (auto& [each, present] : line_.settings)
            if (each == key) {
                present = value;
                return;
            }
        line_.settings.emplace_back(key, value);
    }

    Failure read(const std::string& argument) {
        if (argument == "--help" || argument == "-h")
            return done(CommandLine::Action::help);
        if (argument == "--version" || argument.starts_with("-v")) // scsynth reads the letter alone: -version
            return done(CommandLine::Action::version);
        if (argument == "--devices")
            return done(CommandLine::Action::devices);
        if (argument == "--take-over") {
            line_.take_over = true;
            return {};
        }
        if (argument == "--no-pointer") {
            line_.pointer = false;
            return {};
        }
        if (argument == "--client") {
            line_.in_this_process = true;
            set("scsynth.isolation", "process");
            return {};
        }
        if (argument == "--isolated") {
            line_.in_this_process = line_.isolated = last_ = true;
            return {};
        }
        if (argument == "--set")
            return read_setting();
        if (argument == "--wait")
            return read_wait();
        if (argument == "--bind")
            return read_bindings();
        if (argument == "--options")
            return read_whose();
        if (argument.size() != 2 || argument[0] != '-')
            return unknown(argument);
        return read_letter(argument[1]);
    }

    Failure unknown(const std::string& argument) const {
        if (argument.starts_with('-'))
            return Error{argument + ": no such option"};
        if (has("scsynth.bindings"))
            return Error{argument + ": no such command; what --bind takes is one word: --bind \"keys channel 0; pad\""};
        return Error{argument +
                     ": no such command; there are status, top, trace, pointer, gamepad, transport, link, save and "
                     "restore. To play a SynthDef by keys: --bind " +
                     (argument.empty() ? "keys" : argument)};
    }

    Failure read_setting() {
        const std::string setting = rest_.empty() ? "" : take();
        const auto equals = setting.find('=');
        if (equals == setting.npos || equals == 0)
            return Error{"--set " + setting + ": expected KEY=VALUE"};
        std::string key = setting.substr(0, equals);
        if (!key.starts_with(prefix))
            key.insert(0, prefix);
        if (key == "scsynth.osc.port" || key == "scsynth.osc.tcp")
            return Error{"--set " + setting + ": the port is that of -u or -t"};
        const std::string value = setting.substr(equals + 1);
        if (key == "scsynth.isolation") {
            if (value != "loop" && value != "process")
                return Error{"--set " + setting + ": expected loop or process"};
            line_.in_this_process = value == "process";
        }
        set(key, value);
        return {};
    }

    Failure read_wait() {
        constexpr Setting seconds = {.key = "wait", .low = 0, .high = 86400};
        const std::string text = rest_.empty() ? "" : take();
        const auto value = whole(text);
        if (!value || !allows(seconds, *value))
            return Error{"--wait " + text + ": expected a whole number of seconds from " + range_text(seconds)};
        line_.wait = *value;
        return {};
    }

    /// Each --bind adds to those before.
    Failure read_bindings() {
        if (rest_.empty())
            return Error{"--bind: expected SynthDefs after it"};
        const std::string before = value_of("scsynth.bindings"), more = take();
        if (more.find_first_not_of(" \t;") == more.npos)
            return Error{"--bind \"" + more + "\": expected SynthDefs"};
        set("scsynth.bindings", before.empty() ? more : before + ";" + more);
        return {};
    }

    /// Those of both are taken in any case.
    Failure read_whose() {
        const std::string text = rest_.empty() ? "" : take();
        if (text != "scsynth" && text != "supernova")
            return Error{"--options " + text + ": expected scsynth or supernova"};
        return {};
    }

    Failure done(CommandLine::Action action) {
        line_.action = action;
        last_ = true;
        return {};
    }

    Failure read_letter(char letter) {
        if (letter == 'N')
            return read_score();
        const Ignored* const without_effect = find_ignored(letter);
        if (without_effect && !without_effect->has_value)
            return ignore(*without_effect);
        const spa::BoundSetting* const setting = find_setting(letter);
        if (!setting && !without_effect && letter != 'H' && letter != 'Z')
            return Error{option(letter) + ": no such option"};
        if (rest_.empty())
            return Error{option(letter) + ": expected a value after it"};
        const std::string value = take();
        if (without_effect)
            return letter == 'R' && whole(value) == 0 ? Failure() : ignore(*without_effect);
        switch (letter) {
        case 'u': return keep(udp_, number(letter, value, *setting->setting));
        case 't': return keep(tcp_, number(letter, value, *find_setting('u')->setting));
        case 'Z': return read_quantum(value);
        case 'S': return read_rate(value, *setting->setting);
        case 'H': return read_devices(value);
        default: return store(*setting, value);
        }
    }

    const spa::BoundSetting* find_setting(char letter) const {
        const auto found = std::find_if(settings_.begin(), settings_.end(),
                                        [&](const auto& each) { return each.setting->letter == letter; });
        return found == settings_.end() ? nullptr : &*found;
    }

    Failure ignore(const Ignored& entry) {
        if (entry.reason)
            line_.warnings.push_back(option(entry.letter) + " has no effect: " + entry.reason);
        return {};
    }

    static Failure keep(int& to, Result<int> found) {
        if (!found)
            return Error{found.error()};
        to = found.value();
        return {};
    }

    /// Ranges are checked at the end, when all settings are known; that of a number which is rounded, as it was given.
    Failure store(const spa::BoundSetting& bound, std::string value) {
        const Setting& setting = *bound.setting;
        const auto count = whole(value);
        const bool rounds = setting.option == Setting::Option::power_of_two;
        if (rounds && count && !allows(setting, power_of_two(*count)))
            return Error{option(setting.letter) + " " + value + ": expected a whole number from " +
                         range_text(setting)};
        if (std::holds_alternative<bool*>(bound.field)) // 0, or anything else
            value = count && *count ? "true" : "false";
        else if (std::holds_alternative<int*>(bound.field) && count)
            value = std::to_string(rounds ? power_of_two(*count) : *count);
        else if (setting.option == Setting::Option::path)
            value = absolute(value);
        else if (setting.option == Setting::Option::paths)
            value = absolute_paths(value);
        set(setting, value);
        return {};
    }

    Failure read_quantum(const std::string& value) {
        constexpr Setting quantum = {.key = "quantum", .low = 0, .high = quantum_limit.setting.high};
        auto failure = keep(line_.quantum, number('Z', value, quantum));
        if (line_.quantum > 0)
            line_.quantum = power_of_two(line_.quantum);
        return failure;
    }

    Failure read_rate(const std::string& value, const Setting& rate) {
        return keep(line_.rate, whole(value) == 0 ? Result<int>(0) : number('S', value, rate));
    }

    Failure read_devices(const std::string& first) {
        const bool two = !rest_.empty() && rest_[0][0] != '-';
        line_.device = two ? "" : first;
        line_.in_device = two ? first : "";
        line_.out_device = two ? take() : "";
        return {};
    }

    Failure read_score() {
        if (rest_.size() < 6)
            return Error{"-N: expected a score, an input, an output, a rate, a header format and a sample format "
                         "after it, such as piece.osc _ piece.wav 48000 WAV int24"};
        line_.action = CommandLine::Action::render;
        ScoreArguments& score = line_.score;
        score.score = take();
        score.input = take();
        score.output = take();
        const std::string rate = take();
        score.header = take();
        score.sample = take();
        char* end = nullptr;
        const double value = std::strtod(rate.c_str(), &end);
        if (*end || !(value >= lowest_rate && value <= highest_rate))
            return Error{"-N: the rate " + rate + " is not between " + std::to_string(lowest_rate) + " and " +
                         std::to_string(highest_rate)};
        score.rate = int(value);
        return {};
    }

    Failure finish() {
        if (line_.action == CommandLine::Action::launch) {
            if (udp_ < 0 && tcp_ < 0 && has("scsynth.bindings"))
                udp_ = 0; // any free one: an instrument needs no client that knows it
            if (udp_ < 0 && tcp_ < 0)
                return Error{
                    "-u or -t: expected one of them with a port, as in pw-scsynth -u 57110; or -N, or --bind keys"};
            if (udp_ >= 0 && tcp_ >= 0 && udp_ != tcp_)
                return Error{"-t: UDP and TCP have one port here; give both the same one, or only one of them"};
            line_.port = udp_ >= 0 ? udp_ : tcp_;
            set("scsynth.osc.port", std::to_string(line_.port));
            set("scsynth.osc.tcp", tcp_ >= 0 ? "true" : "false");
            if (udp_ < 0 && !has("scsynth.osc.udp") && value_of("scsynth.password").empty())
                line_.warnings.push_back("-t: the port answers UDP, too");
        }
        // Wherever the server runs, it shall look in the folders that this process would look in.
        if (!has("scsynth.synthdef-path"))
            set("scsynth.synthdef-path", absolute_paths(spa::read_settings(nullptr).value().server.synthdef_path));
        add_plugin_path();
        if (is_beyond_this_machine(value_of("scsynth.osc.bind")) && !has("scsynth.allow"))
            set("scsynth.allow", "any");
        return check_all();
    }

    /// Adds the environment's folders to those of the daemon. In this process they are added without that.
    void add_plugin_path() {
        const char* path = std::getenv("SC_PLUGIN_PATH");
        const bool elsewhere = line_.action == CommandLine::Action::launch && !line_.in_this_process;
        if (!elsewhere || !path || !*path || has("scsynth.ugen-path"))
            return;
        set("scsynth.ugen-path", ':' + absolute_paths(path));
        line_.ugen_path_is_from = "SC_PLUGIN_PATH";
    }

    std::string value_of(std::string_view key) const {
        for (const auto& [each, value] : line_.settings)
            if (each == key)
                return value;
        return {};
    }

    static bool is_beyond_this_machine(const std::string& bind) {
        const auto address = osc::to_sockaddr(bind, 0);
        return address && !osc::is_loopback(address.value().sin_addr);
    }

    bool has(std::string_view key) const {
        return std::any_of(line_.settings.begin(), line_.settings.end(),
                           [&](const auto& setting) { return setting.first == key; });
    }

    Failure check_all() {
        const auto checked = spa::read_settings(spa::Dict(line_.settings).get());
        if (!checked)
            return Error{option_of(checked.error()) + checked.error()};
        line_.verbosity = checked.value().server.engine.verbosity;
        if (const auto& warnings = checked.value().warnings; !warnings.empty())
            return Error{"--set: " + warnings.front()};
        return {};
    }

    /// The option that sets the key that the error begins with.
    std::string option_of(std::string_view error) const {
        const std::string_view key = error.substr(0, error.find(' '));
        if (!key.starts_with(prefix))
            return {};
        for (const spa::BoundSetting& each : settings_)
            if (key.substr(prefix.size()) == each.setting->key)
                return each.setting->letter ? option(each.setting->letter) + ": " : "";
        return {};
    }

    spa::NodeSettings fields_; ///< what `settings_` points into; only the kinds of the fields matter here
    const std::vector<spa::BoundSetting> settings_ = spa::all_settings(fields_);
    std::span<const char* const> rest_;
    CommandLine line_;
    int udp_ = -1, tcp_ = -1;
    bool last_ = false;
};

} // namespace

Result<CommandLine> parse_command_line(std::span<const char* const> arguments) {
    return Parser(arguments).run();
}

} // namespace scs::cli
