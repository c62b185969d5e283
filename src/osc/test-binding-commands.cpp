// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/bindings.hpp"
#include "osc/binding-options.hpp"
#include "osc/test-command-bench.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace scs;
using scs::osc::parse_bindings;
using namespace scs::osc::test;

namespace {

std::string failure(const std::string& command, const std::string& text) {
    return "[ \"/fail\", \"" + command + "\", \"" + text + "\" ]\n";
}

} // namespace

TEST_CASE("bindings are made, replaced and freed") {
    CommandBench bench;
    CHECK(bench("/bind_keys", 1, "default") == "");
    CHECK(bench("/bind_keys", 1, "default", 1, 0, "voices", 8, "mode", "legato", "set", "pan", 0.5f) == "");
    CHECK(bench("/bind_keys", 2, "default", 0, 0, "mpe", "lower", "bend", "bend", "gate", "") == "");
    CHECK(bench("/bind_controller", 3, 7, "c5", "low", 0.f, "high", 10.f) == "");
    CHECK(bench("/bind_controller", 4, "bend", 1000, "freq", "low", 20, "high", 20000, "curve", "exponential") == "");
    CHECK(bench("/bind_controller", 5, -1, 1000, 2) == "");
    CHECK(bench.engine().bindings().count() == 5);
    CHECK(bench("/bind_free", 1, 3) == "");
    CHECK(bench.engine().bindings().count() == 3);
    CHECK(bench("/bind_free", 2, 1, 4) == failure("/bind_free", "there is no such binding"));
    CHECK(bench.engine().bindings().count() == 2);
}

TEST_CASE("a binding's mistakes are named, and nothing is bound") {
    CommandBench bench;
    const auto keys = [&](auto... options) { return bench("/bind_keys", 1, "default", 0, 0, options...); };
    CHECK(bench("/bind_keys", 1) == failure("/bind_keys", "a SynthDef's name is missing"));
    CHECK(bench("/bind_keys", 1, "") == failure("/bind_keys", "a SynthDef's name is missing"));
    CHECK(bench("/bind_keys", 1, std::string(600, 'x')) == failure("/bind_keys", "the SynthDef's name is too long"));
    CHECK(bench("/bind_keys", 1, "x", 4, 0) == failure("/bind_keys", "the add action is to be 0 to 3"));
    CHECK(keys("wrong", 1) == failure("/bind_keys", "wrong is no option here"));
    CHECK(keys("voices") == failure("/bind_keys", "voices has no value"));
    CHECK(keys("voices", 129) == failure("/bind_keys", "voices is to be 1 to 128"));
    CHECK(keys("voices", "many") == failure("/bind_keys", "voices is to be 1 to 128"));
    for (const int count : {-1, 2147483647})
        CHECK(keys("voices", count) == failure("/bind_keys", "voices is to be 1 to 128"));
    CHECK(keys("channel", 16) == failure("/bind_keys", "channel is to be -1 to 15"));
    CHECK(keys("mode", "duo") == failure("/bind_keys", "mode is to be one of: poly, mono, legato"));
    CHECK(keys("voices", 1e20) == failure("/bind_keys", "voices is to be 1 to 128"));
    CHECK(keys("freq", 3) == failure("/bind_keys", "freq is to be a name"));
    CHECK(keys("freq", std::string(256, 'x')) == failure("/bind_keys", "freq is too long"));
    CHECK(keys("bend-range", "wide") == failure("/bind_keys", "bend-range is to be a number"));
    CHECK(keys(1, 2) == failure("/bind_keys", "a name of an option is missing"));
    CHECK(keys("set", "pan") == failure("/bind_keys", "set is to be a number"));
    std::vector<scs::osc::ReplyArg> many{1, std::string_view("default"), 0, 0};
    for (int i = 0; i < 65; ++i)
        many.insert(many.end(), {std::string_view("set"), std::string_view("pan"), 0.5f});
    CHECK(bench.run(CommandBench::message("/bind_keys", many)) == failure("/bind_keys", "set is there too often"));
    CHECK(bench("/bind_controller", 1, 128, "c5") == failure("/bind_controller", "a controller is -1 to 127"));
    CHECK(bench("/bind_controller", 1, "knob", "c5") ==
          failure("/bind_controller", "a controller is a number, bend, pressure or program"));
    CHECK(bench("/bind_controller", 1, 7, "a5") == failure("/bind_controller", "a control bus is named as in c5"));
    CHECK(bench("/bind_controller", 1, 7, "c5", "low", 0, "curve", "exponential") ==
          failure("/bind_controller", "an exponential range has no 0 in it"));
    CHECK(bench.engine().bindings().count() == 0);
}

