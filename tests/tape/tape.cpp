// SPDX-License-Identifier: GPL-3.0-or-later
// An SPA node that records its inputs inside the daemon. It runs in the cycle itself, so no busy machine makes it
// miss one, and if the daemon should leave one out, the clock's position tells.
// Factory test.tape; properties: tape.file (exists), tape.channels, tape.seconds; or instead of these seconds
// tape.silences = true, to note only how long it heard nothing, or tape.clicks = true, only when it heard clicks.
// tape.ppm: it drives the graph, too, with a clock that is that much too fast, in cycles of tape.quantum frames. This
// takes node.driver = true as well.
#include "clicks.hpp"
#include "drive.hpp"
#include "silences.hpp"
#include "tape-file.hpp"

#include <spa/node/io.h>
#include <spa/node/node.h>
#include <spa/node/utils.h>
#include <spa/param/audio/format-utils.h>
#include <spa/param/param.h>
#include <spa/pod/filter.h>
#include <spa/support/loop.h>
#include <spa/support/plugin.h>
#include <spa/utils/string.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace scs::test {
namespace {

constexpr uint32_t max_channels = 64, max_buffers = 16, max_quantum = 8192, room_rate = 48000;

struct Port {
    std::string name;
    bool has_format = false;
    std::vector<spa_buffer*> buffers; // with the next: only the data loop's
    spa_io_buffers* area = nullptr;
    std::array<spa_param_info, 4> params{{{SPA_PARAM_EnumFormat, SPA_PARAM_INFO_READ},
                                          {SPA_PARAM_IO, SPA_PARAM_INFO_READ},
                                          {SPA_PARAM_Format, SPA_PARAM_INFO_WRITE},
                                          {SPA_PARAM_Buffers, 0}}};
};

struct Tape {
    spa_hook_list hooks;
    spa_loop* data_loop;
    std::vector<Port> ports;
    std::vector<const float*> inputs;
    const spa_io_position* position = nullptr;
    enum class Takes { sound, silences, clicks } takes = Takes::sound;
    TapeFile file;
    Silences silences;
    Clicks clicks;
    Drive drive;

