// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/bindings.hpp"
#include "engine/tree/controls.hpp"
#include "osc/binding-options.hpp"
#include "osc/packet-binding.hpp"
#include "osc/test-command-bench.hpp"

#include <cmath>
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
    CHECK(bench("/bind_keys", 1, "default", "channel", 5) == "");
    CHECK(bench("/bind_keys", 1, "default", 1, 0, "voices", 8, "mode", "legato", "set", "pan", 0.5f) == "");
    CHECK(bench("/bind_keys", 2, "default", 0, 0, "mpe", "lower", "bend", "bend", "gate", "") == "");
    CHECK(bench("/bind_controller", 3, 7, "c5", "low", 0.f, "high", 10.f) == "");
    CHECK(bench("/bind_controller", 4, "bend", 1000, "freq", "low", 20, "high", 20000, "curve", "exponential") == "");
    CHECK(bench("/bind_controller", 5, "nrpn16382", "c5") == "");
    CHECK(bench("/bind_controller", 5, "fine31", "c5") == "");
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
    CHECK(bench("/bind_keys", 1, "x", 1, "channel", 5) == failure("/bind_keys", "the add action's target is missing"));
    CHECK(bench("/bind_keys", 1, "x", "chanel", 5) == failure("/bind_keys", "chanel is no option here"));
    CHECK(bench("/bind_keys", 1, "x", "channel", 77) == failure("/bind_keys", "channel is to be -1 to 15"));
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
    CHECK(
        bench("/bind_controller", 1, "knob", "c5") ==
        failure("/bind_controller",
                "a controller is a number, bend, pressure, program, or as in fine7, rpn2, nrpn300, axis0, button304"));
    for (const char* const word : {"fine", "fine32", "fine-1", "rpn", "nrpn16383", "rpn1x"})
        CHECK(bench("/bind_controller", 1, word, "c5") ==
              failure("/bind_controller",
                      "controllers of 14 bits are fine0 to fine31, rpn0 to rpn16382 and nrpn0 to nrpn16382"));
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
    bench.process(std::span(&start, 1), {}, std::span(&transport, 1));
    CHECK(bench("/c_getn", 10, 4, 20, 4) == "[ \"/c_setn\", 10, 4, 1, 2, 1, 2, 20, 4, 0, 0, 1, 0 ]\n");
    CHECK(bench("/bind_free", 1, 2) == "");
    CHECK(bench.engine().bindings().count() == 0);
}

TEST_CASE("a beat binding's mistakes are named, and nothing changes") {
    CommandBench bench;
    const auto beat = [&](auto... args) { return bench("/bind_beat", 1, args...); };
    const auto failed = [](const char* text) { return failure("/bind_beat", text); };
    const char *source = "the source is to be transport, midi or link", *bus = "a control bus is named as in c5";
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
    bench.process({}, {}, std::span(&transport, 1));
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
    bench.process(events);
    CHECK(bench("/bind_free", 9) == "[ \"/midi\", 9, \"noteOn\", 1, 3, 60, 0.5, 7 ]\n"
                                    "[ \"/midi\", 9, \"bend\", 0, 3, 0, -1, 7.0005 ]\n");
}

TEST_CASE("what moved last is told, with or without bindings") {
    CommandBench bench;
    CHECK(bench("/bind_moved") == failure("/bind_moved", "nothing has moved yet"));
    using Kind = ControlEvent::Kind;
    const ControlEvent events[] = {
        {Kind::controller, 0, 0, 7, 0, 1}, {Kind::controller, 2, 3, 74, 0, 0.25f}, {Kind::note_on, 0, 0, 60, 0, 1}};
    bench.process(events);
    const std::string expected = "[ \"/bind_moved.reply\", \"control\", 2, 3, 74, 0.25 ]\n";
    CHECK(bench("/bind_moved") == expected);
    CHECK(bench("/bind_moved") == expected);
}