TEST_CASE("beats of the transport and of MIDI clock are bound to four control buses") {
    CommandBench bench;
    CHECK(bench("/bind_beat", 1, "transport", "c10") == "");
    CHECK(bench("/bind_beat", 2, "midi", "c20", "port", 1, "beats-per-bar", 3) == "");
    CHECK(bench.engine().bindings().count() == 2);
    const Transport transport{0, true, 9, 2, 2 / 48000.0, 4};
    const ControlEvent start{ControlEvent::Kind::start, 1, 0, 0, 0, 0};
    const float* in[] = {nullptr, nullptr};
    float* out[] = {nullptr, nullptr};
    bench.engine().process(64, NtpTime(7) << 32, 48000, in, out, {}, std::span(&start, 1), &transport);
    CHECK(bench("/c_getn", 10, 4, 20, 4) == "[ \"/c_setn\", 10, 4, 1, 2, 1, 2, 20, 4, 0, 0, 1, 0 ]\n");
    CHECK(bench("/bind_free", 1, 2) == "");
    CHECK(bench.engine().bindings().count() == 0);
}

TEST_CASE("a beat binding's mistakes are named, and nothing changes") {
    CommandBench bench;
    const auto beat = [&](auto... args) { return bench("/bind_beat", 1, args...); };
    const auto failed = [](const char* text) { return failure("/bind_beat", text); };
    const char *source = "the source is to be transport or midi", *bus = "a control bus is named as in c5";
    const char* range = "there are no four control buses from that one on";
    CHECK(beat("transport", "c10") == "");
    CHECK(beat() == failed(source));
    CHECK(beat(1, "c10") == failed(source));
    CHECK(beat("sun", "c10") == failed(source));
    CHECK(beat("midi") == failed(bus));
    CHECK(beat("midi", 10) == failed(bus));
    CHECK(beat("midi", "a10") == failed(bus));
    CHECK(beat("midi", "c-1") == failed(bus));
    const int count = bench.engine().settings().control_buses;
    CHECK(beat("midi", "c" + std::to_string(count - 3)) == failed(range));
    CHECK(beat("midi", "c2147483647") == failed(range));
    CHECK(beat("midi", "c10", "port") == failed("port has no value"));
    CHECK(beat("midi", "c10", "port", 128) == failed("port is to be -1 to 127"));
    CHECK(beat("midi", "c10", "channel", 0) == failed("channel is no option here"));
    CHECK(beat("midi", "c10", "beats-per-bar", 0) == failed("beats-per-bar is to be 1 to 64"));
    CHECK(beat("transport", "c10", "beats-per-bar", 3) == failed("beats-per-bar is no option here"));
    CHECK(beat("transport", "c10", "port", 0) == failed("port is no option here"));
    CHECK(bench.engine().bindings().count() == 1);
    const Transport transport{0, true, 9, 2, 2 / 48000.0, 4};
    const float* in[] = {nullptr, nullptr};
    float* out[] = {nullptr, nullptr};
    bench.engine().process(64, NtpTime(7) << 32, 48000, in, out, {}, {}, &transport);
    CHECK(bench("/c_get", 13) == "[ \"/c_set\", 13, 2 ]\n");
    CHECK(beat("midi", "c" + std::to_string(count - 4)) == "");
}