    template <class Action>
    int on_data_loop(Action action) {
        return spa_loop_invoke(
            data_loop,
            [](spa_loop*, bool, uint32_t, const void*, size_t, void* data) {
                (*static_cast<Action*>(data))();
                return 0;
            },
            0, nullptr, 0, true, &action);
    }
};

Tape& tape_of(void* object) {
    return *static_cast<Tape*>(object);
}

Port* find_port(Tape& tape, spa_direction direction, uint32_t id) {
    return direction == SPA_DIRECTION_INPUT && id < tape.ports.size() ? &tape.ports[id] : nullptr;
}

// ---- the cycle

const float* take(Port& port, uint32_t frames) noexcept {
    spa_io_buffers* area = port.area;
    if (!area || area->status != SPA_STATUS_HAVE_DATA || area->buffer_id >= port.buffers.size())
        return nullptr;
    area->status = SPA_STATUS_NEED_DATA;
    const spa_data& data = port.buffers[area->buffer_id]->datas[0];
    if (!data.data || data.chunk->offset > data.maxsize || data.chunk->size > data.maxsize - data.chunk->offset ||
        data.chunk->size / sizeof(float) < frames)
        return nullptr;
    return reinterpret_cast<const float*>(static_cast<const char*>(data.data) + data.chunk->offset);
}

int64_t now_nsec(clockid_t clock) noexcept {
    timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * int64_t(1'000'000'000) + now.tv_nsec;
}

/// The distance of the clocks, as well as it can be had within some attempts: the thread may stand still between them.
int64_t wall_minus_monotonic() noexcept {
    int64_t distance = 0, shortest = INT64_MAX;
    for (int attempt = 0; attempt < 8 && shortest > 200; ++attempt) {
        const int64_t before = now_nsec(CLOCK_MONOTONIC), wall = now_nsec(CLOCK_REALTIME),
                      took = now_nsec(CLOCK_MONOTONIC) - before;
        if (took < shortest) {
            shortest = took;
            distance = wall - before - took / 2;
        }
    }
    return distance;
}

int process(void* object) {
    Tape& tape = tape_of(object);
    if (tape.position) {
        const spa_io_clock& clock = tape.position->clock;
        const auto frames = uint32_t(clock.duration);
        for (size_t i = 0; i < tape.ports.size(); ++i)
            tape.inputs[i] = take(tape.ports[i], frames);
        switch (tape.takes) {
        case Tape::Takes::sound: tape.file.record(clock.position, frames, clock.rate.denom, tape.inputs); break;
        // The clock's time is that of the cycle's timer, which may lie in the past if the process stood still.
        case Tape::Takes::silences:
            tape.silences.record(uint64_t(now_nsec(CLOCK_MONOTONIC)), frames, clock.rate.denom, tape.inputs);
            break;
        case Tape::Takes::clicks:
            tape.clicks.record({int64_t(clock.nsec) + wall_minus_monotonic(), clock.position, frames, clock.rate.denom},
                               tape.inputs);
            break;
        }
    }
    return SPA_STATUS_NEED_DATA;
}

// ---- what the host is told and asks for

void emit_info(Tape& tape) {
    spa_node_info info{};
    info.max_input_ports = uint32_t(tape.ports.size());
    info.change_mask = SPA_NODE_CHANGE_MASK_FLAGS;
    info.flags = SPA_NODE_FLAG_RT;
    spa_node_emit_info(&tape.hooks, &info);
}

void emit_port(Tape& tape, uint32_t id) {
    Port& port = tape.ports[id];
    const spa_dict_item items[] = {{"format.dsp", "32 bit float mono audio"}, {"port.name", port.name.c_str()}};
    const spa_dict props = {0, uint32_t(std::size(items)), items};
    port.params[2].flags = SPA_PARAM_INFO_WRITE | (port.has_format ? SPA_PARAM_INFO_READ : 0);
    port.params[3].flags = port.has_format ? SPA_PARAM_INFO_READ : 0;
    spa_port_info info{};
    info.change_mask = SPA_PORT_CHANGE_MASK_FLAGS | SPA_PORT_CHANGE_MASK_PROPS | SPA_PORT_CHANGE_MASK_PARAMS;
    info.flags = SPA_PORT_FLAG_NO_REF | SPA_PORT_FLAG_DYNAMIC_DATA;
    info.props = &props;
    info.params = port.params.data();
    info.n_params = uint32_t(port.params.size());
    spa_node_emit_port_info(&tape.hooks, SPA_DIRECTION_INPUT, id, &info);
}

int add_listener(void* object, spa_hook* listener, const spa_node_events* events, void* data) {
    Tape& tape = tape_of(object);
    spa_hook_list others;
    spa_hook_list_isolate(&tape.hooks, &others, listener, events, data);
    emit_info(tape);
    for (uint32_t id = 0; id < tape.ports.size(); ++id)
        emit_port(tape, id);
    spa_hook_list_join(&tape.hooks, &others);
    return 0;
}

int set_callbacks(void* object, const spa_node_callbacks* callbacks, void* data) {
    tape_of(object).drive.set_callbacks(callbacks, data);
    return 0;
}

int sync(void* object, int seq) {
    spa_node_emit_result(&tape_of(object).hooks, seq, 0, 0, nullptr);
    return 0;
}

int set_io(void* object, uint32_t id, void* data, size_t size) {
    Tape& tape = tape_of(object);
    if (id == SPA_IO_Clock && tape.drive.is_open()) {
        if (data && size < sizeof(spa_io_clock))
            return -EINVAL;
        return tape.on_data_loop([&] { tape.drive.set_clock(static_cast<spa_io_clock*>(data)); });
    }
    if (id != SPA_IO_Position)
        return -ENOENT;
    if (data && size < sizeof(spa_io_position))
        return -EINVAL;
    return tape.on_data_loop([&] { tape.position = static_cast<const spa_io_position*>(data); });
}

int send_command(void* object, const spa_command* command) {
    Tape& tape = tape_of(object);
    switch (SPA_NODE_COMMAND_ID(command)) {
    case SPA_NODE_COMMAND_Start: return tape.on_data_loop([&] { tape.drive.start(); });
    case SPA_NODE_COMMAND_Pause:
    case SPA_NODE_COMMAND_Suspend: return tape.on_data_loop([&] { tape.drive.stop(); });
    default: return 0;
    }
}

void* build_param(const Port& port, uint32_t id, spa_pod_builder& b) {
    const int stride = sizeof(float);
    switch (id) {
    case SPA_PARAM_Format:
        if (!port.has_format)
            return nullptr;
        [[fallthrough]];
    case SPA_PARAM_EnumFormat:
        return spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_Format, id, SPA_FORMAT_mediaType,
                                          SPA_POD_Id(SPA_MEDIA_TYPE_audio), SPA_FORMAT_mediaSubtype,
                                          SPA_POD_Id(SPA_MEDIA_SUBTYPE_dsp), SPA_FORMAT_AUDIO_format,
                                          SPA_POD_Id(SPA_AUDIO_FORMAT_DSP_F32));
    case SPA_PARAM_Buffers:
        return spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_ParamBuffers, id, SPA_PARAM_BUFFERS_buffers,
                                          SPA_POD_CHOICE_RANGE_Int(1, 1, int(max_buffers)), SPA_PARAM_BUFFERS_blocks,
                                          SPA_POD_Int(1), SPA_PARAM_BUFFERS_size,
                                          SPA_POD_CHOICE_RANGE_Int(int(max_quantum) * stride, 16 * stride, INT32_MAX),
                                          SPA_PARAM_BUFFERS_stride, SPA_POD_Int(stride));
    case SPA_PARAM_IO:
        return spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_ParamIO, id, SPA_PARAM_IO_id, SPA_POD_Id(SPA_IO_Buffers),
                                          SPA_PARAM_IO_size, SPA_POD_Int(int(sizeof(spa_io_buffers))));
    default: return nullptr;
    }
}

