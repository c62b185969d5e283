// SPDX-License-Identifier: GPL-3.0-or-later
// Control inputs: what comes through them reaches the engine at its frame, and what is malformed doesn't.
#include "control-sequence.hpp"
#include "fixture.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace scs;
using namespace scs::test;
using Kind = ControlEvent::Kind;

constexpr spa_direction in = SPA_DIRECTION_INPUT, out = SPA_DIRECTION_OUTPUT;

namespace {

/// A node with control inputs that are linked, and no audio inputs.
struct Node {
    FakeHost host;
    std::unique_ptr<HostNode> node;
    std::vector<std::vector<uint8_t>> sent; ///< by port

    explicit Node(int ports = 1) : sent(size_t(ports)) {
        node = host.create({{"scsynth.inputs", "0"}, {"scsynth.control-inputs", std::to_string(ports)}});
        REQUIRE(node);
        for (uint32_t i = 0; i < uint32_t(ports); ++i)
            REQUIRE(node->link_control(i) == 0);
        REQUIRE(node->link(out, 0) == 0);
        node->feed_control = [this](uint32_t port, uint8_t* bytes, size_t size) {
            const std::vector<uint8_t>& from = sent[port];
            REQUIRE(from.size() <= size);
            std::copy(from.begin(), from.end(), bytes);
            return from.size();
        };
        node->start();
    }
    const std::vector<ControlEvent>& cycle(std::vector<uint8_t> bytes, uint32_t frames = 256) {
        sent[0] = std::move(bytes);
        host.cycle(frames);
        return host.fake.events;
    }
    int count(const char* property) {
        host.main().expire_timers();
        return std::stoi(node->properties[property]);
    }
};

} // namespace

TEST_CASE("control inputs are ports after the audio inputs") {
    FakeHost host;
    const auto node = host.create({{"scsynth.control-inputs", "2"}});
    REQUIRE(node);
    REQUIRE(node->ports[in].size() == 4);
    CHECK(node->ports[in][1].properties["format.dsp"] == "32 bit float mono audio");
    CHECK(node->ports[in][2].properties["format.dsp"] == "8 bit raw midi");
    CHECK(node->ports[in][2].properties["control.ump"] == "false"); // PipeWire 1.6: MIDI 2.0 comes as it is
    CHECK(node->ports[in][2].properties["port.name"] == "control_1");
    CHECK(node->ports[in][3].properties["port.name"] == "control_2");
    CHECK(node->ports[in][3].properties.count("audio.channel") == 0);
    CHECK(node->link(in, 2) < 0); // not an audio format
    CHECK(node->link_control(1) == 0);
    CHECK(host.create({})->ports[in].size() == 3);
    CHECK(host.create({{"scsynth.control-inputs", "0"}})->ports[in].size() == 2);
}

TEST_CASE("events come with their frame, port and order, as MIDI 1.0 and as packets") {
    Node n(2);
    n.sent[1] = sequence({note(3, 70), note(200, 71)});
    const auto& events = n.cycle(sequence({note(0, 60), note(0, 61, 0), packet(100, {0x20913e7f}),
                                           packet(255, {0x40b04a00, 0xffffffff}), note(4000, 62)}));
    REQUIRE(events.size() == 7);
    const auto check = [&](size_t i, Kind kind, int port, int channel, int number, int frame) {
        CAPTURE(i);
        CHECK(events[i].kind == kind);
        CHECK(int(events[i].port) == port);
        CHECK(int(events[i].channel) == channel);
        CHECK(int(events[i].number) == number);
        CHECK(events[i].frame == frame);
    };
    check(0, Kind::note_on, 0, 0, 60, 0);
    check(1, Kind::note_off, 0, 0, 61, 0);
    check(2, Kind::note_on, 1, 0, 70, 3);
    check(3, Kind::note_on, 0, 1, 62, 100);
    check(4, Kind::note_on, 1, 0, 71, 200);
    check(5, Kind::controller, 0, 0, 74, 255);
    check(6, Kind::note_on, 0, 0, 62, 255); // beyond the cycle: its last frame
    n.sent[1].clear();
    CHECK(n.cycle({}).empty());
    CHECK(n.count("scsynth.control.received") == 7);
    CHECK(n.count("scsynth.control.refused") == 0);
}