TEST_CASE("a bound command gets the values of its source") {
    CommandBench bench;
    const auto tell = [&](int32_t node, int32_t id, std::string_view path, std::vector<float> values) {
        bench.engine().bindings().hear({node, id, path, values, 0});
        return bench.render() + bench.render();
    };
    CHECK(bench("/bind_command", 1, "trigger", "id", 3, "/c_set", 1, "$1", "$node", 5.f) == "");
    CHECK(bench("/bind_command", 2, "reply", "path", "/note", "/c_setn", 10, 3, "$2", "$64", "$1") == "");
    CHECK(bench("/bind_command", 3, "trigger", "node", 7, "/c_set", 2, 9.f) == "");
    CHECK(tell(8, 3, "", {0.5f}) == "");
    CHECK(bench("/c_get", 1, 8, 2) == "[ \"/c_set\", 1, 0.5, 8, 5, 2, 0 ]\n");
    CHECK(tell(7, 4, "", {0.25f}) == ""); // another ID, but that node
    CHECK(bench("/c_get", 1, 2) == "[ \"/c_set\", 1, 0.5, 2, 9 ]\n");
    CHECK(tell(1, -1, "/note", {1.f, 2.f}) == "");
    CHECK(bench("/c_getn", 10, 3) == "[ \"/c_setn\", 10, 3, 2, 0, 1 ]\n");
    CHECK(tell(1, -1, "/nope", {8.f, 8.f}) == "");
    CHECK(bench("/c_getn", 10, 3) == "[ \"/c_setn\", 10, 3, 2, 0, 1 ]\n");
    CHECK(bench("/bind_free", 1, 2, 3) == "");
    CHECK(tell(8, 3, "", {0.75f}) == "");
    CHECK(bench("/c_get", 1) == "[ \"/c_set\", 1, 0.5 ]\n");
}

TEST_CASE("a bound command gets what keys and controllers say") {
    CommandBench bench;
    CHECK(bench("/bind_command", 1, "noteOn", "channel", 2, "/c_set", 1, "$1", 2, "$2") == "");
    CHECK(bench("/bind_command", 2, "control", "number", 74, "/c_set", 3, "$1") == "");
    CHECK(bench("/bind_command", 3, "songPosition", "/c_set", 4, "$1") == "");
    using Kind = ControlEvent::Kind;
    const ControlEvent events[] = {{Kind::note_on, 0, 2, 60, 0, 0.5f},     {Kind::note_on, 0, 1, 61, 0, 1},
                                   {Kind::note_off, 0, 2, 62, 0, 1},       {Kind::controller, 0, 0, 74, 0, 0.25f},
                                   {Kind::controller, 0, 0, 75, 0, 0.75f}, {Kind::song_position, 0, 0, 0, 0, 16}};
    bench.process(events);
    CHECK(bench("/c_get", 1, 2, 3, 4) == "[ \"/c_set\", 1, 0.5, 2, 60, 3, 0.25, 4, 16 ]\n");
}

TEST_CASE("buttons and axes of devices, and the pointer's, are sources") {
    CommandBench bench;
    CHECK(bench("/hid", 3, "axis", 1, 0.5f) == ""); // nothing is bound yet
    CHECK(bench("/bind_moved") == "[ \"/bind_moved.reply\", \"axis\", 3, 0, 1, 0.5 ]\n");
    CHECK(bench("/bind_command", 1, "button", "/c_set", 1, "$1", 2, "$2", 3, "$3", 4, "$4") == "");
    CHECK(bench("/bind_command", 2, "axis", "device", 2, "number", 767, "/c_set", 5, "$1") == "");
    CHECK(bench("/bind_controller", 3, "axis1", "c6", "low", 10, "high", 20) == "");
    CHECK(bench("/bind_controller", 4, "button304", "c7", "device", 2, "high", 8) == "");
    const auto buses = [&] {
        bench.process();
        return bench("/c_getn", 1, 7);
    };
    CHECK(bench("/pointer", 0, 0, 1) == "");
    CHECK(bench("/c_getn", 1, 7) == "[ \"/c_setn\", 1, 7, 0, 0, 0, 0, 0, 0, 0 ]\n"); // the block hasn't come
    CHECK(buses() == "[ \"/c_setn\", 1, 7, 1, 272, 0, 0, 0, 0, 0 ]\n");
    CHECK(bench("/c_set", 1, 9) == "");
    CHECK(bench("/pointer", 0.5f, 0, 1) == ""); // is still down
    CHECK(buses() == "[ \"/c_setn\", 1, 7, 9, 272, 0, 0, 0, 0, 0 ]\n");
    CHECK(bench("/pointer", 0.5f, 0, 0) == "");
    CHECK(buses() == "[ \"/c_setn\", 1, 7, 0, 272, 0, 0, 0, 0, 0 ]\n");
    CHECK(bench("/hid", 2, "axis", 767, 0.25f) == "");
    CHECK(bench("/hid", 1, "axis", 767, 0.75f) == "");
    CHECK(bench("/hid", 1, "axis", 1, 0.5f) == "");
    CHECK(bench("/hid", 2, "button", 304, 1) == "");
    CHECK(buses() == "[ \"/c_setn\", 1, 7, 1, 304, 2, 0, 0.25, 15, 8 ]\n");
    CHECK(bench("/hid", 1, "button", 304, 0) == "");
    CHECK(bench("/hid", 2, "axis", 766, 1) == "");
    CHECK(buses() == "[ \"/c_setn\", 1, 7, 0, 304, 1, 0, 0.25, 15, 8 ]\n");
}

