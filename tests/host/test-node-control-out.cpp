// SPDX-License-Identifier: GPL-3.0-or-later
// What leaves by control outputs of the node as it is installed: each event at the frame at which OffsetOut would
// sound.
#include "control-sequence.hpp"
#include "playing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

using namespace scs::test;

namespace {

const char* host_version = "";

constexpr uint32_t first = 1; ///< the first control output, after one for sound
using Frames = std::vector<size_t>;
using Bodies = std::vector<std::vector<uint8_t>>;

/// Impulses on bus 0, each of which is a trigger 5 with the value 0.5.
std::vector<DefUnit> beats(float hertz) {
    return {{"Impulse", {{-1, hertz}, {-1, 0}}},
            {"SendTrig", {{0, 0}, {-1, 5}, {-1, 0.5f}}, false},
            {"Out", {{-1, 0}, {0, 0}}, false}};
}

/// A node that sends to one control output or more.
struct Sender : Playing {
    explicit Sender(Host& host, int outputs = 1, Host::Dict info = {}, uint32_t bytes = 32768)
        : Playing(host, with(std::move(info), outputs)) {
        define("click", click);
        define("beats", beats(997));
        REQUIRE(node->link(out, 0) == 0);
        for (uint32_t i = 0; i < uint32_t(outputs); ++i)
            REQUIRE(node->link_control(out, first + i, bytes) == 0);
        node->start();
        host.cycle(64); // from now on it knows what is linked
    }
    static Host::Dict with(Host::Dict info, int outputs) {
        info.insert(info.end(), {{"scsynth.outputs", "1"}, {"scsynth.control-outputs", std::to_string(outputs)}});
        return info;
    }
    void send(const char* address, const std::vector<OscArg>& args) {
        client->send(osc_message(address, args));
        REQUIRE(client->sync());
    }
    int count(const char* property) {
        host.main().expire_timers();
        return std::stoi(node->properties[property]);
    }
    /// Where there is sound on the output.
    Frames heard() {
        const std::vector<float>& sound = node->output(0);
        Frames frames;
        for (size_t i = 0; i < sound.size(); ++i)
            if (sound[i] != 0)
                frames.push_back(i);
        return frames;
    }
    Frames frames(uint32_t type, uint32_t port = first) { return sent(&HostNode::Sent::frame, type, port); }
    Bodies bodies(uint32_t type, uint32_t port = first) { return sent(&HostNode::Sent::body, type, port); }

private:
    template <class Part>
    std::vector<Part> sent(Part HostNode::Sent::*part, uint32_t type, uint32_t port) {
        std::vector<Part> parts;
        for (const HostNode::Sent& each : node->sent(port))
            if (each.type == type)
                parts.push_back(each.*part);
        return parts;
    }
};

std::vector<uint8_t> bytes_of(const Bytes& message) {
    std::vector<uint8_t> bytes(message.size());
    std::memcpy(bytes.data(), message.data(), bytes.size());
    return bytes;
}

scs::NtpTime now_and(double seconds) {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return scs::ntp_from_unix(now.tv_sec, uint32_t(now.tv_nsec)) + scs::NtpTime(int64_t(seconds * 0x1p32));
}

constexpr uint32_t quanta[] = {16, 64, 256, 441, 1000};

} // namespace

/// As PipeWire's library, which the plugin finds in its host.
extern "C" __attribute__((visibility("default"))) const char* pw_get_library_version() {
    return host_version;
}

TEST_CASE("control outputs are ports after those for sound") {
    Host host(library());
    Playing p(host, {{"scsynth.outputs", "2"}, {"scsynth.control-outputs", "2"}});
    REQUIRE(p.node->ports[out].size() == 4);
    CHECK(p.node->ports[out][1].properties["port.name"] == "out_2");
    CHECK(p.node->ports[out][2].properties["port.name"] == "control_out_1");
    CHECK(p.node->ports[out][2].properties["scsynth.port"] == "control_out_1");
    CHECK(p.node->ports[out][3].properties["port.name"] == "control_out_2");
    CHECK(p.node->ports[out][3].properties["format.dsp"] == "8 bit raw midi");
    CHECK(p.node->ports[out][3].properties.count("audio.channel") == 0);
    CHECK(p.node->link(out, 2) < 0); // not an audio format
    CHECK(p.node->link_control(out, 3, 32768) == 0);
    Playing none(host);
    CHECK(none.node->ports[out].size() == 2);
}

