// SPDX-License-Identifier: GPL-3.0-or-later
// Keys that are linked to the node as it is installed.
#include "control-sequence.hpp"
#include "playing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

using namespace scs::test;

namespace {

/// A node that clicks with each key.
struct Keys : Playing {
    explicit Keys(Host& host, Host::Dict info = {}) : Playing(host, with(std::move(info))) {
        define("click", click);
        client->send(osc_message("/bind_keys", {1, "click", 0, 0}));
        REQUIRE(client->sync());
        REQUIRE(node->link_control(0) == 0);
        REQUIRE(node->link(out, 0) == 0);
        node->feed_control = [this](uint32_t, uint8_t* to, size_t) {
            std::copy(bytes.begin(), bytes.end(), to);
            return bytes.size();
        };
        node->start();
    }
    static Host::Dict with(Host::Dict info) {
        info.insert(info.end(), {"scsynth.inputs", "0"});
        return info;
    }
    std::vector<uint8_t> bytes; ///< of the next cycles
};

/// Plays 30 events in as many cycles, each at another frame, and has them sound there, after what audio inputs are
/// delayed by; or nothing sound.
void check_frames(Host& host, Keys& keys, uint32_t quantum, bool sounds,
                  const std::function<Control(uint32_t frame, int number)>& event) {
    std::vector<size_t> asked, heard;
    const size_t delay = quantum == 441 ? 63 : quantum == 16 ? 48 : 0;
    for (int i = 0; i < 30; ++i) {
        const uint32_t frame = uint32_t(i) * 31 % quantum;
        keys.bytes = sequence({event(frame, i)});
        if (sounds)
            asked.push_back(keys.node->output(0).size() + frame + delay);
        host.cycle(quantum);
    }
    keys.bytes.clear();
    host.cycles(8, quantum);
    const std::vector<float>& sound = keys.node->output(0);
    for (size_t i = 0; i < sound.size(); ++i)
        if (sound[i] != 0)
            heard.push_back(i);
    CHECK(heard == asked);
}

} // namespace

TEST_CASE("a key sounds from its frame on") {
    Host host(library());
    for (const uint32_t quantum : {64u, 256u, 441u, 1024u}) {
        CAPTURE(quantum);
        Keys p(host);
        check_frames(host, p, quantum, true, [](uint32_t frame, int i) { return note(frame, uint8_t(40 + i)); });
    }
}

TEST_CASE("a command of OSC takes effect at its frame, if it is to") {
    for (const bool taken : {false, true})
        for (const uint32_t quantum : {16u, 64u, 256u, 441u, 1024u}) {
            CAPTURE(quantum);
            Host host(library());
            Keys p(host, {{"scsynth.control-osc", taken ? "true" : "false"}});
            check_frames(host, p, quantum, taken, [](uint32_t frame, int i) {
                const auto packet = osc_message("/s_new", {"click", 2000 + i, 0, 0});
                std::vector<uint8_t> body(packet.size());
                std::memcpy(body.data(), packet.data(), body.size());
                return Control{frame, SPA_CONTROL_OSC, body};
            });
        }
}

TEST_CASE("in a graph of another rate it sounds after the delay that is told") {
    for (const uint32_t graph : {44100u, 96000u}) {
        CAPTURE(graph);
        Host host(library());
        host.position().clock.rate = {1, graph};
        Keys p(host, {{"scsynth.sample-rate", "48000"}});
        constexpr uint32_t quantum = 1000, keys = 10;
        host.cycles(3, quantum);
        host.main().expire_timers();
        const uint32_t delay = p.node->latency(out, 0, out).max_rate;
        CHECK(delay > 100);
        std::vector<size_t> asked;
        for (uint32_t i = 0; i < keys; ++i) {
            const uint32_t frame = i * 97;
            p.bytes = sequence({note(frame, uint8_t(40 + i))});
            asked.push_back(p.node->output(0).size() + frame);
            host.cycle(quantum);
        }
        p.bytes.clear();
        host.cycles(3, quantum);
        const std::vector<float>& sound = p.node->output(0);
        for (const size_t frame : asked) {
            CAPTURE(frame);
            const auto from = sound.begin() + ptrdiff_t(frame);
            const auto loudest = std::max_element(from, from + quantum - 100);
            CHECK(std::abs(loudest - from - ptrdiff_t(delay)) <= 2);
            CHECK(*loudest > 0.1f);
        }
    }
}