TEST_CASE("what a client tells of devices comes in its order, before what ports bring in that block") {
    CommandBench bench;
    CHECK(bench("/bind_controller", 2, 7, "c1") == "");
    CHECK(bench("/bind_controller", 3, "axis0", "c1") == "");
    CHECK(bench("/hid", 1, "axis", 0, 0.25f) == "");
    CHECK(bench("/hid", 1, "axis", 0, 0.5f) == "");
    const ControlEvent event{ControlEvent::Kind::controller, 0, 0, 7, 0, 1};
    bench.process(std::span(&event, 1));
    CHECK(bench("/c_get", 1) == "[ \"/c_set\", 1, 1 ]\n");
    CHECK(bench("/hid", 1, "axis", 0, 0.25f) == "");
    CHECK(bench("/hid", 1, "axis", 0, 0.5f) == "");
    bench.process();
    CHECK(bench("/c_get", 1) == "[ \"/c_set\", 1, 0.5 ]\n");
    for (size_t i = 0; i < Bindings::most_told + 3; ++i)
        CHECK(bench("/hid", 1, "axis", 0, i == Bindings::most_told ? 1.f : 0.75f) == "");
    bench.process();
    bench.process();
    CHECK(bench("/c_get", 1) == "[ \"/c_set\", 1, 0.75 ]\n");
    CHECK(bench.engine().status().refused_control == 3);
}

TEST_CASE("what a device can't be is a failure") {
    CommandBench bench;
    for (const int device : {-1, 128, 2147483647})
        CHECK(bench("/hid", device, "axis", 0, 0) == failure("/hid", "a device is 0 to 127"));
    CHECK(bench("/hid", "pad", "axis", 0, 0) == failure("/hid", "a device is 0 to 127"));
    CHECK(bench("/hid", 0, "control", 0, 0) == failure("/hid", "a kind is axis or button"));
    CHECK(bench("/hid", 0, 1, 0, 0) == failure("/hid", "wrong argument type"));
    for (const int code : {-1, 768, 2147483647})
        CHECK(bench("/hid", 0, "axis", code, 0) == failure("/hid", "a code is 0 to 767"));
    for (const float value : {-0.001f, 1.001f, NAN, INFINITY})
        CHECK(bench("/hid", 0, "axis", 0, value) == failure("/hid", "an axis' value is to be 0 to 1"));
    for (const float value : {-1.f, 0.5f, 2.f, NAN})
        CHECK(bench("/hid", 0, "button", 0, value) == failure("/hid", "a button's value is to be 0 or 1"));
    CHECK(bench("/hid", 0, "button", 0) == failure("/hid", "wrong argument type"));
    CHECK(bench("/bind_moved") == failure("/bind_moved", "nothing has moved yet"));
    for (const char* const word : {"axis", "axis768", "button-1", "button1x"})
        CHECK(bench("/bind_controller", 1, word, "c5") ==
              failure("/bind_controller", "axes and buttons are axis0 to axis767 and button0 to button767"));
    CHECK(bench("/bind_controller", 1, "axis0", "c5", "port", 1) ==
          failure("/bind_controller", "port is no option here"));
    CHECK(bench("/bind_controller", 1, 7, "c5", "device", 1) ==
          failure("/bind_controller", "device is no option here"));
    CHECK(bench("/bind_controller", 1, "axis0", "c5", "device", 128) ==
          failure("/bind_controller", "device is to be -1 to 127"));
}

