// SPDX-License-Identifier: GPL-3.0-or-later
#include "fixture.hpp"
#include "settings.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace scs::test;

namespace {

std::string text(int value) {
    return std::to_string(value);
}
std::string text(double value) {
    return scs::number_text(value);
}
std::string text(bool value) {
    return value ? "true" : "false";
}
std::string text(const std::string& value) {
    return value;
}

/// What a node would be made with: the value of each key; none if one of those in `info` may not be.
std::map<std::string, std::string> fields(const Host::Dict& info) {
    std::vector<spa_dict_item> items;
    for (const auto& [key, value] : info)
        items.push_back({key.c_str(), value.c_str()});
    const spa_dict dict = SPA_DICT_INIT(items.data(), uint32_t(items.size()));
    auto settings = scs::spa::read_settings(&dict);
    std::map<std::string, std::string> all;
    if (settings)
        for (const scs::spa::BoundSetting& each : scs::spa::all_settings(settings.value()))
            all[each.setting->key] = std::visit([](auto* field) { return text(*field); }, each.field);
    return all;
}

/// A text that a setting without choices may have.
std::string any_text(const scs::Setting& setting) {
    const std::string key = setting.key;
    return key == "osc.bind"     ? "127.0.0.2"
           : key == "osc.socket" ? "/socket"
           : key == "layout"     ? "quad"
           : key == "bindings"   ? "default"
                                 : "anything";
}

/// Values that a setting may have.
std::vector<std::string> values(const scs::spa::BoundSetting& bound) {
    const scs::Setting& setting = *bound.setting;
    if (std::holds_alternative<bool*>(bound.field))
        return {"true", "false"};
    if (!std::holds_alternative<std::string*>(bound.field))
        return {std::to_string(setting.low), std::to_string(setting.high)};
    if (!*setting.choices)
        return {any_text(setting)};
    std::vector<std::string> all;
    std::istringstream choices(setting.choices);
    for (std::string one; std::getline(choices, one, '|');)
        all.push_back(one);
    return all;
}

} // namespace

TEST_CASE("the defaults are the design's") {
    FakeHost host;
    auto node = host.create({});
    const scs::osc::ServerSettings& server = host.fake.settings;
    CHECK(server.port == 57110);
    CHECK(server.bind == "127.0.0.1");
    CHECK(server.max_logins == 4);
    CHECK(server.engine.inputs == 2);
    CHECK(server.engine.outputs == 2);
    CHECK(server.engine.block_size == 64);
    CHECK(server.load_synthdefs);
    CHECK(server.shared_memory);
    CHECK(server.synthdef_path.find("synthdefs") != std::string::npos);
    CHECK_FALSE(server.allow_quit);
    CHECK(server.plugin_job_limit == 0);
}

