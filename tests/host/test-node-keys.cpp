// SPDX-License-Identifier: GPL-3.0-or-later
// Keys that are linked to the node as it is installed.
#include "control-sequence.hpp"
#include "playing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
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

} // namespace

TEST_CASE("a key sounds from its frame on") {
    Host host(library());
    for (const uint32_t quantum : {64u, 256u, 441u, 1024u}) {
        CAPTURE(quantum);
        Keys p(host);
        std::vector<size_t> asked, heard;
        for (uint32_t i = 0; i < 30; ++i) {
            const uint32_t frame = i * 31 % quantum;
            p.bytes = sequence({note(frame, uint8_t(40 + i))});
            asked.push_back(p.node->output(0).size() + frame);
            host.cycle(quantum);
        }
        p.bytes.clear();
        host.cycles(8, quantum);
        const std::vector<float>& sound = p.node->output(0);
        for (size_t i = 0; i < sound.size(); ++i)
            if (sound[i] != 0)
                heard.push_back(i);
        for (size_t& frame : asked)
            frame += quantum == 441 ? 63 : 0; // as the audio inputs
        CHECK(heard == asked);
    }
}

TEST_CASE("a command of OSC takes effect at its frame, if it is to") {
    for (const bool taken : {false, true})
        for (const uint32_t quantum : {16u, 64u, 256u, 441u, 1024u}) {
            CAPTURE(quantum);
            Host host(library());
            Keys p(host, {{"scsynth.control-osc", taken ? "true" : "false"}});
            std::vector<size_t> asked, heard;
            for (uint32_t i = 0; i < 30; ++i) {
                const uint32_t frame = i * 31 % quantum;
                const auto packet = osc_message("/s_new", {"click", 2000 + int(i), 0, 0});
                std::vector<uint8_t> body(packet.size());
                std::memcpy(body.data(), packet.data(), body.size());
                p.bytes = sequence({{frame, SPA_CONTROL_OSC, body}});
                if (taken)
                    asked.push_back(p.node->output(0).size() + frame);
                host.cycle(quantum);
            }
            p.bytes.clear();
            host.cycles(8, quantum);
            const std::vector<float>& sound = p.node->output(0);
            for (size_t i = 0; i < sound.size(); ++i)
                if (sound[i] != 0)
                    heard.push_back(i);
            for (size_t& frame : asked)
                frame += quantum == 441 ? 63 : quantum == 16 ? 48 : 0; // as the audio inputs
            CHECK(heard == asked);
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
