// SPDX-License-Identifier: GPL-3.0-or-later
#include "settings.hpp"

#include "engine/rt/rate-adapter.hpp"
#include "engine/simd/isa.hpp"
#include "layout.hpp"
#include "osc/setting-conflicts.hpp"
#include "port-names.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace scs::spa {
namespace {

constexpr std::string_view prefix = "scsynth.";
constexpr int most_blocks = 192000; ///< a second at a rate of the engine's own

/// The host's limit. Ports ask for buffers of at least 16 frames, so cycles must be allowed to be as long.
constexpr Setting host_quantum_limit = {.key = "clock.quantum-limit", .low = 16, .high = quantum_limit.setting.high};
constexpr Setting host_rate = {.key = "clock.rate", .low = lowest_rate, .high = highest_rate};

/// Properties of the node that the host may give in place of ours, besides shown_settings.
constexpr std::string_view replaceable[] = {"node.name", "node.description", "media.name", "node.always-process",
                                            "node.rate"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
    for (std::string_view each : names)
        if (each == name)
            return true;
    return false;
}

bool is_replaceable(std::string_view key) {
    if (!key.starts_with(prefix))
        return contains(replaceable, key);
    for (const Setting& setting : shown_settings)
        if (key.substr(prefix.size()) == setting.key)
            return true;
    return false;
}

template <class T>
std::optional<T> number(std::string_view text) {
    T value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return {};
    return value;
}

std::optional<bool> truth(std::string_view text) {
    if (text == "true" || text == "1")
        return true;
    if (text == "false" || text == "0")
        return false;
    return {};
}

Error wrong(std::string_view key, std::string_view value, const std::string& expected) {
    return Error{std::string(key) + " = \"" + std::string(value) + "\": expected " + expected};
}

// Each reads a value into `to`. The error's text is empty if the setting may have that value; if not, `to` stays.

Error read(const Setting& setting, std::string_view key, std::string_view value, int& to) {
    const auto whole = number<int>(value);
    if (!whole || !allows(setting, *whole))
        return wrong(key, value, "a whole number from " + range_text(setting));
    to = *whole;
    return {};
}

Error read(const Setting& setting, std::string_view key, std::string_view value, double& to) {
    const auto given = number<double>(value);
    if (!given || !allows(setting, *given))
        return wrong(key, value, "a number from " + range_text(setting));
    to = *given;
    return {};
}

Error read(const Setting&, std::string_view key, std::string_view value, bool& to) {
    const auto on = truth(value);
    if (!on)
        return wrong(key, value, "true or false");
    to = *on;
    return {};
}

Error read(const Setting& setting, std::string_view key, std::string_view value, std::string& to) {
    if (!allows(setting, value))
        return wrong(key, value, range_text(setting));
    to = value;
    return {};
}

/// As scsynth: SC_SYNTHDEF_PATH, or else synthdefs/ in the user's SuperCollider folder.
std::string default_synthdef_path() {
    if (const char* path = std::getenv("SC_SYNTHDEF_PATH"))
        return path;
    if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data)
        return std::string(data) + "/SuperCollider/synthdefs";
    if (const char* home = std::getenv("HOME"); home && *home)
        return std::string(home) + "/.local/share/SuperCollider/synthdefs";
    return {};
}

/// What the package has installed. The environment's SCS_INSTRUMENTS may name another folder.
std::string default_instruments() {
    const char* given = std::getenv("SCS_INSTRUMENTS");
    return given ? given : SCS_INSTRUMENTS;
}

/// Reads one `scsynth.` key; the error's text is empty if all is well.
Error read_own(std::string_view key, std::string_view value, NodeSettings& settings) {
    const std::string_view name = key.substr(prefix.size());
    for (const BoundSetting& each : all_settings(settings))
        if (name == each.setting->key)
            return std::visit([&](auto* field) { return read(*each.setting, key, value, *field); }, each.field);
    settings.warnings.push_back(std::string(key) + " is not a setting");
    return {};
}

std::string few_ports_text() {
    return "none with more than " + std::to_string(RateAdapter::most_ports) + " inputs or outputs";
}

/// Gives the outputs that there are their places in the layout.
Error place_outputs(NodeSettings& settings) {
    const auto layout = read_layout(settings.layout);
    if (!layout)
        return wrong("scsynth.layout", settings.layout, layout_choices());
    const size_t outputs = size_t(settings.server.engine.outputs);
    settings.positions.assign(layout->begin(), layout->begin() + ptrdiff_t(std::min(outputs, layout->size())));
    if (outputs < layout->size() && layout->size() < most_aux)
        settings.warnings.push_back("scsynth.layout = \"" + settings.layout + "\" has " +
                                    std::to_string(layout->size()) +
                                    " channels, scsynth.outputs = " + std::to_string(outputs) +
                                    ": only the first are there (-o " + std::to_string(layout->size()) + " has all)");
    return {};
}