TEST_CASE("what synths send leaves at its frame") {
    for (const uint32_t quantum : quanta) {
        CAPTURE(quantum);
        Host host(library());
        Sender s(host);
        s.play("beats", 1000);
        host.cycles(int(5000 / quantum) + 1, quantum);
        const Frames heard = s.heard();
        CHECK(heard.size() > 90);
        CHECK(s.frames(SPA_CONTROL_OSC) == heard);
        CHECK(s.count("scsynth.control.sent") == int(heard.size()));
        CHECK(s.count("scsynth.control.unsent") == 0);
        const auto message = bytes_of(osc_message("/tr", {1000, 5, 0.5f}));
        for (const auto& body : s.bodies(SPA_CONTROL_OSC))
            CHECK(body == message);
    }
}

TEST_CASE("a reply is the message that clients get") {
    Host host(library());
    Sender s(host);
    s.define("tells", {{"Impulse", {{-1, 0}, {-1, 0}}},
                       {"SendReply", {{0, 0}, {-1, 7}, {-1, 2}, {-1, '/'}, {-1, 'a'}, {-1, 1.5f}, {-1, -2}}, false}});
    s.define("mutters", {{"Impulse", {{-1, 0}, {-1, 0}}},
                         {"SendReply", {{0, 0}, {-1, 7}, {-1, 2}, {-1, 0}, {-1, 'a'}, {-1, 1.5f}}, false}});
    s.play("mutters", 1001); // to no address
    s.play("tells", 1000);
    host.cycles(3, 64);
    CHECK(s.bodies(SPA_CONTROL_OSC) == Bodies{bytes_of(osc_message("/a", {1000, 7, 1.5f, -2.f}))});
}

TEST_CASE("a note of a bundle leaves at the frame at which a synth of the bundle begins") {
    for (const uint32_t quantum : quanta) {
        CAPTURE(quantum);
        Host host(library());
        Sender s(host);
        for (int i = 0; i < 30; ++i)
            s.client->send(
                osc_bundle(now_and(0.3 + 0.00101 * i), {osc_message("/s_new", {"click", -1, 0, 0}),
                                                        osc_message("/midi_send", {0, "noteOn", 9, 30 + i, 1.f})}));
        REQUIRE(s.client->sync());
        for (int i = 0; i < 20000 && s.node->sent(first).size() < 30; ++i)
            host.cycle(quantum);
        host.cycles(4, quantum);
        const Frames heard = s.heard();
        REQUIRE(heard.size() == 30);
        CHECK(s.frames(SPA_CONTROL_Midi) == heard);
        Bodies notes;
        for (uint8_t i = 0; i < 30; ++i)
            notes.push_back({0x99, uint8_t(30 + i), 127});
        CHECK(s.bodies(SPA_CONTROL_Midi) == notes);
    }
}

TEST_CASE("without a time a note leaves with the next block") {
    Host host(library());
    Sender s(host);
    host.cycle(400); // frame 464; blocks up to frame 512 are there
    s.send("/midi_send", {0, "noteOn", 0, 60, 1.f});
    host.cycle(400);
    CHECK(s.frames(SPA_CONTROL_Midi) == Frames{512});
}