/// There is one param of each kind.
int port_enum_params(void* object, int seq, spa_direction direction, uint32_t port_id, uint32_t id, uint32_t start,
                     uint32_t, const spa_pod* filter) {
    Tape& tape = tape_of(object);
    const Port* port = find_port(tape, direction, port_id);
    if (!port)
        return -EINVAL;
    uint8_t memory[1024];
    spa_pod_builder b{};
    spa_pod_builder_init(&b, memory, sizeof memory);
    auto* param = start == 0 ? static_cast<spa_pod*>(build_param(*port, id, b)) : nullptr;
    spa_result_node_params result{};
    result.id = id;
    result.next = 1;
    if (param && spa_pod_filter(&b, &result.param, param, filter) >= 0)
        spa_node_emit_result(&tape.hooks, seq, 0, SPA_RESULT_TYPE_NODE_PARAMS, &result);
    return 0;
}

int port_set_param(void* object, spa_direction direction, uint32_t id, uint32_t param_id, uint32_t,
                   const spa_pod* param) {
    Tape& tape = tape_of(object);
    Port* port = find_port(tape, direction, id);
    if (!port || param_id != SPA_PARAM_Format)
        return -ENOENT;
    port->has_format = param != nullptr;
    if (!param)
        tape.on_data_loop([&] { port->buffers.clear(); });
    emit_port(tape, id);
    return 0;
}

int port_use_buffers(void* object, spa_direction direction, uint32_t id, uint32_t, spa_buffer** buffers,
                     uint32_t count) {
    Tape& tape = tape_of(object);
    Port* port = find_port(tape, direction, id);
    if (!port || count > max_buffers)
        return -EINVAL;
    return tape.on_data_loop([&] { port->buffers.assign(buffers, buffers + count); });
}

int port_set_io(void* object, spa_direction direction, uint32_t id, uint32_t area, void* data, size_t) {
    Tape& tape = tape_of(object);
    Port* port = find_port(tape, direction, id);
    if (!port || area != SPA_IO_Buffers)
        return -ENOENT;
    return tape.on_data_loop([&] { port->area = static_cast<spa_io_buffers*>(data); });
}