Error name_outputs(NodeSettings& settings) {
    const auto outputs = size_t(settings.server.engine.outputs);
    auto names = read_port_names(settings.port_names, outputs);
    if (!names)
        return wrong("scsynth.port-names", settings.port_names,
                     port_name_choices() + "; \"" + names.error() + "\" can't be one");
    settings.names = std::move(names.value());
    if (const size_t given = count_port_names(settings.port_names); given > outputs)
        settings.warnings.push_back("scsynth.port-names has " + std::to_string(given) +
                                    " names, scsynth.outputs = " + std::to_string(outputs) + ": only the first count");
    return {};
}

/// What is wrong with settings each of which is allowed by its row: with each other, or with this build.
Error find_conflict(const NodeSettings& settings) {
    const Settings& engine = settings.server.engine;
    const int ports = engine.inputs + engine.outputs;
    if (engine.audio_buses < ports)
        return wrong("scsynth.audio-buses", std::to_string(engine.audio_buses),
                     "at least one for each input and output, " + std::to_string(ports));
    if (Isa isa; !parse_isa(engine.simd, isa))
        return wrong("scsynth.simd", engine.simd, isa_choices());
    if ((settings.sample_rate > 0 || settings.keep_rate) &&
        std::max(engine.inputs, engine.outputs) > RateAdapter::most_ports)
        return settings.sample_rate > 0
                   ? wrong("scsynth.sample-rate", std::to_string(settings.sample_rate), few_ports_text())
                   : wrong("scsynth.keep-rate", "true", few_ports_text());
    if (settings.sample_rate > highest_resampled(ports))
        return wrong("scsynth.sample-rate", std::to_string(settings.sample_rate),
                     "at most " + std::to_string(highest_resampled(ports)) + " with " + std::to_string(ports) +
                         " inputs and outputs");
    if (settings.sample_rate / engine.block_size > most_blocks)
        return wrong("scsynth.sample-rate", std::to_string(settings.sample_rate),
                     "at most " + std::to_string(most_blocks) + " blocks a second");
    return {osc::find_conflict(settings.server)};
}

} // namespace

std::vector<BoundSetting> all_settings(NodeSettings& settings) {
    std::vector<BoundSetting> all;
    const auto add = [&](const auto& rows, auto& owner) {
        for (const auto& row : rows)
            std::visit([&](auto field) { all.push_back({&row.setting, &(owner.*field)}); }, row.field);
    };
    add(osc::server_settings, settings.server);
    add(engine_settings, settings.server.engine);
    add(node_settings, settings);
    return all;
}

Result<NodeSettings> read_settings(const spa_dict* info) {
    NodeSettings settings;
    osc::ServerSettings& server = settings.server;
    server.synthdef_path = default_synthdef_path();
    server.instruments = default_instruments();
    // A node that a client asked for may go on /quit; one that the daemon's configuration loads stays.
    const char* linger = info ? spa_dict_lookup(info, "object.linger") : nullptr;
    server.allow_quit = (info && spa_dict_lookup(info, "client.id")) || (linger && truth(linger).value_or(false));

    const spa_dict_item* item;
    const spa_dict nothing = SPA_DICT_INIT(nullptr, 0);
    spa_dict_for_each(item, info ? info : &nothing) {
        if (!item->key || !item->value)
            continue;
        const std::string_view key = item->key, value = item->value;
        Error error;
        if ((key == "scsynth.autoconnect" || key == "scsynth.strict-device") && !truth(value))
            error = wrong(key, value, "true or false");
        else if (is_replaceable(key))
            settings.given.emplace_back(key, value);
        else if (key.starts_with(prefix))
            error = read_own(key, value, settings);
        else if (key == host_quantum_limit.key)
            error = read(host_quantum_limit, key, value, server.engine.max_quantum);
        else if (key == host_rate.key && !spa_dict_lookup(info, "scsynth.rate"))
            error = read(host_rate, key, value, settings.graph_rate);
        if (!error.what.empty())
            return error;
    }
    for (const auto prepare : {place_outputs, name_outputs})
        if (Error problem = prepare(settings); !problem.what.empty())
            return problem;
    if (!server.bindings.empty() && settings.control_inputs == 0)
        settings.warnings.push_back("scsynth.bindings has no effect without a control input (scsynth.control-inputs)");
    server.engine.sample_rate = settings.sample_rate > 0 ? settings.sample_rate : settings.graph_rate;
    if (Error conflict = find_conflict(settings); !conflict.what.empty())
        return conflict;
    return settings;
}

Error find_missing_loop(const spa_dict* info) {
    const char* wanted = info ? spa_dict_lookup(info, "scsynth.loop") : nullptr;
    const char* given = info ? spa_dict_lookup(info, "node.loop.name") : nullptr;
    if (!wanted || (given && std::string_view(wanted) == given))
        return {};
    return wrong("scsynth.loop", wanted,
                 given ? "a data loop that PipeWire has (it gives " + std::string(given) + ")"
                       : "nothing, as PipeWire has but one data loop before 1.2");
}

} // namespace scs::spa
