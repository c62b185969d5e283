// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/control-outputs.hpp"
#include "osc/test-command-bench.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace scs;
using namespace scs::osc::test;
using Kind = ControlEvent::Kind;

namespace {

struct MidiBench : CommandBench {
    MidiBench() {
        settings().control_outputs = 2;
        engine().control_outputs().set_linked(3);
    }
    template <class... Args>
    std::string midi_send(Args... args) {
        return (*this)("/midi_send", args...);
    }
    std::vector<OutgoingEvent> sent() {
        process();
        std::vector<OutgoingEvent> found;
        engine().control_outputs().take([&](const OutgoingEvent& each) { found.push_back(each); });
        return found;
    }
};

std::string failure(const std::string& text) {
    return "[ \"/fail\", \"/midi_send\", \"" + text + "\" ]\n";
}

} // namespace

TEST_CASE("/midi_send sends events of all kinds") {
    MidiBench bench;
    struct Row {
        const char* name;
        Kind kind;
        float value;
    };
    for (const Row& row : {Row{"noteOn", Kind::note_on, 1},
                           {"noteOff", Kind::note_off, 0},
                           {"polytouch", Kind::note_pressure, 0.5f},
                           {"control", Kind::controller, 0.25f},
                           {"bend", Kind::bend, -1},
                           {"touch", Kind::pressure, 1}}) {
        CAPTURE(row.name);
        CHECK(bench.midi_send(1, row.name, 15, 127, row.value) == "");
        const auto sent = bench.sent();
        REQUIRE(sent.size() == 1);
        CHECK(sent[0].kind == row.kind);
        CHECK(sent[0].port == 1);
        CHECK(sent[0].channel == 15);
        const bool numbered = row.kind != Kind::bend && row.kind != Kind::pressure;
        CHECK(sent[0].number == (numbered ? 127 : 0));
        CHECK(sent[0].value == row.value);
    }
    CHECK(bench.midi_send(0, "program", 3, 5) == "");
    CHECK(bench.midi_send(0, "midiClock") == "");
    CHECK(bench.midi_send(0, "start") == "");
    CHECK(bench.midi_send(0, "continue") == "");
    CHECK(bench.midi_send(0, "stop") == "");
    CHECK(bench.midi_send(0, "songPosition", 0, 0, 16383) == "");
    const auto sent = bench.sent();
    const Kind kinds[] = {Kind::program, Kind::clock, Kind::start, Kind::go_on, Kind::stop, Kind::song_position};
    REQUIRE(sent.size() == 6);
    for (size_t i = 0; i < 6; ++i)
        CHECK(sent[i].kind == kinds[i]);
    CHECK(sent[0].number == 5);
    CHECK(sent[5].value == 16383);
}

TEST_CASE("numbers that synths compute are rounded") {
    MidiBench bench;
    CHECK(bench.midi_send(0.4f, "noteOn", 8.6f, 59.99f, 0.5) == "");
    const auto sent = bench.sent();
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].channel == 9);
    CHECK(sent[0].number == 60);
}

TEST_CASE("what is wrong is named, and nothing is sent") {
    MidiBench bench;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const char *port = "the port is to be 0 or more, and less than scsynth.control-outputs",
               *channel = "the channel is to be 0 to 15", *number = "the number is to be 0 to 127",
               *value = "the value is to be 0 to 1";
    CHECK(bench.midi_send(2, "start") == failure(port));
    CHECK(bench.midi_send(-1, "start") == failure(port));
    CHECK(bench.midi_send(nan, "start") == failure(port));
    CHECK(bench.midi_send(0, "note", 0, 60, 1) ==
          failure("a kind is noteOn, noteOff, polytouch, control, program, touch, bend, midiClock, start, continue, "
                  "stop or songPosition"));
    CHECK(bench.midi_send(0) == "[ \"/fail\", \"/midi_send\", \"wrong argument type\" ]\n");
    CHECK(bench.midi_send(0, "noteOn") == failure(channel));
    CHECK(bench.midi_send(0, "noteOn", 16, 60, 1) == failure(channel));
    CHECK(bench.midi_send(0, "noteOn", "one", 60, 1) == failure(channel));
    CHECK(bench.midi_send(0, "noteOn", nan, 60, 1) == failure(channel));
    CHECK(bench.midi_send(0, "noteOn", 0) == failure(number));
    CHECK(bench.midi_send(0, "control", 0, 128, 1) == failure(number));
    CHECK(bench.midi_send(0, "program", 0, 1e30f) == failure(number));
    CHECK(bench.midi_send(0, "noteOn", 0, 60) == failure(value));
    for (const float wrong : {-0.01f, 1.01f, nan, std::numeric_limits<float>::infinity()}) {
        CHECK(bench.midi_send(0, "noteOn", 0, 60, wrong) == failure(value));
        CHECK(bench.midi_send(0, "songPosition", 0, 0, wrong * 20000) == failure("the value is to be 0 to 16383"));
    }
    CHECK(bench.midi_send(0, "bend", 0, 0, -1.01f) == failure("the value is to be -1 to 1"));
    CHECK(bench.sent().empty());
    bench.settings().control_outputs = 0;
    CHECK(bench.midi_send(0, "start") == failure("there is no control output: scsynth.control-outputs says how many"));
    CHECK(bench.sent().empty());
}

TEST_CASE("what there is no room for fails and is counted; without anybody who listens nothing does") {
    MidiBench bench;
    for (size_t i = 0; i < ControlOutputs::most_sent; ++i)
        CHECK(bench.midi_send(0, "midiClock") == "");
    CHECK(bench.midi_send(0, "midiClock") == failure("too much at once for the control outputs"));
    CHECK(bench.sent().size() == ControlOutputs::most_sent);
    CHECK(bench.engine().status().unsent_control == 1);
    bench.engine().control_outputs().set_linked(2);
    for (size_t i = 0; i <= OutgoingQueue::most; ++i)
        CHECK(bench.midi_send(0, "midiClock") == "");
    CHECK(bench.midi_send(1, "midiClock") == "");
    CHECK(bench.sent().size() == 1);
    CHECK(bench.engine().status().unsent_control == 1);
}