TEST_CASE("who binds the pointer's button asks for the pointer") {
    const std::string asks = "the mouse is known while";
    const auto printed = [](const char* command, auto... args) {
        CommandBench bench;
        CHECK(bench(command, 1, args...) == "");
        const std::string text = bench.printed();
        return text + bench.render();
    };
    CHECK(printed("/bind_command", "button", "/c_set", 1, "$1").starts_with(asks));
    CHECK(printed("/bind_command", "button", "device", 0, "number", 272, "/c_set", 1, "$1").starts_with(asks));
    CHECK(printed("/bind_controller", "button272", "c1").starts_with(asks));
    CHECK(printed("/bind_command", "button", "device", 1, "/c_set", 1, "$1") == "");
    CHECK(printed("/bind_command", "button", "number", 304, "/c_set", 1, "$1") == "");
    CHECK(printed("/bind_controller", "button304", "c1") == "");
    CHECK(printed("/bind_controller", "axis0", "c1") == "");
}

TEST_CASE("a bound command is carried out at each multiple of a division") {
    CommandBench bench;
    CHECK(bench("/bind_command", 1, "beat", "division", 1 / 3.f, "offset", 0.25f, "/c_set", 1, "$1", 2, "$2", 3, "$3",
                4, "$4") == "");
    CHECK(bench("/bind_command", 2, "beat", "of", "midi", "port", 2, "beats-per-bar", 3, "division", 4, "/c_set", 5,
                1) == "");
    const Transport before{0, true, 1e5 + 0.25 - 1e-4, 2, 2 / 48000.0, 4};
    bench.process({}, {}, std::span(&before, 1)); // 2.67e-3 beats
    CHECK(bench("/c_getn", 1, 5) == "[ \"/c_setn\", 1, 5, 100000, 25000, 0.25, 2, 0 ]\n");
    const ControlEvent start[] = {{ControlEvent::Kind::start, 2, 0, 0, 0, 0},
                                  {ControlEvent::Kind::clock, 2, 0, 0, 9, 0}};
    bench.process(start);
    CHECK(bench("/c_get", 5) == "[ \"/c_set\", 5, 1 ]\n");
    CHECK(bench("/bind_command", 1, "beat", "division", 1 / 64.f, "/c_set", 6, "$1") == "");
    CHECK(bench("/bind_command", 1, "beat", "division", 64, "/c_set", 6, "$1") == "");
    CHECK(bench("/bind_free", 1, 2) == "");
    CHECK_FALSE(bench.engine().bindings().act_in_each_block());
}

TEST_CASE("the first of a bound command's failures is logged") {
    CommandBench bench;
    CHECK(bench("/bind_command", 4, "trigger", "/n_set", "$1", "freq", 440) == "");
    std::string printed;
    for (const float node : {5000.f, 5000.f, 0.f, 5001.f}) {
        const float values[] = {node};
        bench.engine().bindings().hear({1, 1, {}, values, 0});
        printed += bench.render() + bench.render();
    }
    CHECK(printed == "binding 4: /n_set: Node 5000 not found\nbinding 4: /n_set: Node 5001 not found\n");
    CHECK(bench("/bind_command", 4, "trigger", "/s_new", "none", "$node") == "");
    bench.engine().bindings().hear({1, 1, {}, {}, 0});
    CHECK(bench.render() + bench.render() ==
          "*** ERROR: SynthDef none not found\nbinding 4: /s_new: SynthDef not found\n");
}

