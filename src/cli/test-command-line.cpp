// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/client-name.hpp"
#include "cli/command-line.hpp"
#include "cli/devices.hpp"
#include "cli/environment.hpp"
#include "cli/node-properties.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
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
    facts.has_node = [](const std::string& name) {
        return name == "Headphones" || name == "alsa:phones" || name == "mic";
    };
    facts.free_name = [](const std::string& name) {
        return free_name(name, [](const std::string& each) { return each == "piece" || each == "piece-01"; });
    };
    return facts;
}

using Variables = std::map<std::string, std::string>;

Environment environment(const Variables& variables) {
    return read_environment([&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

NodeRequest request(const Arguments& arguments, const Variables& variables = {}) {
    return node_request(parse(arguments).value(), environment(variables), daemon());
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
        {{"-u", "1", "-z", "1025"}, "-z 1025: expected a whole number from 1 to 1024"},
        {{"-u", "1", "-l", "5000"}, "-l 5000: expected a whole number from 1 to 1024"},
        {{"-u", "1", "-b", "many"}, "-b: scsynth.buffers"},
        {{"-u", "1", "--wait", "-1"}, "--wait -1: expected a whole number of seconds from 0 to 86400"},
        {{"-u", "1", "--wait"}, "--wait : expected"},
        {{"-u", "1", "--options", "sclang"}, "--options sclang: expected scsynth or supernova"},
        {{"-u", "1", "-a", "4", "-i", "2", "-o", "3"}, "-a: scsynth.audio-buses"},
        {{"-u", "1", "-Z", "-1"}, "-Z -1: expected"},
        {{"-u", "1", "-S", "1"}, "-S 1: expected"},
        {{"-x"}, "-x: no such option"},
        {{"-u57110"}, "-u57110: no such option"},
        {{"57110"},
         "57110: no such command; there are status, top, trace, pointer, gamepad, transport, link, save and restore. "
         "To play a "
         "SynthDef by "
         "keys: --bind 57110"},
        {{"--nothing"}, "--nothing: no such option"},
        {{""},
         ": no such command; there are status, top, trace, pointer, gamepad, transport, link, save and restore. To "
         "play a "
         "SynthDef by keys: "
         "--bind keys"},
        {{"--bind", "keys", "channel", "0"},
         "channel: no such command; what --bind takes is one word: --bind \"keys channel 0; pad\""},
        {{"--bind", " ;"}, "--bind \" ;\": expected SynthDefs"},
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
    for (const char* option : {"-v", "--version", "-version"}) // scsynth reads the letter alone
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

TEST_CASE("devices as they are called") {
    const auto devices = [](const Arguments& arguments) {
        const NodeRequest made = request(arguments);
        return property(made, "scsynth.sink") + " " + property(made, "scsynth.source");
    };
    CHECK(devices({"-u", "1"}) == "(none) (none)");
    CHECK(devices({"-u", "1", "-H", "Headphones"}) == "Headphones Headphones");
    CHECK(devices({"-u", "1", "-H", "alsa:phones"}) == "alsa:phones alsa:phones");
    CHECK(devices({"-u", "1", "-H", "Headphones:mic"}) == "Headphones mic");
    CHECK(devices({"-H", "mic", "Headphones", "-u", "1"}) == "Headphones mic");
    CHECK(devices({"-u", "1", "-H", "Headphones:"}) == "Headphones (none)");
    CHECK(devices({"-u", "1", "-H", ":mic"}) == "(none) mic");
    CHECK(devices({"-u", "1", "-H", "usb.gone"}) == "usb.gone usb.gone");
    CHECK(devices({"-u", "1", "-H", "usb.gone:mic"}) == "usb.gone mic");
    CHECK(devices({"-u", "1", "-H", "mic:gone"}) == "mic gone");
    CHECK(devices({"-u", "1", "-H", "", "Headphones"}) == "Headphones (none)");
    CHECK(devices({"-u", "1", "-H", "gone", "mic"}) == "mic gone");
}

TEST_CASE("which nodes a text names") {
    const NodeProperties card{{"media.class", "Audio/Sink"},
                              {"node.name", "alsa_output.usb-x"},
                              {"node.description", "Scarlett 2i2 Analog Stereo"},
                              {"alsa.card_name", "Focusrite"}};
    for (const char* name : {"alsa_output.usb-x", "usb-", "scarlett", "ANALOG stereo", "focusrite"})
        CHECK(names_node(name, card));
    for (const char* name : {"", "Audio/Sink", "2i4", "Scarlett*"})
        CHECK_FALSE(names_node(name, card));
    const NodeProperties device{{"device.name", "alsa_card.usb-x"}, {"device.nick", "Rack"}};
    for (const char* name : {"rack", "alsa_card.usb-x"}) {
        CHECK_FALSE(names_node(name, card));
        CHECK(names_node(name, card, device));
    }
    const NodeProperties numbered{{"media.class", "Audio/Sink"}, {"node.name", "none-such"}, {"object.serial", "1234"}};
    CHECK(names_node("1234", numbered));
    CHECK_FALSE(names_node("123", numbered));
    CHECK_FALSE(names_node("none", numbered)); // for the policy it is no device's name
    const NodeProperties effect{{"node.name", "reverb"}, {"node.description", "A reverb"}};
    CHECK(names_node("reverb", effect));
    CHECK_FALSE(names_node("verb", effect));
    CHECK_FALSE(names_node("A reverb", effect));
    CHECK_FALSE(names_node("rack", effect, device));
}

TEST_CASE("the list of devices") {
    const auto node = [](const char* media_class, const char* name, const char* description) {
        return NodeProperties{{"media.class", media_class},
                              {"node.name", name},
                              {"node.description", description},
                              {"audio.position", "[ FL, FR ]"}};
    };
    CHECK(device_lines(devices_in({})).empty());
    CHECK(device_lines(devices_in({
              node("Stream/Output/Audio", "player", "A player"),
              node("Audio/Source/Virtual", "mic", "Microphone"),
              node("Audio/Sink", "b", "Dock"),
              node("Audio/Sink", "a", "Dock"),
              node("Audio/Duplex", "both", "Interface"),
              node("Audio/Sink", "bare", ""),
              node("Video/Source", "cam", "Camera"),
          })) == "sink\ta\ta\tFL,FR\n"
                 "sink\tb\tb\tFL,FR\n"
                 "sink\tInterface\tboth\tFL,FR\n"
                 "sink\tbare\tbare\tFL,FR\n"
                 "source\tInterface\tboth\tFL,FR\n"
                 "source\tMicrophone\tmic\tFL,FR\n");
}

TEST_CASE("what no device is called is the node's name") {
    const auto named = [](const Arguments& arguments, const Variables& variables = {}) {
        const NodeRequest made = request(arguments, variables);
        return property(made, "scsynth.name") + " " + property(made, "node.name") + " " +
               property(made, "node.description") + " " + property(made, "scsynth.sink") + " " +
               std::to_string(made.warnings.size());
    };
    CHECK(named({"-u", "1"}) == "(none) (none) SuperCollider (none) 0");
    CHECK(named({"-u", "1", "-H", "SuperCollider"}) == "SuperCollider (none) (none) (none) 1");
    CHECK(named({"-u", "1", "-H", "default:show"}) == "show (none) (none) (none) 1");
    CHECK(named({"-u", "1", "-H", "default:"}) == "(none) (none) SuperCollider (none) 0");
    CHECK(named({"-u", "1", "-H", "Headphones"}) == "(none) (none) SuperCollider Headphones 0");
    CHECK(named({"-u", "1", "-H", "piece"}) == "piece-02 (none) (none) (none) 2");
    CHECK(named({"-u", "1", "--set", "name=show"}) == "show (none) (none) (none) 0");
    CHECK(named({"-u", "1", "-H", "SuperCollider", "--set", "name=show"}) == "show (none) (none) (none) 1");
    const Variables props = {{"PIPEWIRE_PROPS", "{ node.name = lute, node.description = \"The lute\" }"}};
    CHECK(named({"-u", "1"}, props) == "lute (none) The lute (none) 0");
    CHECK(named({"-u", "1", "-H", "show"}, props) == "show (none) The lute (none) 1");
}

TEST_CASE("as JACK's server names a second client") {
    const auto nothing = [](const std::string&) { return false; };
    const auto all = [](const std::string&) { return true; };
    const auto some = [](const std::string& name) { return name < "a-11"; };
    CHECK(free_name("a", nothing) == "a");
    CHECK(free_name("a", some) == "a-11");
    CHECK(free_name("a", all) == "a-99");
}

TEST_CASE("what PipeWire's variables ask for") {
    const NodeRequest made = request({"-u", "1"}, {{"PIPEWIRE_PROPS", "node.group = a media.role = \"Music box\""},
                                                   {"PIPEWIRE_LATENCY", "256/44100"},
                                                   {"PIPEWIRE_QUANTUM", "128/48000"},
                                                   {"PIPEWIRE_RATE", "1/96000"},
                                                   {"PIPEWIRE_NODE", "phones"},
                                                   {"PIPEWIRE_AUTOCONNECT", "false"}});
    CHECK(property(made, "node.group") == "a");
    CHECK(property(made, "media.role") == "Music box");
    CHECK(property(made, "node.latency") == "256/44100");
    CHECK(property(made, "node.force-quantum") == "128");
    CHECK(property(made, "node.force-rate") == "48000");
    CHECK(property(made, "node.rate") == "1/96000");
    CHECK(property(made, "target.object") == "phones");
    CHECK(property(made, "scsynth.autoconnect") == "false");
    CHECK(made.warnings.empty());
    CHECK(property(request({"-u", "1"}, {{"PIPEWIRE_AUTOCONNECT", "true"}}), "scsynth.autoconnect") == "true");
}

TEST_CASE("the command line counts before the environment") {
    const Variables all = {{"PIPEWIRE_LATENCY", "256/44100"},
                           {"PIPEWIRE_RATE", "1/96000"},
                           {"PIPEWIRE_AUTOCONNECT", "false"},
                           {"PIPEWIRE_PROPS", "{ node.latency = 1/1 factory.name = other object.linger = true }"}};
    const NodeRequest made = request({"-u", "1", "-Z", "512", "-S", "48000", "--set", "autoconnect=true"}, all);
    CHECK(property(made, "node.latency") == "512/48000");
    CHECK(property(made, "node.rate") == "(none)");
    CHECK(property(made, "scsynth.autoconnect") == "true");
    CHECK(property(made, "factory.name") == "audio.scsynth");
    CHECK(property(made, "object.linger") == "(none)");
    CHECK(property(request({"-u", "1"}, all), "node.latency") == "256/44100");
}

TEST_CASE("variables that can't be obeyed are named") {
    const NodeRequest made = request({"-u", "1"}, {{"PIPEWIRE_LATENCY", "256"},
                                                   {"PIPEWIRE_QUANTUM", "0/48000"},
                                                   {"PIPEWIRE_RATE", "1/2/3"},
                                                   {"PIPEWIRE_PROPS", "{ scsynth.outputs = 3 }"}});
    REQUIRE(made.warnings.size() == 4);
    CHECK(made.warnings[0] == "PIPEWIRE_PROPS: scsynth.outputs has no effect there; --set takes it");
    CHECK(made.warnings[1].starts_with("PIPEWIRE_QUANTUM=0/48000 has no effect"));
    CHECK(made.warnings[2].starts_with("PIPEWIRE_LATENCY=256 has no effect"));
    CHECK(made.warnings[3].starts_with("PIPEWIRE_RATE=1/2/3 has no effect"));
    CHECK(property(made, "node.latency") == "(none)");
    CHECK(property(made, "scsynth.outputs") == "8");
}

TEST_CASE("the ports that scsynth's variables name") {
    const auto outputs = [](const Variables& variables, const Arguments& more = {}) {
        Arguments arguments = {"-u", "1", "-o", "2"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const NodeRequest made = request(arguments, variables);
        std::string text = property(made, "scsynth.sink");
        if (made.outputs)
            for (const std::string& name : made.outputs->names)
                text += (made.outputs->is_pattern ? " ~" : " ") + name;
        CHECK_FALSE(made.inputs);
        return text;
    };
    const char* name = "SC_JACK_DEFAULT_OUTPUTS";
    CHECK(outputs({}) == "(none)");
    CHECK(outputs({{name, "system"}}) == "(none)");
    CHECK(outputs({{name, ""}}) == "none");
    CHECK(outputs({{name, "system:playback_1,system:playback_2"}}) == "(none)");
    CHECK(outputs({{name, "system:playback_1"}}) == "none system:playback_1");
    CHECK(outputs({{name, "system:playback_2,system:playback_1"}}) == "none system:playback_2 system:playback_1");
    CHECK(outputs({{name, "darkice:left,darkice:right,"}}) == "none darkice:left darkice:right");
    CHECK(outputs({{name, "a:1,b:2,c:3"}}) == "none a:1 b:2");
    CHECK(outputs({{name, "a:1"}}, {"-o", "0"}) == "none");
    CHECK(outputs({{name, "Headphones"}}) == "Headphones");
    CHECK(outputs({{name, "REAPER"}}) == "none ~REAPER");
    CHECK(outputs({{name, "REAPER"}}, {"-H", "Headphones"}) == "Headphones");
    CHECK(outputs({{name, "REAPER"}}, {"-H", "show"}) == "none ~REAPER");
    const NodeRequest in = request({"-u", "1", "-i", "1"}, {{"SC_JACK_DEFAULT_INPUTS", "a:out_1"}});
    CHECK(property(in, "scsynth.source") == "none");
    CHECK(in.inputs->names == std::vector<std::string>{"a:out_1"});
    CHECK_FALSE(in.outputs);
}

TEST_CASE("an instrument needs no port") {
    const CommandLine line = parse({"--bind", "keys", "--bind", "bass channel 1"}).value();
    CHECK(setting(line, "scsynth.bindings") == "keys;bass channel 1");
    CHECK(line.port == 0);
    CHECK(setting(line, "scsynth.osc.tcp") == "false");
    CHECK(parse({"-u", "57999", "--bind", "keys"}).value().port == 57999);
    CHECK(error_of({"--bind"}) == "--bind: expected SynthDefs after it");
    CHECK(error_of({"--bind", "keys voices 0"}) ==
          "scsynth.bindings = \"keys voices 0\": keys: voices is to be 1 to 128");
}