TEST_CASE("each key arrives where it belongs") {
    FakeHost host;
    auto node = host.create({{"scsynth.osc.port", "57200"},
                             {"scsynth.osc.bind", "0.0.0.0"},
                             {"scsynth.inputs", "3"},
                             {"scsynth.outputs", "5"},
                             {"scsynth.audio-buses", "200"},
                             {"scsynth.control-buses", "300"},
                             {"scsynth.buffers", "262144"},
                             {"scsynth.max-nodes", "400"},
                             {"scsynth.max-synthdefs", "500"},
                             {"scsynth.rt-memory", "1024"},
                             {"scsynth.block-size", "32"},
                             {"scsynth.wire-buffers", "128"},
                             {"scsynth.random-seeds", "16"},
                             {"scsynth.max-logins", "8"},
                             {"scsynth.password", "secret"},
                             {"scsynth.ugen-path", "/a:/b"},
                             {"scsynth.synthdef-path", "/defs"},
                             {"scsynth.load-synthdefs", "false"},
                             {"scsynth.shared-memory", "false"},
                             {"scsynth.restricted-path", "/r"},
                             {"scsynth.verbosity", "-1"},
                             {"scsynth.allow-quit", "true"},
                             {"scsynth.plugin-job-limit", "600"},
                             {"scsynth.rate", "96000"},
                             {"clock.rate", "44100"},
                             {"clock.quantum-limit", "4096"},
                             {"scsynth.cpu-limit", "0.45"},
                             {"scsynth.overload", "mute"},
                             {"scsynth.output-limit", "2"},
                             {"scsynth.allow", "any"},
                             {"scsynth.osc.socket", "/s"},
                             {"scsynth.osc.udp", "true"},
                             {"scsynth.crash-marker", "/m"},
                             {"scsynth.isolation", "process"},
                             {"scsynth.supercollider", "3.14"},
                             {"scsynth.threads", "3"},
                             {"scsynth.parallel", "groups"},
                             {"scsynth.keep-rate", "true"},
                             {"scsynth.name", "lute"},
                             {"scsynth.sink", "Dock"},
                             {"scsynth.source", "Mic"},
                             {"scsynth.sink-position", "3,4"},
                             {"scsynth.source-position", "AUX1"},
                             {"scsynth.strict-device", "true"}});
    REQUIRE(node);
    CHECK(node->properties["node.name"] == "lute");
    CHECK(node->properties["node.description"] == "lute");
    const scs::osc::ServerSettings& server = host.fake.settings;
    CHECK(server.port == 57200);
    CHECK(server.bind == "0.0.0.0");
    CHECK(server.engine.inputs == 3);
    CHECK(server.engine.outputs == 5);
    CHECK(server.engine.audio_buses == 200);
    CHECK(server.engine.control_buses == 300);
    CHECK(server.engine.buffers == 262144); // what SuperDirt asks for
    CHECK(server.engine.max_nodes == 400);
    CHECK(server.engine.max_synthdefs == 500);
    CHECK(server.engine.rt_memory_kib == 1024);
    CHECK(server.engine.block_size == 32);
    CHECK(server.engine.wire_buffers == 128);
    CHECK(server.engine.random_seeds == 16);
    CHECK(server.engine.cpu_limit == 0.45);
    CHECK(server.engine.overload == "mute");
    CHECK(server.engine.output_limit == 2);
    CHECK(server.max_logins == 8);
    CHECK(server.udp == "true");
    CHECK(server.allow == "any");
    CHECK(server.socket == "/s");
    CHECK(server.password == "secret");
    CHECK(server.engine.ugen_path == "/a:/b");
    CHECK(server.synthdef_path == "/defs");
    CHECK_FALSE(server.load_synthdefs);
    CHECK_FALSE(server.shared_memory);
    CHECK(server.restricted_path == "/r");
    CHECK(server.crash_marker == "/m");
    CHECK(server.engine.supercollider == "3.14");
    CHECK(node->properties["scsynth.isolation"] == "process");
    CHECK(node->properties["scsynth.sink"] == "Dock");
    CHECK(node->properties["scsynth.source"] == "Mic");
    CHECK(node->properties["scsynth.sink-position"] == "3,4");
    CHECK(node->properties["scsynth.source-position"] == "AUX1");
    CHECK(node->properties["scsynth.strict-device"] == "true");
    CHECK(node->properties["state.restore-target"] == "false"); // WirePlumber remembers another one, perhaps
    CHECK(server.engine.verbosity == -1);
    CHECK(server.engine.threads == 3);
    CHECK(server.engine.parallel == "groups");
    CHECK(server.allow_quit);
    CHECK(server.plugin_job_limit == 600);
    CHECK(server.engine.sample_rate == 96000);
    CHECK(server.engine.max_quantum == 4096);
    CHECK(node->properties["scsynth.resampling"] == "no"); // keep-rate shows it
}

TEST_CASE("the node's name for PipeWire, and the one that scsynth has for JACK") {
    FakeHost host;
    auto first = host.create({{"scsynth.osc.port", "57110"}});
    CHECK(first->properties["node.name"] == "scsynth");
    CHECK(first->properties["node.description"] == "SuperCollider");
    auto other = host.create({{"scsynth.osc.port", "57200"}});
    CHECK(other->properties["node.name"] == "scsynth-57200");
    CHECK(other->properties["node.description"] == "SuperCollider-57200");
    auto given = host.create({{"scsynth.name", "lute"}, {"node.description", "The lute"}});
    CHECK(given->properties["node.name"] == "lute");
    CHECK(given->properties["node.description"] == "The lute");
}

TEST_CASE("a data loop by name has to be the one that PipeWire gives") {
    FakeHost host;
    auto node = host.create({{"scsynth.loop", "synths"}, {"node.loop.name", "synths"}});
    REQUIRE(node);
    CHECK(node->properties["scsynth.loop"] == "synths");
    CHECK_FALSE(host.create({{"scsynth.loop", "synths"}, {"node.loop.name", "data-loop.0"}}));
    CHECK(host.error() == -EINVAL);
    CHECK_FALSE(host.create({{"scsynth.loop", "synths"}}));
    CHECK(host.create({{"node.loop.name", "data-loop.0"}}));
}

