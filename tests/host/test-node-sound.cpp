// SPDX-License-Identifier: GPL-3.0-or-later
// The node with its own server and engine: sound, timing, answers, and the rules of the data loop.
#include "host.hpp"
#include "playing.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace scs::test;

namespace {

std::vector<float> sine_at_quanta(const std::vector<uint32_t>& quanta, size_t frames) {
    Host host(library());
    Playing p(host);
    p.define("sine", sine(1000));
    p.node->link(out, 0);
    p.play("sine", 1000);
    p.node->start();
    for (size_t i = 0; p.node->output(0).size() < frames; ++i)
        CHECK(host.cycle(quanta[i % quanta.size()]) == both);
    p.node->output(0).resize(frames);
    return p.node->output(0);
}

} // namespace

TEST_CASE("OSC is answered when no cycle runs") {
    Host host(library());
    Playing p(host);
    p.client->send(osc_message("/status"));
    CHECK(p.client->receive() == "/status.reply");
    CHECK(p.client->sync());
    host.main().expire_timers();
    CHECK(p.node->properties["scsynth.packets.received"] == "2");
    CHECK(p.node->properties["scsynth.packets.decoded"] == "2");
}

TEST_CASE("a taken port is an error that names it") {
    Host host(library());
    Playing p(host);
    const std::string port = p.node->properties["scsynth.osc.port"];
    CHECK_FALSE(host.create({{"scsynth.osc.port", port}}));
    CHECK(host.error() == -EADDRINUSE);
    CHECK(host.log().has(port));
}

TEST_CASE("a sine is the same at any quantum") {
    const size_t frames = 48000;
    const std::vector<float> reference = sine_at_quanta({64}, frames);
    // SinOsc begins at phase 0 and reads a table.
    double worst = 0;
    for (size_t i = 0; i < frames; ++i)
        worst = std::max(worst, std::abs(reference[i] - std::sin(2 * M_PI * 1000 * double(i) / 48000)));
    CHECK(worst < 1e-3);
    CHECK(sine_at_quanta({16}, frames) == reference);
    CHECK(sine_at_quanta({441}, frames) == reference);
    CHECK(sine_at_quanta({16, 64, 100, 441, 1024, 8192}, frames) == reference);
}

TEST_CASE("two engines in one host don't mix") {
    Host host(library());
    Playing first(host), second(host);
    first.define("sine", sine(1000));
    second.define("sine", sine(500));
    first.node->link(out, 0);
    second.node->link(out, 0);
    first.play("sine", 1000);
    second.play("sine", 1000);
    first.node->start();
    second.node->start();
    host.cycles(100, 256);
    double worst = 0;
    for (size_t i = 0; i < 25600; ++i) {
        worst = std::max(worst, std::abs(first.node->output(0)[i] - std::sin(2 * M_PI * 1000 * double(i) / 48000)));
        worst = std::max(worst, std::abs(second.node->output(0)[i] - std::sin(2 * M_PI * 500 * double(i) / 48000)));
    }
    CHECK(worst < 1e-3);
}
