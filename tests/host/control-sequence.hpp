// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <spa/control/control.h>
#include <spa/pod/builder.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

// What a control port brings in a cycle, as PipeWire lays it out.
namespace scs::test {

inline constexpr uint32_t ump = 4; ///< SPA_CONTROL_UMP, which headers before PipeWire 1.4 lack

struct Control {
    uint32_t offset = 0, type = SPA_CONTROL_Midi;
    std::vector<uint8_t> body;
};

inline Control note(uint32_t offset, uint8_t number, uint8_t velocity = 127) {
    return {offset, SPA_CONTROL_Midi, {0x90, number, velocity}};
}

inline Control packet(uint32_t offset, std::initializer_list<uint32_t> words) {
    std::vector<uint8_t> body(words.size() * 4);
    std::memcpy(body.data(), words.begin(), body.size());
    return {offset, ump, body};
}

inline std::vector<uint8_t> sequence(const std::vector<Control>& controls) {
    std::vector<uint8_t> bytes(65536);
    spa_pod_builder b{};
    spa_pod_builder_init(&b, bytes.data(), uint32_t(bytes.size()));
    spa_pod_frame frame;
    spa_pod_builder_push_sequence(&b, &frame, 0);
    for (const Control& control : controls) {
        spa_pod_builder_control(&b, control.offset, control.type);
        spa_pod_builder_bytes(&b, control.body.data(), uint32_t(control.body.size()));
    }
    spa_pod_builder_pop(&b, &frame);
    bytes.resize(b.state.offset);
    return bytes;
}

} // namespace scs::test