TEST_CASE("clocks and where a song is come at their frames, and what else systems send doesn't") {
    Node n;
    const auto system = [](uint32_t offset, std::vector<uint8_t> bytes) {
        return Control{offset, SPA_CONTROL_Midi, std::move(bytes)};
    };
    const auto& events = n.cycle(sequence({system(0, {0xf2, 4, 1}), system(0, {0xfb}), system(7, {0xf8}),
                                           system(8, {0xfe}), packet(9, {0x10f80000}), system(255, {0xfc})}));
    REQUIRE(events.size() == 5);
    CHECK(events[0].kind == Kind::song_position);
    CHECK(events[0].value == 132);
    CHECK(events[1].kind == Kind::go_on);
    CHECK(events[2].kind == Kind::clock);
    CHECK(events[2].frame == 7);
    CHECK(events[3].kind == Kind::clock);
    CHECK(events[3].frame == 9);
    CHECK(events[4].kind == Kind::stop);
    CHECK(n.count("scsynth.control.refused") == 0);
}

TEST_CASE("what isn't well-formed is refused and counted; the rest isn't lost") {
    Node n;
    CHECK(n.cycle(sequence({note(0, 60), {1, SPA_CONTROL_Midi, {0x90, 200, 1}}, {2, ump, {1, 2, 3}}, note(3, 61)}))
              .size() == 2);
    CHECK(n.cycle(sequence({{0, SPA_CONTROL_Midi, {}}, {0, SPA_CONTROL_OSC, {1, 2, 3, 4}}, note(3, 61)})).size() == 1);
    auto bytes = sequence({note(0, 60), note(1, 61)});
    bytes.resize(bytes.size() - 8);
    CHECK(n.cycle(bytes).size() == 1);
    CHECK(n.cycle({1, 2, 3}).empty());
    CHECK(n.count("scsynth.control.refused") == 5);
    auto huge = sequence({note(0, 60)});
    const uint32_t size = UINT32_MAX;
    for (const size_t at : {size_t(0), sizeof(spa_pod_sequence) + 8}) {
        auto changed = huge;
        std::memcpy(changed.data() + at, &size, sizeof size);
        CHECK(n.cycle(changed).size() == (at == 0 ? 1 : 0)); // the first says only where the sequence ends
    }
}

TEST_CASE("of ten thousand events in a cycle 2048 are heard") {
    Node n;
    std::vector<Control> many(1300, note(0, 60));
    n.sent[0] = sequence(many);
    CHECK(n.cycle(n.sent[0]).size() == 1300);
    Node two(2);
    two.sent[1] = two.sent[0] = sequence(many);
    CHECK(two.cycle(two.sent[0]).size() == 2048);
    CHECK(two.count("scsynth.control.refused") == 552);
}

TEST_CASE("whatever lies in the buffer, nothing breaks") {
    Node n;
    std::mt19937 random(1);
    const auto good = sequence({note(0, 60), packet(10, {0x40b04a00, 7}), note(20, 61), note(30, 62)});
    for (int i = 0; i < 20000; ++i) {
        auto bytes = good;
        for (uint32_t k = random() % 8; k > 0; --k)
            bytes[random() % bytes.size()] = uint8_t(random());
        bytes.resize(random() % 4 ? bytes.size() : random() % (bytes.size() + 1));
        for (const ControlEvent& event : n.cycle(bytes, 64)) {
            CHECK(event.frame >= 0);
            CHECK(event.frame < 64);
            CHECK(event.channel < 16);
            const bool parameter = event.kind == Kind::parameter || event.kind == Kind::own_parameter;
            CHECK(event.number < (parameter ? 16384 : 128));
        }
    }
}
