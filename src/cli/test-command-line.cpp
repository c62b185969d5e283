// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/command-line.hpp"
#include "cli/node-properties.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

using namespace scs::cli;

namespace {

using Arguments = std::vector<const char*>;

scs::Result<CommandLine> parse(const Arguments& arguments) {
    return parse_command_line(arguments);
}

std::string error_of(const Arguments& arguments) {
    const auto parsed = parse(arguments);
    return parsed ? "" : parsed.error();
}

std::string setting(const CommandLine& line, const std::string& key) {
    for (const auto& [each, value] : line.settings)
        if (each == key)
            return value;
    return "(none)";
}

DaemonFacts daemon() {
    DaemonFacts facts;
    facts.rate = "48000";
    facts.find_node = [](const std::string& name) -> std::string {
        if (name == "Headphones" || name == "alsa:phones")
            return "alsa:phones";
        return name == "mic" ? "mic" : "";
    };
    return facts;
}

NodeRequest request(const Arguments& arguments) {
    return node_request(parse(arguments).value(), daemon());
}

std::string property(const NodeRequest& request, const std::string& key) {
    const auto found = request.properties.find(key);
    return found == request.properties.end() ? "(none)" : found->second;
}

} // namespace

TEST_CASE("scsynth's defaults, where the node has others") {
    const CommandLine line = parse({"-u", "57110"}).value();
    CHECK(line.action == CommandLine::Action::launch);
    CHECK(line.port == 57110);
    CHECK(setting(line, "scsynth.osc.port") == "57110");
    CHECK(setting(line, "scsynth.osc.tcp") == "false");
    CHECK(setting(line, "scsynth.inputs") == "8");
    CHECK(setting(line, "scsynth.outputs") == "8");
    CHECK(setting(line, "scsynth.max-logins") == "64");
    CHECK(setting(line, "scsynth.buffers") == "(none)");
    CHECK(line.warnings.empty());
}

TEST_CASE("every option that is a setting") {
    const CommandLine line =
        parse({"-u", "1",  "-t", "1",    "-B", "0.0.0.0", "-a", "500", "-c", "600",   "-i", "3",   "-o", "4",
               "-z", "32", "-b", "2000", "-n", "1000",    "-d", "9",   "-m", "2048",  "-w", "99",  "-r", "7",
               "-D", "0",  "-l", "5",    "-p", "word",    "-V", "-1",  "-U", "/a:/b", "-P", "/c:d"})
            .value();
    const std::pair<const char*, const char*> expected[] = {{"osc.bind", "0.0.0.0"},
                                                            {"allow", "any"},
                                                            {"audio-buses", "500"},
                                                            {"control-buses", "600"},
                                                            {"inputs", "3"},
                                                            {"outputs", "4"},
                                                            {"block-size", "32"},
                                                            {"buffers", "2048"},
                                                            {"max-nodes", "1024"},
                                                            {"max-synthdefs", "16"},
                                                            {"rt-memory", "2048"},
                                                            {"wire-buffers", "99"},
                                                            {"random-seeds", "7"},
                                                            {"load-synthdefs", "false"},
                                                            {"max-logins", "8"},
                                                            {"password", "word"},
                                                            {"verbosity", "-1"},
                                                            {"ugen-path", "/a:/b"},
                                                            {"restricted-path", "/c:d"}};
    for (const auto& pair : expected) {
        CAPTURE(pair.first);
        CHECK(setting(line, std::string("scsynth.") + pair.first) == pair.second);
    }
    CHECK(line.verbosity == -1);
}

TEST_CASE("no logins are one, as in scsynth, but not where the setting is given by its key") {
    CHECK(setting(parse({"-u", "1", "-l", "0"}).value(), "scsynth.max-logins") == "1");
    CHECK(error_of({"-u", "1", "--set", "max-logins=0"}).find("1 to 1024") != std::string::npos);
}

TEST_CASE("an address beyond this machine implies that anybody is obeyed") {
    CHECK(setting(parse({"-u", "1", "-B", "127.0.0.1"}).value(), "scsynth.allow") == "(none)");
    CHECK(setting(parse({"-u", "1", "--set", "osc.bind=192.168.1.2"}).value(), "scsynth.allow") == "any");
    CHECK_FALSE(parse({"-u", "1", "-B", "0.0.0.0", "--set", "allow=own"}));
}

TEST_CASE("a password needs TCP, or UDP that is asked for") {
    CHECK_FALSE(parse({"-u", "1", "-p", "word"}));
    CHECK(parse({"-t", "1", "-p", "word"}));
    CHECK(parse({"-t", "1", "-p", "word"}).value().warnings.empty());
    CHECK(parse({"-u", "1", "-p", "word", "--set", "osc.udp=true"}));
}

TEST_CASE("a number may be a float of sclang's, the last one counts") {
    const CommandLine line = parse({"-u", "57110.0", "-m", "100", "-m", "262144.0", "-S", "44100.0"}).value();
    CHECK(line.port == 57110);
    CHECK(setting(line, "scsynth.rt-memory") == "262144");
    CHECK(line.rate == 44100);
}