TEST_CASE("synths play an instrument, a block after their trigger") {
    for (const uint32_t quantum : quanta) {
        CAPTURE(quantum);
        Host host(library());
        Sender s(host);
        s.send("/bind_command", {1, "trigger", "/midi_send", 0, "noteOn", 9, 36, "$1"});
        s.send("/bind_command", {2, "trigger", "/midi_send", 0, "noteOff", 9, 36, 0});
        s.play("beats", 1000);
        host.cycles(int(5000 / quantum) + 1, quantum);
        Frames asked;
        for (const size_t frame : s.heard())
            asked.insert(asked.end(), 2, frame + 64);
        while (!asked.empty() && asked.back() >= s.node->output(0).size())
            asked.pop_back();
        CHECK(asked.size() > 180);
        CHECK(s.frames(SPA_CONTROL_Midi) == asked);
        CHECK(s.bodies(SPA_CONTROL_Midi)[0] == std::vector<uint8_t>{0x99, 36, 64});
        CHECK(s.bodies(SPA_CONTROL_Midi)[1] == std::vector<uint8_t>{0x89, 36, 0});
        CHECK(s.frames(SPA_CONTROL_OSC) == s.heard());
        const auto earlier = [](const HostNode::Sent& a, const HostNode::Sent& b) { return a.frame < b.frame; };
        CHECK(std::is_sorted(s.node->sent(first).begin(), s.node->sent(first).end(), earlier));
    }
}

TEST_CASE("OSC of a control input sends notes, as it may start synths") {
    Host host(library());
    Sender s(host, 1, {{"scsynth.inputs", "0"}, {"scsynth.control-osc", "true"}});
    REQUIRE(s.node->link_control(0) == 0);
    std::vector<uint8_t> bytes;
    s.node->feed_control = [&](uint32_t, uint8_t* to, size_t) {
        std::copy(bytes.begin(), bytes.end(), to);
        return bytes.size();
    };
    Frames asked;
    for (uint32_t i = 0; i < 20; ++i) {
        const uint32_t frame = i * 31 % 441;
        bytes = sequence({{frame, SPA_CONTROL_OSC, bytes_of(osc_message("/midi_send", {0, "touch", 1, 0, 0.5f}))}});
        asked.push_back(s.node->output(0).size() + frame + 63);
        host.cycle(441);
    }
    bytes.clear();
    host.cycles(3, 441);
    CHECK(s.frames(SPA_CONTROL_Midi) == asked);
    CHECK(s.bodies(SPA_CONTROL_Midi)[0] == std::vector<uint8_t>{0xd1, 64});
}

TEST_CASE("in a graph of another rate, too, an event leaves where it sounds") {
    for (const auto& one : {std::pair{44100u, "sample-rate"}, {96000u, "sample-rate"}, {96000u, "keep-rate"}}) {
        const uint32_t graph = one.first;
        const char* const setting = one.second;
        CAPTURE(graph);
        CAPTURE(setting);
        Host host(library());
        const bool keep = setting == std::string("keep-rate");
        host.position().clock.rate = {1, keep ? 48000 : graph};
        Sender s(host, 1, {{std::string("scsynth.") + setting, keep ? "true" : "48000"}});
        s.define("slow", beats(100));
        s.play("slow", 1000);
        host.cycles(2, 1000);
        host.position().clock.rate = {1, graph};
        const size_t from = s.node->output(0).size();
        host.cycles(20, 1000);
        const std::vector<float>& sound = s.node->output(0);
        int checked = 0;
        for (const size_t frame : s.frames(SPA_CONTROL_OSC)) {
            if (frame < from + 1000 || frame + 100 > sound.size())
                continue;
            CAPTURE(frame);
            const auto at = sound.begin() + ptrdiff_t(frame);
            CHECK(std::abs(std::max_element(at - 50, at + 50) - at) <= 1);
            CHECK(*std::max_element(at - 50, at + 50) > 0.1f);
            ++checked;
        }
        CHECK(checked > 15);
    }
}