const spa_node_methods methods = [] {
    spa_node_methods m{};
    m.version = SPA_VERSION_NODE_METHODS;
    m.add_listener = add_listener;
    m.set_callbacks = set_callbacks;
    m.sync = sync;
    m.set_io = set_io;
    m.send_command = send_command;
    m.port_enum_params = port_enum_params;
    m.port_set_param = port_set_param;
    m.port_use_buffers = port_use_buffers;
    m.port_set_io = port_set_io;
    m.process = process;
    return m;
}();

// ---- the plugin

struct Handle {
    spa_handle handle;
    spa_node interface;
    Tape* tape;
};

int get_interface(spa_handle* handle, const char* type, void** interface) {
    if (std::strcmp(type, SPA_TYPE_INTERFACE_Node) != 0)
        return -ENOENT;
    *interface = &reinterpret_cast<Handle*>(handle)->interface;
    return 0;
}

int clear(spa_handle* handle) {
    delete reinterpret_cast<Handle*>(handle)->tape;
    return 0;
}

size_t get_size(const spa_handle_factory*, const spa_dict*) {
    return sizeof(Handle);
}

uint32_t number(const spa_dict* info, const char* key) {
    const char* text = spa_dict_lookup(info, key);
    return text ? uint32_t(std::atoi(text)) : 0;
}

bool is_true(const spa_dict* info, const char* key) {
    const char* text = spa_dict_lookup(info, key);
    return text && spa_atob(text);
}

int open(Tape& tape, const char* path, const spa_dict* info) {
    const char* ppm = spa_dict_lookup(info, "tape.ppm");
    if (const int res = ppm ? tape.drive.open(tape.data_loop, std::atof(ppm), number(info, "tape.quantum")) : 0;
        res < 0)
        return res;
    if (is_true(info, "tape.silences")) {
        tape.takes = Tape::Takes::silences;
        return tape.silences.open(path);
    }
    if (is_true(info, "tape.clicks")) {
        tape.takes = Tape::Takes::clicks;
        return tape.clicks.open(path, tape.ports.size());
    }
    return tape.file.open(path, uint32_t(tape.ports.size()), number(info, "tape.seconds") * room_rate);
}

int init(const spa_handle_factory*, spa_handle* handle, const spa_dict* info, const spa_support* support,
         uint32_t count) {
    const char* path = info ? spa_dict_lookup(info, "tape.file") : nullptr;
    const uint32_t channels = path ? number(info, "tape.channels") : 0;
    auto* data_loop = static_cast<spa_loop*>(spa_support_find(support, count, SPA_TYPE_INTERFACE_DataLoop));
    if (!data_loop || channels < 1 || channels > max_channels)
        return -EINVAL;
    auto tape = std::make_unique<Tape>();
    spa_hook_list_init(&tape->hooks);
    tape->data_loop = data_loop;
    tape->ports.resize(channels);
    tape->inputs.resize(channels);
    for (uint32_t id = 0; id < channels; ++id) {
        tape->ports[id].name = "in_" + std::to_string(id + 1);
        tape->ports[id].buffers.reserve(max_buffers);
    }
    if (const int res = open(*tape, path, info); res < 0)
        return res;

    Handle& self = *reinterpret_cast<Handle*>(handle);
    self.handle.version = SPA_VERSION_HANDLE;
    self.handle.get_interface = get_interface;
    self.handle.clear = clear;
    self.tape = tape.release();
    self.interface.iface = {SPA_TYPE_INTERFACE_Node, SPA_VERSION_NODE, {&methods, self.tape}};
    return 0;
}

const spa_interface_info interfaces[] = {{SPA_TYPE_INTERFACE_Node}};

int enum_interface_info(const spa_handle_factory*, const spa_interface_info** info, uint32_t* index) {
    if (*index >= std::size(interfaces))
        return 0;
    *info = &interfaces[(*index)++];
    return 1;
}

const spa_handle_factory factory = {SPA_VERSION_HANDLE_FACTORY, "test.tape", nullptr, get_size, init,
                                    enum_interface_info};

} // namespace
} // namespace scs::test

extern "C" __attribute__((visibility("default"))) int spa_handle_factory_enum(const spa_handle_factory** found,
                                                                              uint32_t* index) {
    if (*index > 0)
        return 0;
    *found = &scs::test::factory;
    ++*index;
    return 1;
}