TEST_CASE("the daemon's rate counts where none is set") {
    FakeHost host;
    auto node = host.create({{"clock.rate", "44100"}});
    CHECK(host.fake.settings.engine.sample_rate == 44100);
    CHECK(node->properties.count("node.rate") == 0);
}

TEST_CASE("a sample rate of its own is asked of the graph, and the engine's whatever the graph does") {
    FakeHost host;
    auto node = host.create({{"scsynth.sample-rate", "44100"}, {"scsynth.rate", "48000"}});
    CHECK(host.fake.settings.engine.sample_rate == 44100);
    CHECK(node->properties["node.rate"] == "1/44100");
    node->start();
    for (const uint32_t rate : {48000, 44100, 96000, 44100}) {
        host.position().clock.rate = {1, rate};
        host.cycle(256);
        CHECK(host.fake.rate == 44100);
    }
    auto other = host.create({{"scsynth.sample-rate", "44100"}, {"node.rate", "1/88200"}});
    CHECK(other->properties["node.rate"] == "1/88200");
}

TEST_CASE("what is too far from the graph's rate follows it") {
    FakeHost host;
    auto node = host.create({{"scsynth.sample-rate", "1000"}});
    node->start();
    host.position().clock.rate = {1, 48000};
    host.cycle(256);
    host.main().expire_timers();
    CHECK(host.fake.rate == 48000);
    CHECK(host.fake.frames == 256);
    CHECK(node->properties["scsynth.resampling"] ==
          "engine at the graph's 48000 Hz: too far from 1000 to be resampled");
}

TEST_CASE("whoever asked for the node may quit it") {
    FakeHost host;
    auto client = host.create({{"client.id", "31"}});
    CHECK(host.fake.settings.allow_quit);
    auto lingering = host.create({{"object.linger", "true"}});
    CHECK(host.fake.settings.allow_quit);
    auto fixed = host.create({{"client.id", "31"}, {"scsynth.allow-quit", "false"}});
    CHECK_FALSE(host.fake.settings.allow_quit);
}

TEST_CASE("a bad value is an error that names it") {
    FakeHost host;
    const std::pair<const char*, const char*> bad[] = {
        {"scsynth.inputs", "1025"},
        {"scsynth.inputs", "-1"},
        {"scsynth.outputs", "two"},
        {"scsynth.outputs", "2 "},
        {"scsynth.outputs", ""},
        {"scsynth.osc.port", "65536"},
        {"scsynth.max-logins", "0"},
        {"scsynth.max-logins", "1025"},
        {"scsynth.block-size", "0"},
        {"scsynth.load-synthdefs", "no"},
        {"scsynth.rate", "0"},
        {"scsynth.rate", "48000.5"},
        {"clock.quantum-limit", "1e3"},
        {"scsynth.rt-memory", "99999999999"},
        {"scsynth.audio-buses", "3"},
        {"scsynth.buffers", "8388609"},
        {"scsynth.sample-rate", "999"},
        {"scsynth.sample-rate", "44.1k"},
        {"scsynth.sample-rate", "0"},
        {"scsynth.allow", "all"},
        {"scsynth.osc.bind", "0.0.0.0"},
        {"scsynth.autoconnect", "perhaps"},
        {"scsynth.strict-device", "very"},
        {"scsynth.layout", "8.1"},
        {"scsynth.layout", "FL FR XX"},
        {"scsynth.layout", "FL quad"},
        {"scsynth.layout", "FL fl"},
        {"scsynth.layout", "AUX64"},
        {"scsynth.layout", "NA"},
        {"scsynth.port-names", "d1:L"},
        {"scsynth.port-names", "d1; d1"},
        {"scsynth.port-names", "out_2"},
        {"scsynth.port-names", "in_1"},
        {"scsynth.port-names", "control_1"},
        {"scsynth.port-names", "control_out_1"},
        {"scsynth.port-names", "[ \"d1 L\" \"d1 L\" ]"},
    };
    for (const auto& each : bad) {
        const char* key = each.first;
        const char* value = each.second;
        CAPTURE(key);
        CAPTURE(value);
        CHECK_FALSE(host.create({{key, value}}));
        CHECK(host.error() == -EINVAL);
        CHECK(host.log().has(std::string(key) + " = \"" + value + "\": expected"));
    }
    CHECK(host.fake.servers == 0);
}