TEST_CASE("what comes is told to clients, as MIDIFunc calls it, with its time") {
    CommandBench bench;
    CHECK(bench("/notify", 1).find("/done") != std::string::npos);
    CHECK(bench("/bind_midi", 9, "voices", 1) == failure("/bind_midi", "voices is no option here"));
    CHECK(bench("/bind_midi", 9, "channel", 3) == "");
    using Kind = ControlEvent::Kind;
    const ControlEvent events[] = {{Kind::note_on, 1, 3, 60, 0, 0.5f},
                                   {Kind::note_on, 0, 2, 61, 0, 1},
                                   {Kind::bend, 0, 3, 0, 24, -1},
                                   {Kind::clock, 0, 3, 0, 24, 0}};
    const float* in[] = {nullptr, nullptr};
    float* out[] = {nullptr, nullptr};
    bench.engine().process(64, NtpTime(7) << 32, 48000, in, out, {}, events);
    CHECK(bench("/bind_free", 9) == "[ \"/midi\", 9, \"noteOn\", 1, 3, 60, 0.5, 7 ]\n"
                                    "[ \"/midi\", 9, \"bend\", 0, 3, 0, -1, 7.0005 ]\n");
}

TEST_CASE("what moved last is told, with or without bindings") {
    CommandBench bench;
    CHECK(bench("/bind_moved") == failure("/bind_moved", "nothing has moved yet"));
    using Kind = ControlEvent::Kind;
    const ControlEvent events[] = {
        {Kind::controller, 0, 0, 7, 0, 1}, {Kind::controller, 2, 3, 74, 0, 0.25f}, {Kind::note_on, 0, 0, 60, 0, 1}};
    const float* in[] = {nullptr, nullptr};
    float* out[] = {nullptr, nullptr};
    bench.engine().process(64, NtpTime(7) << 32, 48000, in, out, {}, events);
    const std::string expected = "[ \"/bind_moved.reply\", \"control\", 2, 3, 74, 0.25 ]\n";
    CHECK(bench("/bind_moved") == expected);
    CHECK(bench("/bind_moved") == expected);
}

TEST_CASE("there are 256 bindings at most") {
    CommandBench bench;
    for (int i = 0; i < 256; ++i)
        CHECK(bench("/bind_controller", i, 7, "c5") == "");
    CHECK(bench("/bind_controller", 256, 7, "c5") == failure("/bind_controller", "there are too many bindings"));
    CHECK(bench("/bind_controller", 255, 8, "c5") == "");
}

TEST_CASE("the setting names SynthDefs and their options") {
    const auto found =
        parse_bindings(" default ;bass channel 1 mode legato set cutoff 0.5 set pan -1 bend-range 12;; ");
    REQUIRE(found);
    REQUIRE(found.value().size() == 2);
    CHECK(found.value()[0].synthdef == "default");
    const KeySettings& bass = found.value()[1];
    CHECK(bass.synthdef == "bass");
    CHECK(bass.source.channel == 1);
    CHECK(bass.mode == KeySettings::Mode::legato);
    CHECK(bass.bend_range == 12.f);
    CHECK(bass.values == std::vector<std::pair<std::string, float>>{{"cutoff", 0.5f}, {"pan", -1.f}});
    CHECK(parse_bindings("bass set cutoff 5000000000").value()[0].values[0].second == 5e9f);
    CHECK(parse_bindings("bass freq inf").value()[0].freq == "inf");
    CHECK(parse_bindings("bass lowest 99999999999").error() == "bass: lowest is to be 0 to 127");
    CHECK(parse_bindings("bass set cutoff 1e99").error() == "bass: set is to be a number");
    CHECK(parse_bindings("").value().empty());
    CHECK(parse_bindings("default; bass channel").error() == "bass: channel has no value");
    std::string many;
    for (size_t i = 0; i <= Bindings::most; ++i)
        many += "bass;";
    CHECK(parse_bindings(many).error() == "there are too many");
    CHECK(parse_bindings("bass wrong 1").error() == "bass: wrong is no option here");
    CHECK(parse_bindings("bass voices many").error() == "bass: voices is to be 1 to 128");
}