TEST_CASE("each output has what is for it, and one that nobody is linked to nothing") {
    Host host(library());
    Sender s(host, 3);
    s.node->unlink(out, first + 2);
    s.send("/midi_send", {1, "noteOn", 0, 60, 1.f});
    s.send("/midi_send", {2, "noteOn", 0, 61, 1.f});
    s.send("/midi_send", {0, "noteOn", 0, 62, 1.f});
    s.play("beats", 1000);
    host.cycles(3, 64);
    CHECK(s.bodies(SPA_CONTROL_Midi) == Bodies{{0x90, 62, 127}});
    CHECK(s.bodies(SPA_CONTROL_Midi, first + 1) == Bodies{{0x90, 60, 127}});
    CHECK(s.node->sent(first + 1).size() == 1);
    CHECK(s.node->sent(first + 2).empty());
    CHECK(s.count("scsynth.control.unsent") == 0);
    s.node->unlink(out, first);
    const size_t before = s.node->sent(first).size();
    host.cycles(3, 64);
    CHECK(s.node->link_control(out, first, 32768) == 0);
    host.cycles(3, 64);
    CHECK(s.node->sent(first).size() > before);
}

TEST_CASE("what a pause keeps from leaving leaves after it") {
    Host host(library());
    Sender s(host);
    s.send("/bind_command", {1, "trigger", "/midi_send", 0, "noteOff", 0, 60, 0});
    s.define("late", {{"Impulse", {{-1, 0}, {-1, 0}}},
                      {"DelayN", {{0, 0}, {-1, 0.01f}, {-1, 40.f / 48000}}},
                      {"SendTrig", {{1, 0}, {-1, 0}, {-1, 1}}, false}});
    s.play("late", 1000);
    for (int i = 0; i < 6; ++i)
        host.cycle(16); // the block that sends the note is computed ahead
    CHECK(s.frames(SPA_CONTROL_Midi).empty());
    s.node->pause();
    s.node->start();
    host.cycle(16);
    CHECK(s.frames(SPA_CONTROL_Midi) == Frames{64 + 6 * 16});
}

TEST_CASE("what finds no room in the buffer is counted") {
    for (const uint32_t bytes : {8u, 16u, 128u, 132u}) {
        CAPTURE(bytes);
        Host host(library());
        Sender s(host, 1, {}, bytes);
        for (int i = 0; i < 40; ++i)
            s.client->send(osc_message("/midi_send", {0, "control", 1, i, 0.5f}));
        REQUIRE(s.client->sync());
        host.cycles(3, 64);
        const size_t room = bytes < 16 ? 0 : (bytes - 16) / 24;
        CHECK(s.node->sent(first).size() == room);
        CHECK(s.count("scsynth.control.sent") == int(room));
        CHECK(s.count("scsynth.control.unsent") == 40 - int(room));
    }
}

TEST_CASE("what is too much at once is counted") {
    Host host(library());
    Sender s(host);
    host.cycle(64);
    for (int i = 0; i < 3000; ++i) {
        s.client->send(osc_message("/midi_send", {0, "control", 1, 5, 0.5f}));
        if (i % 100 == 0)
            REQUIRE(s.client->sync());
    }
    REQUIRE(s.client->sync());
    host.cycles(2, 64);
    CHECK(s.count("scsynth.control.unsent") >= 3000 - 2048);
    CHECK(s.count("scsynth.control.sent") + s.count("scsynth.control.unsent") == 3000);
}

TEST_CASE("PipeWire 1.4 to 1.6.2 gets Universal MIDI Packets, as its own ports send") {
    for (const auto& one : {std::pair{"0.3.65", false},
                            {"1.2.7", false},
                            {"1.4.0", true},
                            {"1.6.2", true},
                            {"1.6.3", false},
                            {"1.7.0", false}}) {
        const char* const version = one.first;
        const bool packets = one.second;
        CAPTURE(version);
        host_version = version;
        Host host(library());
        Sender s(host);
        s.send("/midi_send", {0, "noteOn", 1, 60, 1.f});
        s.send("/midi_send", {0, "start"});
        host.cycles(2, 64);
        const auto word = [](uint32_t bits) {
            std::vector<uint8_t> bytes(4);
            std::memcpy(bytes.data(), &bits, 4);
            return bytes;
        };
        if (packets)
            CHECK(s.bodies(ump) == Bodies{word(0x20913c7f), word(0x10fa0000)});
        else
            CHECK(s.bodies(SPA_CONTROL_Midi) == Bodies{{0x91, 60, 127}, {0xfa}});
        CHECK(s.node->sent(first).size() == 2);
    }
    host_version = "";
}
