// SPDX-License-Identifier: GPL-3.0-or-later
#include "settings.hpp"

#include "engine/simd/isa.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace scs::spa {
namespace {

constexpr std::string_view prefix = "scsynth.";
constexpr int lowest_rate = 1000, highest_rate = 768000; // Hz
/// Samples a second of all ports at a rate of the engine's own: the graph waits for their resampling, which takes some
/// 50 ns each.
constexpr int most_resampled = 256 * 48000;
constexpr int most_blocks = 192000; ///< a second

struct Whole {
    std::string_view key;
    int low, high;
    int& (*field)(osc::ServerSettings&);
};

constexpr Whole wholes[] = {
    {"inputs", 0, 128, [](auto& s) -> int& { return s.engine.inputs; }},
    {"outputs", 0, 128, [](auto& s) -> int& { return s.engine.outputs; }},
    {"audio-buses", 1, 65536, [](auto& s) -> int& { return s.engine.audio_buses; }},
    {"control-buses", 1, 1 << 20, [](auto& s) -> int& { return s.engine.control_buses; }},
    {"buffers", 1, 1 << 20, [](auto& s) -> int& { return s.engine.buffers; }},
    {"max-nodes", 2, 1 << 20, [](auto& s) -> int& { return s.engine.max_nodes; }},
    {"max-synthdefs", 1, 1 << 20, [](auto& s) -> int& { return s.engine.max_synthdefs; }},
    {"rt-memory", 64, 4 << 20, [](auto& s) -> int& { return s.engine.rt_memory_kib; }},
    {"block-size", 1, 1024, [](auto& s) -> int& { return s.engine.block_size; }},
    {"wire-buffers", 1, 65536, [](auto& s) -> int& { return s.engine.wire_buffers; }},
    {"random-seeds", 1, 4096, [](auto& s) -> int& { return s.engine.random_seeds; }},
    {"max-logins", 1, 1024, [](auto& s) -> int& { return s.max_logins; }},
    {"verbosity", -2, 4, [](auto& s) -> int& { return s.engine.verbosity; }},
};

struct Text {
    std::string_view key;
    std::string& (*field)(osc::ServerSettings&);
};

constexpr Text texts[] = {
    {"osc.bind", [](auto& s) -> std::string& { return s.bind; }},
    {"password", [](auto& s) -> std::string& { return s.password; }},
    {"ugen-path", [](auto& s) -> std::string& { return s.engine.ugen_path; }},
    {"synthdef-path", [](auto& s) -> std::string& { return s.synthdef_path; }},
    {"restricted-path", [](auto& s) -> std::string& { return s.restricted_path; }},
    {"print-to", [](auto& s) -> std::string& { return s.print_to; }},
    {"simd", [](auto& s) -> std::string& { return s.engine.simd; }},
};

struct Switch {
    std::string_view key;
    bool& (*field)(osc::ServerSettings&);
};

constexpr Switch switches[] = {
    {"osc.tcp", [](auto& s) -> bool& { return s.tcp; }},
    {"shared-memory", [](auto& s) -> bool& { return s.shared_memory; }},
    {"load-synthdefs", [](auto& s) -> bool& { return s.load_synthdefs; }},
    {"native-ugens", [](auto& s) -> bool& { return s.engine.native_ugens; }},
    {"batching", [](auto& s) -> bool& { return s.engine.batching; }},
    {"allow-quit", [](auto& s) -> bool& { return s.allow_quit; }},
};

/// Known names that this version does nothing about.
constexpr std::string_view without_effect[] = {"threads"};

/// Properties of ours that the host's value replaces.
constexpr std::string_view replaceable[] = {"node.name",           "node.description",    "media.name",
                                            "node.always-process", "scsynth.autoconnect",
                                            "scsynth.sink",        "scsynth.source",      "node.rate"};

template <class Table>
auto find(const Table& table, std::string_view key) {
    for (const auto& entry : table)
        if (entry.key == key)
            return &entry;
    return static_cast<decltype(&table[0])>(nullptr);
}

template <class Names>
bool contains(const Names& names, std::string_view name) {
    for (std::string_view each : names)
        if (each == name)
            return true;
    return false;
}

std::optional<int> whole_number(std::string_view text) {
    int value = 0;
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

std::string range(int low, int high) {
    return "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
}

/// Reads a number into `to`; the error's text is empty if it is one and in range.
Error read_number(std::string_view key, std::string_view value, int low, int high, int& to) {
    const auto number = whole_number(value);
    if (!number || *number < low || *number > high)
        return wrong(key, value, range(low, high));
    to = *number;
    return {};
}

Error read_rate(std::string_view key, std::string_view value, double& to) {
    int rate = 0;
    Error error = read_number(key, value, lowest_rate, highest_rate, rate);
    to = rate;
    return error;
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

/// Reads one `scsynth.` key; the error's text is empty if all is well.
Error read_own(std::string_view key, std::string_view value, NodeSettings& settings) {
    const std::string_view name = key.substr(prefix.size());
    osc::ServerSettings& server = settings.server;
    if (const Whole* whole = find(wholes, name))
        return read_number(key, value, whole->low, whole->high, whole->field(server));
    if (const Text* text = find(texts, name)) {
        text->field(server) = value;
        return {};
    }
    if (const Switch* flag = find(switches, name)) {
        const auto on = truth(value);
        if (!on)
            return wrong(key, value, "true or false");
        flag->field(server) = *on;
        return {};
    }
    if (name == "osc.port") {
        int port = 0;
        Error error = read_number(key, value, 0, 65535, port);
        server.port = uint16_t(port);
        return error;
    }
    if (name == "rate")
        return read_rate(key, value, settings.graph_rate);
    if (name == "sample-rate")
        return read_number(key, value, lowest_rate, highest_rate, settings.sample_rate);
    if (contains(without_effect, name))
        settings.warnings.push_back(std::string(key) + " has no effect in this version");
    else if (!contains(replaceable, key))
        settings.warnings.push_back(std::string(key) + " is not a setting");
    return {};
}

} // namespace

Result<NodeSettings> read_settings(const spa_dict* info) {
    NodeSettings settings;
    osc::ServerSettings& server = settings.server;
    server.synthdef_path = default_synthdef_path();
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
        if (contains(replaceable, key))
            settings.given.emplace_back(key, value);
        else if (key.starts_with(prefix))
            error = read_own(key, value, settings);
        else if (key == "clock.quantum-limit")
            error = read_number(key, value, 16, 65536, server.engine.max_quantum);
        else if (key == "clock.rate" && !spa_dict_lookup(info, "scsynth.rate"))
            error = read_rate(key, value, settings.graph_rate);
        if (!error.what.empty())
            return error;
    }
    server.engine.sample_rate = settings.sample_rate > 0 ? settings.sample_rate : settings.graph_rate;
    if (server.engine.audio_buses < server.engine.inputs + server.engine.outputs)
        return Error{"scsynth.audio-buses = \"" + std::to_string(server.engine.audio_buses) +
                     "\": expected at least one for each input and output, " +
                     std::to_string(server.engine.inputs + server.engine.outputs)};
    if (Isa isa; !parse_isa(server.engine.simd, isa))
        return wrong("scsynth.simd", server.engine.simd, isa_choices());
    const int ports = server.engine.inputs + server.engine.outputs;
    if (ports > 0 && settings.sample_rate > most_resampled / ports)
        return wrong("scsynth.sample-rate", std::to_string(settings.sample_rate),
                     "at most " + std::to_string(most_resampled / ports) + " with " + std::to_string(ports) +
                         " inputs and outputs");
    if (settings.sample_rate / server.engine.block_size > most_blocks)
        return wrong("scsynth.sample-rate", std::to_string(settings.sample_rate),
                     "at most " + std::to_string(most_blocks) + " blocks a second");
    return settings;
}

} // namespace scs::spa