TEST_CASE("paths are made absolute: the daemon has another working directory") {
    const std::string here = std::filesystem::current_path().string();
    const CommandLine line = parse({"-u", "1", "-U", "plugins:/b", "-P", "sounds"}).value();
    CHECK(setting(line, "scsynth.ugen-path") == here + "/plugins:/b");
    CHECK(setting(line, "scsynth.restricted-path") == here + "/sounds");
}

TEST_CASE("the server looks for SynthDefs and plugins where this process would") {
    setenv("SC_SYNTHDEF_PATH", "/defs", 1);
    setenv("SC_PLUGIN_PATH", "/units", 1);
    const CommandLine line = parse({"-u", "1"}).value();
    const CommandLine given = parse({"-u", "1", "-U", "/other"}).value();
    const CommandLine own = parse({"-u", "1", "--client"}).value();
    const CommandLine added = parse({"-u", "1", "-U", ":/other"}).value();
    unsetenv("SC_SYNTHDEF_PATH");
    unsetenv("SC_PLUGIN_PATH");
    CHECK(setting(line, "scsynth.synthdef-path") == "/defs");
    // It adds to the daemon's folders. A server in this process finds it in its environment.
    CHECK(setting(line, "scsynth.ugen-path") == ":/units");
    CHECK(line.ugen_path_is_from == "SC_PLUGIN_PATH");
    CHECK(setting(own, "scsynth.ugen-path") == "(none)");
    CHECK(setting(added, "scsynth.ugen-path") == ":/other");
    CHECK(added.ugen_path_is_from == "-U");
    CHECK(setting(given, "scsynth.ugen-path") == "/other");
    CHECK(setting(parse({"-u", "1"}).value(), "scsynth.ugen-path") == "(none)");
}

TEST_CASE("TCP") {
    const CommandLine line = parse({"-t", "57110"}).value();
    CHECK(setting(line, "scsynth.osc.port") == "57110");
    CHECK(setting(line, "scsynth.osc.tcp") == "true");
    CHECK(line.warnings.size() == 1);
    const CommandLine both = parse({"-u", "57110", "-t", "57110"}).value();
    CHECK(setting(both, "scsynth.osc.tcp") == "true");
    CHECK(both.warnings.empty());
    CHECK(error_of({"-u", "57110", "-t", "57111"}).starts_with("-t: UDP and TCP have one port"));
}

TEST_CASE("offline") {
    const CommandLine line = parse({"-N", "a.osc", "_", "a.wav", "44100.5", "WAV", "int24", "-o", "2"}).value();
    CHECK(line.action == CommandLine::Action::render);
    CHECK(line.score.score == "a.osc");
    CHECK(line.score.input == "_");
    CHECK(line.score.output == "a.wav");
    CHECK(line.score.rate == 44100);
    CHECK(line.score.header == "WAV");
    CHECK(line.score.sample == "int24");
    CHECK(setting(line, "scsynth.outputs") == "2");
    const CommandLine with_port = parse({"-u", "1", "-N", "a", "_", "b", "1000", "WAV", "float"}).value();
    CHECK(with_port.action == CommandLine::Action::render);
    CHECK(error_of({"-N", "a.osc", "_", "a.wav", "44100", "WAV"}).starts_with("-N: expected"));
    CHECK(parse({"-N", "a", "_", "b", "768000", "WAV", "float"}));
    for (const char* rate : {"fast", "0", "999", "768001", "nan"})
        CHECK(error_of({"-N", "a", "_", "b", rate, "WAV", "int24"}).starts_with(std::string("-N: the rate ") + rate));
}

TEST_CASE("errors begin with the option") {
    const std::pair<Arguments, const char*> wrong[] = {
        {{}, "-u or -t"},
        {{"-u"}, "-u: expected a value"},
        {{"-u", "65536"}, "-u 65536: expected a whole number from 0 to 65535"},
        {{"-u", "1", "-o", "1025"}, "-o: scsynth.outputs"},
        {{"-u", "1", "-o", "two"}, "-o: scsynth.outputs"},
        {{"-u", "1", "-z", "1025"}, "-z: scsynth.block-size"},
        {{"-u", "1", "-a", "4", "-i", "2", "-o", "3"}, "-a: scsynth.audio-buses"},
        {{"-u", "1", "-Z", "-1"}, "-Z -1: expected"},
        {{"-u", "1", "-S", "1"}, "-S 1: expected"},
        {{"-x"}, "-x: no such option"},
        {{"-u57110"}, "-u57110: no such option"},
        {{"57110"}, "57110: no such option"},
        {{"--nothing"}, "--nothing: no such option"},
        {{""}, ": no such option"},
    };
    for (const auto& pair : wrong) {
        CAPTURE(pair.second);
        CHECK(error_of(pair.first).substr(0, std::string(pair.second).size()) == pair.second);
    }
}