TEST_CASE("mistakes in what is bound to a command are named") {
    CommandBench bench;
    const auto bind = [&](auto... arguments) {
        const std::string answer = bench("/bind_command", 1, arguments...);
        return answer.substr(0, answer.rfind('"')).substr(std::string("[ \"/fail\", \"/bind_command\", \"").size());
    };
    const std::string sources =
        "a source is trigger, reply, noteOn, noteOff, polytouch, control, program, touch, bend, rpn, nrpn, noteBend, "
        "noteControl, midiClock, start, continue, stop, songPosition, axis, button or beat";
    CHECK(bind("keys") == sources);
    CHECK(bind(3) == sources);
    CHECK(bind("packet") == sources);
    CHECK(bind("trigger") == "a command is missing");
    CHECK(bind("trigger", "id", 3) == "a command is missing");
    CHECK(bind("trigger", "path", "/x") == "path is no option here");
    CHECK(bind("trigger", "id", "/c_set", "/c_set") == "id is to be -1 to 2147483647");
    CHECK(bind("reply", "/c_set", 1, 2) == "a reply's path is missing");
    CHECK(bind("noteOn", "id", 3, "/c_set") == "id is no option here");
    CHECK(bind("bend", "number", 3, "/c_set") == "number is no option here");
    CHECK(bind("midiClock", "channel", 3, "/c_set") == "channel is no option here");
    CHECK(bind("button", "port", 3, "/c_set") == "port is no option here");
    CHECK(bind("axis", "number", 768, "/c_set") == "number is to be -1 to 767");
    for (const float division : {0.f, -1.f, 1 / 65.f, 64.5f})
        CHECK(bind("beat", "division", division, "/c_set") == "division is to be 0.015625 to 64");
    CHECK(bind("beat", "division", "x", "/c_set") == "division is to be 0.015625 to 64");
    CHECK(bind("beat", "offset", 65, "/c_set") == "offset is to be -64 to 64");
    CHECK(bind("beat", "of", "sun", "/c_set") == "of is to be one of: transport, midi, link");
    CHECK(bind("beat", "port", 1, "/c_set") == "port is no option here");
    CHECK(bind("beat", "id", 1, "/c_set") == "id is no option here");
    CHECK(bind("beat") == "a command is missing");
    CHECK(bind("trigger", "/n_set", 1, std::string(70000, 'x')) == "the command is too long");
    CHECK(bind("noteOn", "number", 128, "/c_set") == "number is to be -1 to 127");
    CHECK(bind("trigger", "/b_alloc", 1, 64) == "/b_alloc can't be bound");
    CHECK(bind("trigger", "/bind_command", 1, "trigger", "/c_set") == "/bind_command can't be bound");
    CHECK(bind("trigger", "/nothing") == "/nothing can't be bound");
    CHECK(bind("trigger", "/s_new", 3) == "/s_new: wrong argument type");
    CHECK(bind("trigger", "/s_new", "$1") == "/s_new: wrong argument type");
    for (const char* const word : {"$0", "$65", "$", "$x", "$1x", "$-1"})
        CHECK(bind("trigger", "/c_set", 1, word) == std::string(word) + " is no value: there are $node, and $1 to $64");
    std::vector<scs::osc::ReplyArg> many{1, std::string_view("trigger"), std::string_view("/c_set")};
    many.resize(1024 + 2 + 1, 0);
    CHECK(bench.run(CommandBench::message("/bind_command", many)) ==
          failure("/bind_command", "the command is too long"));
    CHECK(bench.engine().bindings().count() == 0);
}

TEST_CASE("a bound command that has no time for all is finished before anything else") {
    struct Clock {
        int64_t now = 0, each_look = 0;
    } clock; // the bench looks at it to the end
    CommandBench bench;
    bench.engine().set_clock({[](void* self) {
                                  auto& c = *static_cast<Clock*>(self);
                                  return c.now += c.each_look;
                              },
                              &clock});
    constexpr int synths = 4000;
    const auto def = scs::osc::test::definition("def", 2);
    CHECK(bench.run(CommandBench::message("/d_recv", {std::span<const std::byte>(def)})) ==
          "[ \"/done\", \"/d_recv\" ]\n");
    for (int i = 0; i < synths; ++i)
        CHECK(bench("/s_new", "def", 1000 + i, 1, 0) == "");
    const auto set = [&] { // those that have the new value
        int count = 0;
        for (int i = 0; i < synths; ++i)
            if (const Synth* const synth = bench.engine().tree().find_synth(1000 + i))
                count += control(*synth, 0) == 99.f;
        return count;
    };
    const auto cycle = [&](std::span<const ControlEvent> events = {}) {
        bench.process(events, {clock.now + 1'000'000, true});
    };
    ControlEvent event;
    const auto packet = CommandBench::message("/n_set", {0, std::string_view("c0"), 99.f});
    bool frees = false;
    SUBCASE("of a key, and what it is at is freed") {
        CHECK(bench("/bind_command", 1, "noteOn", "/n_set", 0, "c0", 99.f) == "");
        frees = true;
    }
    SUBCASE("of a key") {
        CHECK(bench("/bind_command", 1, "noteOn", "/n_set", 0, "c0", 99.f) == "");
    }
    SUBCASE("of OSC") {
        std::unique_ptr<Binding> made = std::make_unique<scs::osc::PacketBinding>(bench.services());
        REQUIRE(bench.engine().bindings().put(made));
        event.kind = ControlEvent::Kind::packet;
        event.packet = packet;
    }
    clock.each_look = 100'000;
    cycle({&event, 1});
    const int first = set();
    CHECK(first > 0);
    CHECK(first < synths);
    // The stream begins anew, and a client reaches what the command is at.
    bench.engine().reset_carry();
    const auto other_value = CommandBench::message("/n_set", {0, std::string_view("c0"), 98.f});
    bench.leave(frees ? CommandBench::message("/g_freeAll", {0}) : other_value);
    clock.each_look = 0;
    cycle();
    cycle();
    CHECK(bench.engine().tree().counts().synths() == (frees ? 0 : synths));
    CHECK(set() == 0);
    ControlEvent other;
    other.kind = ControlEvent::Kind::note_off;
    cycle({&other, 1});
    CHECK(bench.engine().status().refused_control == 0);
}