TEST_CASE("each row of the tables: its bounds are taken, what lies beyond is not") {
    FakeHost host;
    // With enough buses and few enough ports for every other setting's bounds.
    const auto accepts = [&](const std::string& key, const std::string& value) {
        Host::Dict dict{{"scsynth.audio-buses", "2048"}, {"scsynth.inputs", "1"}, {"scsynth.outputs", "1"}};
        if (key == "audio-buses")
            dict = {{"scsynth.inputs", "0"}, {"scsynth.outputs", "0"}};
        dict.emplace_back("scsynth." + key, value); // the last one counts
        return bool(host.create(dict));
    };
    scs::spa::NodeSettings settings;
    for (const scs::spa::BoundSetting& each : scs::spa::all_settings(settings)) {
        const scs::Setting& setting = *each.setting;
        const std::string key = setting.key;
        CAPTURE(key);
        if (std::holds_alternative<int*>(each.field)) {
            CHECK(accepts(key, std::to_string(setting.low)));
            CHECK(accepts(key, std::to_string(setting.high)));
            CHECK_FALSE(accepts(key, std::to_string(setting.low - 1)));
            CHECK_FALSE(accepts(key, std::to_string(setting.high + 1)));
        } else if (std::holds_alternative<double*>(each.field)) {
            CHECK(accepts(key, std::to_string(setting.low)));
            CHECK(accepts(key, "0.25"));
            CHECK(accepts(key, std::to_string(setting.high)));
            for (const double wrong : {setting.low - 0.01, setting.high + 0.01})
                CHECK_FALSE(accepts(key, std::to_string(wrong)));
            for (const char* wrong : {"nan", "inf", "0.5 ", "0,5", ""})
                CHECK_FALSE(accepts(key, wrong));
        } else if (std::holds_alternative<bool*>(each.field)) {
            CHECK(accepts(key, "true"));
            CHECK(accepts(key, "0"));
            CHECK_FALSE(accepts(key, "2"));
        } else {
            const std::string first(setting.choices, std::strcspn(setting.choices, "|"));
            CHECK(accepts(key, *setting.choices ? first : any_text(setting)));
            CHECK(accepts(key, "none of them") == (any_text(setting) == "anything" && !*setting.choices));
        }
    }
}

TEST_CASE("each row of the tables: its key sets its field, and no other") {
    const Host::Dict roomy{{"scsynth.audio-buses", "2048"}, {"scsynth.inputs", "1"}, {"scsynth.outputs", "1"}};
    const std::map<std::string, std::string> before = fields(roomy);
    scs::spa::NodeSettings settings;
    for (const scs::spa::BoundSetting& each : scs::spa::all_settings(settings)) {
        const std::string key = each.setting->key;
        CAPTURE(key);
        bool set = false;
        for (const std::string& value : values(each)) {
            Host::Dict dict = roomy;
            std::erase_if(dict, [&](const auto& entry) { return entry.first == "scsynth." + key; });
            dict.emplace_back("scsynth." + key, value);
            std::map<std::string, std::string> after = fields(dict);
            if (value == before.at(key) || after.empty()) // empty: an instruction set that this build hasn't
                continue;
            set = true;
            CHECK(after.at(key) == value);
            after[key] = before.at(key);
            CHECK(after == before);
        }
        CHECK(set);
    }
}

TEST_CASE("each row of the tables stands for itself, and a default is allowed") {
    scs::spa::NodeSettings settings;
    const auto all = scs::spa::all_settings(settings);
    std::set<std::string> keys;
    std::set<char> letters;
    std::set<const void*> fields;
    for (const scs::spa::BoundSetting& each : all) {
        const scs::Setting& setting = *each.setting;
        CAPTURE(setting.key);
        CHECK(keys.insert(setting.key).second);
        CHECK((setting.letter == 0 || letters.insert(setting.letter).second));
        CHECK(std::visit([&](auto* field) { return fields.insert(field).second; }, each.field));
        CHECK((*setting.unset || std::visit([&](auto* field) { return allows(setting, *field); }, each.field)));
        CHECK((!setting.scsynth_default || std::holds_alternative<bool*>(each.field) ||
               allows(setting, *setting.scsynth_default)));
        CHECK((!std::holds_alternative<int*>(each.field) || setting.low < setting.high));
        CHECK(std::string(setting.help).size() <= 60);
        CHECK((*setting.help && setting.help[std::string(setting.help).size() - 1] != '.'));
        CHECK((!setting.letter || *setting.value));
    }
}