TEST_CASE("options without effect say why, those that have none in scsynth either are silent") {
    const CommandLine line =
        parse({"-u", "1", "-C", "1", "-R", "0", "-I", "11", "-O", "11", "-s", "1.2", "-L"}).value();
    REQUIRE(line.warnings.size() == 4);
    for (const char* option : {"-I", "-O", "-s", "-L"})
        CHECK(std::count_if(line.warnings.begin(), line.warnings.end(),
                            [&](const std::string& text) { return text.starts_with(option); }) == 1);
}

TEST_CASE("-R 0 is what we do, -R 1 is not") {
    CHECK(parse({"-u", "1", "-R", "0"}).value().warnings.empty());
    CHECK(parse({"-u", "1", "-R", "1"}).value().warnings.size() == 1);
}

TEST_CASE("help and version need nothing else") {
    for (const char* option : {"-h", "--help"})
        CHECK(parse({option}).value().action == CommandLine::Action::help);
    for (const char* option : {"-v", "--version"})
        CHECK(parse({option, "nonsense"}).value().action == CommandLine::Action::version);
}

TEST_CASE("quantum and rate are asked for") {
    const NodeRequest plain = request({"-u", "1"});
    CHECK(property(plain, "scsynth.rate") == "48000");
    CHECK(property(plain, "node.latency") == "(none)");
    CHECK(property(plain, "scsynth.sample-rate") == "(none)");

    const NodeRequest asked = request({"-u", "1", "-Z", "200", "-S", "44100"});
    CHECK(property(asked, "node.latency") == "256/44100");
    CHECK(property(asked, "scsynth.sample-rate") == "44100");
    CHECK(property(asked, "scsynth.rate") == "48000");
    CHECK(asked.warnings.empty());

    CHECK(property(request({"-u", "1", "-S", "0"}), "scsynth.sample-rate") == "(none)");
}

TEST_CASE("any setting of the node") {
    const auto value = [](const Arguments& arguments, const char* key) { return property(request(arguments), key); };
    CHECK(value({"-u", "1", "--set", "native-ugens=false"}, "scsynth.native-ugens") == "false");
    CHECK(value({"-u", "1", "--set", "synthdef-path=/a=b"}, "scsynth.synthdef-path") == "/a=b");
    CHECK(value({"-u", "1", "-o", "4", "--set", "outputs=6"}, "scsynth.outputs") == "6");

    CHECK(value({"-u", "1", "--set", "scsynth.simd=auto"}, "scsynth.simd") == "auto");

    const auto unknown = parse({"-u", "1", "--set", "native=1"});
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error() == "--set: scsynth.native is not a setting");
    for (const char* broken : {"", "outputs", "=3", "outputs=x", "simd=mmx", "osc.port=2"})
        CHECK(!parse({"-u", "1", "--set", broken}));
    CHECK(!parse({"-u", "1", "--set"}));
}

TEST_CASE("a process of its own, by its option or the module's setting") {
    for (const Arguments& apart :
         {Arguments{"-u", "1", "--client"}, Arguments{"-u", "1", "--set", "isolation=process"}}) {
        CHECK(parse(apart).value().in_this_process);
        CHECK(property(request(apart), "scsynth.isolation") == "process");
    }
    CHECK_FALSE(parse({"-u", "1"}).value().in_this_process);
    CHECK(property(request({"-u", "1"}), "scsynth.isolation") == "loop");
    const auto wrong = parse({"-u", "1", "--set", "isolation=elsewhere"});
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error() == "--set isolation=elsewhere: expected loop or process");
    CHECK(parse({"--isolated"}).value().isolated);
}

TEST_CASE("devices by name and description") {
    const auto devices = [](const Arguments& arguments) {
        const NodeRequest made = request(arguments);
        return property(made, "scsynth.sink") + " " + property(made, "scsynth.source") + " " +
               std::to_string(made.warnings.size());
    };
    CHECK(devices({"-u", "1"}) == "(none) (none) 0");
    CHECK(devices({"-u", "1", "-H", "Headphones"}) == "alsa:phones alsa:phones 0");
    CHECK(devices({"-u", "1", "-H", "alsa:phones"}) == "alsa:phones alsa:phones 0");
    CHECK(devices({"-u", "1", "-H", "Headphones:mic"}) == "alsa:phones mic 0");
    CHECK(devices({"-H", "mic", "Headphones", "-u", "1"}) == "alsa:phones mic 0");
    CHECK(devices({"-u", "1", "-H", "Headphones:"}) == "alsa:phones (none) 0");
    CHECK(devices({"-u", "1", "-H", ":mic"}) == "(none) mic 0");
    CHECK(devices({"-u", "1", "-H", "gone"}) == "gone gone 1");
    CHECK(devices({"-u", "1", "-H", "", "Headphones"}) == "alsa:phones (none) 0");
}