TEST_CASE("commands of OSC at a control port are carried out, in their order, or refused") {
    CommandBench bench;
    std::unique_ptr<Binding> made = std::make_unique<scs::osc::PacketBinding>(bench.services());
    REQUIRE(bench.engine().bindings().put(made));
    CHECK(bench("/bind_midi", 6) == "");
    CHECK(bench("/notify", 1).find("/done") != std::string::npos);
    const auto send = [&](const std::vector<std::vector<std::byte>>& packets) {
        std::vector<ControlEvent> events(packets.size());
        for (size_t i = 0; i < packets.size(); ++i) {
            events[i].kind = ControlEvent::Kind::packet;
            events[i].packet = packets[i];
        }
        const uint64_t before = bench.engine().status().refused_control;
        bench.process(events);
        bench.process();
        return bench.engine().status().refused_control - before;
    };
    const auto m = CommandBench::message;
    CHECK(send({m("/c_set", {1, 0.5f}), m("/c_set", {1, 2.f, 2, 3.f})}) == 0);
    CHECK(bench("/c_get", 1, 2) == "[ \"/c_set\", 1, 2, 2, 3 ]\n"); // and nothing told as MIDI
    CHECK(send({m("/g_new", {7, 0, 0}), m("/n_set", {7, "x", 1.f})}) == 0);
    CHECK(bench.engine().tree().find(7) != nullptr);
    CHECK(bench("/notify", 0).find("/n_go") != std::string::npos);
    CHECK(send({m("/b_alloc", {1, 64}), m("/s_new", {3}), m("/nothing", {}), m("/status", {})}) == 4);
    // A bundle, whose time has no effect.
    std::vector<std::byte> bundle(16);
    std::memcpy(bundle.data(), "#bundle", 8);
    bundle[8] = std::byte{0xff};
    std::vector<size_t> whole = {16}; // bytes after which a bundle may end; nothing in the first two is refused
    for (const auto& each : {m("/c_set", {3, 4.f}), m("/quit", {}), m("/c_set", {4, 5.f})}) {
        for (int shift = 24; shift >= 0; shift -= 8)
            bundle.push_back(std::byte(each.size() >> shift & 0xff));
        bundle.insert(bundle.end(), each.begin(), each.end());
        whole.push_back(bundle.size());
    }
    CHECK(send({bundle}) == 1);
    CHECK(bench("/c_get", 3, 4) == "[ \"/c_set\", 3, 4, 4, 5 ]\n");
    for (size_t size = 0; size < bundle.size(); size += 4)
        CHECK(send({{bundle.begin(), bundle.begin() + ptrdiff_t(size)}}) ==
              (size == whole[0] || size == whole[1] ? 0 : 1));
    CHECK(send({std::vector<std::byte>(65536)}) == 1); // no command
    CHECK(send({std::vector<std::byte>(65540)}) == 1); // no room
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
    CHECK(found.value()[0].keys.synthdef == "default");
    const KeySettings& bass = found.value()[1].keys;
    CHECK(bass.synthdef == "bass");
    CHECK(bass.source.channel == 1);
    CHECK(bass.mode == KeySettings::Mode::legato);
    CHECK(bass.bend_range == 12.f);
    CHECK(bass.values == std::vector<std::pair<std::string, float>>{{"cutoff", 0.5f}, {"pan", -1.f}});
    CHECK(found.value()[0].words == std::vector<BindingWord>{"/bind_keys", "default"});
    CHECK(found.value()[1].words == std::vector<BindingWord>{"/bind_keys", "bass", "channel", 1, "mode", "legato",
                                                             "set", "cutoff", 0.5f, "set", "pan", -1, "bend-range",
                                                             12});
    CHECK(parse_bindings("bass set cutoff 5000000000").value()[0].keys.values[0].second == 5e9f);
    CHECK(parse_bindings("bass freq inf").value()[0].keys.freq == "inf");
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
