// SPDX-License-Identifier: GPL-3.0-or-later
// A program that plays as many notes as find room in each cycle, until it is ended; or sends the OSC packet that is in
// a file, its argument, as often.
#include <pipewire/filter.h>
#include <pipewire/pipewire.h>
#include <spa/control/control.h>
#include <spa/pod/builder.h>

#include <csignal>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

namespace {

struct Keys {
    pw_main_loop* loop = nullptr;
    pw_filter* filter = nullptr;
    void* port = nullptr;
    std::minstd_rand random;
    std::vector<char> packet; ///< empty: notes
};

void add_event(Keys& keys, spa_pod_builder& b) {
    const uint8_t note[] = {uint8_t(0x90 | keys.random() % 16), uint8_t(keys.random() % 128), 100};
    if (keys.packet.empty())
        spa_pod_builder_bytes(&b, note, sizeof note);
    else
        spa_pod_builder_bytes(&b, keys.packet.data(), uint32_t(keys.packet.size()));
}

/// Fills half of the room, which leaves some to the mixer.
uint32_t write_events(Keys& keys, uint8_t* data, uint32_t room) {
    spa_pod_builder b{};
    spa_pod_builder_init(&b, data, room);
    spa_pod_frame frame;
    spa_pod_builder_push_sequence(&b, &frame, 0);
    for (uint32_t i = 0; b.state.offset + keys.packet.size() + 64 < room / 2; ++i) {
        spa_pod_builder_control(&b, i % 4096, keys.packet.empty() ? SPA_CONTROL_Midi : SPA_CONTROL_OSC);
        add_event(keys, b);
    }
    spa_pod_builder_pop(&b, &frame);
    return b.state.offset;
}

void process(void* data, spa_io_position*) {
    auto& keys = *static_cast<Keys*>(data);
    pw_buffer* const buffer = pw_filter_dequeue_buffer(keys.port);
    if (!buffer)
        return;
    spa_data& to = buffer->buffer->datas[0];
    *to.chunk = {0, write_events(keys, static_cast<uint8_t*>(to.data), to.maxsize), 1, 0};
    pw_filter_queue_buffer(keys.port, buffer);
}

} // namespace

int main(int argc, char** argv) {
    Keys keys;
    if (argc > 1) {
        std::ifstream file(argv[1], std::ios::binary);
        keys.packet.assign(std::istreambuf_iterator<char>(file), {});
    }
    pw_init(&argc, &argv);
    keys.loop = pw_main_loop_new(nullptr);
    pw_loop_add_signal(
        pw_main_loop_get_loop(keys.loop), SIGTERM,
        [](void* data, int) { pw_main_loop_quit(static_cast<Keys*>(data)->loop); }, &keys);
    static const pw_filter_events events = [] {
        pw_filter_events e{};
        e.version = PW_VERSION_FILTER_EVENTS;
        e.process = process;
        return e;
    }();
    keys.filter = pw_filter_new_simple(
        pw_main_loop_get_loop(keys.loop), "many-keys",
        pw_properties_new(PW_KEY_MEDIA_TYPE, "Midi", PW_KEY_NODE_NAME, "many-keys", nullptr), &events, &keys);
    keys.port = pw_filter_add_port(
        keys.filter, PW_DIRECTION_OUTPUT, PW_FILTER_PORT_FLAG_MAP_BUFFERS, 0,
        pw_properties_new(PW_KEY_FORMAT_DSP, "8 bit raw midi", PW_KEY_PORT_NAME, "out", nullptr), nullptr, 0);
    if (pw_filter_connect(keys.filter, PW_FILTER_FLAG_RT_PROCESS, nullptr, 0) < 0)
        return 1;
    pw_main_loop_run(keys.loop);
    pw_filter_destroy(keys.filter);
    pw_main_loop_destroy(keys.loop);
    pw_deinit();
}