TEST_CASE("no more is resampled than there is time for") {
    FakeHost host;
    CHECK(host.create({{"scsynth.sample-rate", "768000"}, {"scsynth.inputs", "8"}, {"scsynth.outputs", "8"}}));
    CHECK(host.create({{"scsynth.sample-rate", "48000"}, {"scsynth.inputs", "128"}, {"scsynth.outputs", "128"}}));
    CHECK(host.create({{"scsynth.sample-rate", "768000"}, {"scsynth.inputs", "0"}, {"scsynth.outputs", "0"}}));
    CHECK_FALSE(host.create({{"scsynth.sample-rate", "768000"}, {"scsynth.inputs", "9"}, {"scsynth.outputs", "8"}}));
    CHECK(host.error() == -EINVAL);
    CHECK(host.log().has("scsynth.sample-rate = \"768000\": expected at most 722823 with 17 inputs and outputs"));
    CHECK(host.create({{"scsynth.sample-rate", "192000"}, {"scsynth.block-size", "1"}}));
    CHECK_FALSE(host.create({{"scsynth.sample-rate", "192001"}, {"scsynth.block-size", "1"}}));
    CHECK(host.log().has("scsynth.sample-rate = \"192001\": expected at most 192000 blocks a second"));
    CHECK_FALSE(host.create({{"scsynth.sample-rate", "48001"}, {"scsynth.inputs", "128"}, {"scsynth.outputs", "128"}}));
    for (const char* ports : {"scsynth.inputs", "scsynth.outputs"}) {
        CHECK_FALSE(host.create({{"scsynth.sample-rate", "44100"}, {ports, "129"}}));
        CHECK(host.log().has("scsynth.sample-rate = \"44100\": expected none with more than 128 inputs or outputs"));
        CHECK_FALSE(host.create({{"scsynth.keep-rate", "true"}, {ports, "129"}}));
        CHECK(host.log().has("scsynth.keep-rate = \"true\": expected none with more than 128 inputs or outputs"));
        CHECK(host.create({{ports, "129"}}));
    }
}

TEST_CASE("an error of a layout says what may be given") {
    FakeHost host;
    CHECK_FALSE(host.create({{"scsynth.layout", "surround"}}));
    CHECK(host.log().has("stereo, 2.1, "));
    CHECK(host.log().has("ambisonics, or a list of channels, each once, of MONO FL FR FC LFE"));
    CHECK(host.log().has(" AUX0 to AUX63"));
    CHECK_FALSE(host.log().has(" NA "));
}

TEST_CASE("bindings without a control input are warned about") {
    FakeHost host;
    auto node = host.create({{"scsynth.bindings", "keys"}, {"scsynth.control-inputs", "0"}});
    REQUIRE(node);
    CHECK(host.log().has("scsynth.bindings has no effect without a control input (scsynth.control-inputs)"));
}

TEST_CASE("a layout of more channels than outputs is warned about") {
    FakeHost host;
    auto node = host.create({{"scsynth.layout", "5.1"}});
    REQUIRE(node);
    CHECK(node->properties["scsynth.layout"] == "FL FR");
    CHECK(host.log().has(
        "scsynth.layout = \"5.1\" has 6 channels, scsynth.outputs = 2: only the first are there (-o 6 has all)"));
    FakeHost other;
    CHECK(other.create({{"scsynth.layout", "ambisonics"}}));
    CHECK(other.create({{"scsynth.layout", "stereo"}}));
    CHECK_FALSE(other.log().has("scsynth.layout"));
}

TEST_CASE("port names: which one can't be, and how many count") {
    FakeHost host;
    CHECK_FALSE(host.create({{"scsynth.port-names", "d1 L; d1:R"}}));
    CHECK(host.log().has("expected names with semicolons between"));
    CHECK(host.log().has("\"d1:R\" can't be one"));
    CHECK(host.create({{"scsynth.port-names", std::string(100, 'x')}}));
    CHECK_FALSE(host.create({{"scsynth.port-names", std::string(101, 'x')}}));
    CHECK_FALSE(host.create({{"scsynth.port-names", "a\tb"}}));
    CHECK_FALSE(host.log().has("only the first count"));
    auto node = host.create({{"scsynth.port-names", "a;b;c"}});
    CHECK(host.log().has("scsynth.port-names has 3 names, scsynth.outputs = 2: only the first count"));
}

TEST_CASE("settings that do nothing are warned about") {
    FakeHost host;
    auto node = host.create({{"scsynth.outputz", "2"}, {"scsynth.autoconnect", "true"}});
    REQUIRE(node);
    CHECK(host.log().has("scsynth.outputz is not a setting"));
    CHECK_FALSE(host.log().has("scsynth.autoconnect"));
}
