// SPDX-License-Identifier: GPL-3.0-or-later
// Any number of ports, linked and not.
#include "playing.hpp"

#include <doctest/doctest.h>
#include <spa/param/audio/raw.h>

#include <array>
#include <string>

using namespace scs::test;

namespace {

/// Input i plus the constant i goes to output i.
std::vector<DefUnit> patch(int ports) {
    std::vector<DefUnit> units;
    for (int i = 0; i < ports; ++i) {
        const int first = int(units.size());
        units.push_back({"In", {{-1, float(ports + i)}}});
        units.push_back({"BinaryOpUGen", {{first, 0}, {-1, float(i)}}});
        units.push_back({"Out", {{-1, float(i)}, {first + 1, 0}}, false});
    }
    return units;
}

/// Frame `position` of an input: a number that is different for each port and frame.
float sample(uint32_t port, uint64_t position) {
    return float(port * 4096 + position % 4096 + 1);
}

void check_ports(int ports, bool every_other = false) {
    CAPTURE(ports);
    const std::string count = std::to_string(ports);
    Host host(library());
    Playing p(host, {{"scsynth.inputs", count}, {"scsynth.outputs", count}, {"scsynth.control-inputs", "0"}});
    CHECK(p.node->ports[in].size() == size_t(ports));
    CHECK(p.node->ports[out].size() == size_t(ports));
    p.define("patch", patch(ports));
    p.play("patch", 1000);
    p.node->feed = [](uint32_t port, uint64_t position, float* samples, uint32_t frames) {
        for (uint32_t i = 0; i < frames; ++i)
            samples[i] = sample(port, position + i);
    };
    const auto linked = [&](int i) { return !every_other || i % 2 == 0; };
    for (int i = 0; i < ports; ++i)
        if (linked(i)) {
            CHECK(p.node->link(in, uint32_t(i)) == 0);
            CHECK(p.node->link(out, uint32_t(ports - 1 - i)) == 0);
        }
    p.node->start();
    CHECK(host.cycles(8, 256) == both);
    int wrong = 0;
    for (int i = 0; i < ports; ++i) {
        const std::vector<float>& sound = p.node->output(uint32_t(i));
        CHECK(sound.size() == (linked(ports - 1 - i) ? 2048u : 0u));
        for (size_t k = 0; k < sound.size(); ++k)
            wrong += sound[k] != (linked(i) ? sample(uint32_t(i), k) : 0.f) + float(i);
    }
    CHECK(wrong == 0);
}

} // namespace

TEST_CASE("each input reaches the engine, each output its port") {
    check_ports(1);
    check_ports(8);
    check_ports(128);
    check_ports(7, true);
    check_ports(128, true);
}

TEST_CASE("without any ports it runs and answers all the same") {
    Host host(library());
    Playing p(host, {{"scsynth.inputs", "0"}, {"scsynth.outputs", "0"}, {"scsynth.control-inputs", "0"}});
    CHECK(p.node->ports[in].empty());
    CHECK(p.node->ports[out].empty());
    // Without outputs, bus 0 is a private bus.
    p.define("sine", sine(1000));
    p.play("sine", 1000);
    p.node->start();
    CHECK(host.cycles(100, 441) == both);
    p.client->send(osc_message("/status"));
    CHECK(p.settle() == std::vector<std::string>{"/status.reply"});
}

TEST_CASE("an output that nobody listens to isn't written") {
    Host host(library());
    Playing p(host);
    p.define("sine", sine(1000));
    p.play("sine", 1000);
    p.node->link(out, 0);
    // The test makes the link itself, so that it can look at the memory after the area is gone.
    std::array<float, 1024> memory;
    spa_chunk chunk{};
    spa_data data{};
    data.type = SPA_DATA_MemPtr;
    data.maxsize = sizeof memory;
    data.data = memory.data();
    data.chunk = &chunk;
    spa_buffer buffer{};
    buffer.n_datas = 1;
    buffer.datas = &data;
    spa_buffer* buffers[] = {&buffer};
    spa_io_buffers area = {SPA_STATUS_NEED_DATA, SPA_ID_INVALID};
    REQUIRE(p.node->set_format(out, 1, SPA_AUDIO_FORMAT_DSP_F32) == 0);
    REQUIRE(spa_node_port_use_buffers(p.node->spa(), out, 1, 0, buffers, 1) == 0);
    memory.fill(-1000);
    p.node->start();
    const auto touched = [&] {
        bool any = chunk.size != 0 || area.status != SPA_STATUS_NEED_DATA;
        for (const float each : memory)
            any |= each != -1000;
        return any;
    };
    for (const uint32_t quantum : {64u, 100u, 441u, 1024u})
        host.cycle(quantum);
    CHECK_FALSE(touched());
    // As long as it is linked, the node writes …
    REQUIRE(spa_node_port_set_io(p.node->spa(), out, 1, SPA_IO_Buffers, &area, sizeof area) == 0);
    host.cycle(100);
    CHECK(touched());
    CHECK(memory[99] == 0);
    CHECK(memory[100] == -1000); // and not beyond the cycle
    // … and afterwards it doesn't.
    REQUIRE(spa_node_port_set_io(p.node->spa(), out, 1, SPA_IO_Buffers, nullptr, 0) == 0);
    memory.fill(-1000);
    chunk = {};
    area = {SPA_STATUS_NEED_DATA, SPA_ID_INVALID};
    for (const uint32_t quantum : {64u, 100u, 441u, 1024u})
        host.cycle(quantum);
    CHECK_FALSE(touched());
    CHECK(spa_node_port_use_buffers(p.node->spa(), out, 1, 0, nullptr, 0) == 0);
}
