// SPDX-License-Identifier: GPL-3.0-or-later
#include "host.hpp"

#include "ugen-folders.hpp"

#include <dlfcn.h>
#include <spa/control/control.h>
#include <spa/node/utils.h>
#include <spa/param/audio/format-utils.h>
#include <spa/pod/iter.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>

namespace scs::test {

Host::Host(const std::string& library) : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_)
        throw std::runtime_error(dlerror());
    const auto enumerate = reinterpret_cast<spa_handle_factory_enum_func_t>(symbol(SPA_HANDLE_FACTORY_ENUM_FUNC_NAME));
    uint32_t index = 0;
    if (!enumerate || enumerate(&factory_, &index) != 1 || std::strcmp(factory_->name, "audio.scsynth") != 0)
        throw std::runtime_error("no factory audio.scsynth");
    trust(*enumerate, index);
    position_.clock.rate = {1, 48000};
    // Tests run faster than real time, on machines that may be busy: deadlines are for those that ask for them.
    position_.clock.flags = SPA_IO_CLOCK_FLAG_FREEWHEEL;
    thread_ = std::thread([this] {
        data_.enter();
        while (!stop_)
            data_.iterate(-1);
        data_.leave();
    });
    // Waits until the loop runs on its thread.
    while (!std::invoke([this] {
        bool on_thread = false;
        data_.run([&] { on_thread = std::this_thread::get_id() == thread_.get_id(); });
        return on_thread;
    }))
        std::this_thread::yield();
}

/// Nodes may load UGens from anywhere, as those of a daemon's own configuration may.
void Host::trust(spa_handle_factory_enum_func_t enumerate, uint32_t index) {
    const spa_handle_factory* factory = nullptr;
    if (enumerate(&factory, &index) != 1)
        throw std::runtime_error("the plugin has only one factory");
    trust_.reset(static_cast<spa_handle*>(std::calloc(1, factory->get_size(factory, nullptr))), &std::free);
    void* folders = nullptr;
    if (factory->init(factory, trust_.get(), nullptr, nullptr, 0) < 0 ||
        spa_handle_get_interface(trust_.get(), scs::spa::ugen_folders_interface, &folders) < 0)
        throw std::runtime_error("the plugin can't be told what nodes may load");
    static_cast<scs::spa::UgenFolders*>(folders)->trust(trust_.get(), true);
}

Host::~Host() {
    spa_handle_clear(trust_.get());
    data_.run([this] { stop_ = true; });
    thread_.join();
    dlclose(library_);
}

void* Host::symbol(const char* name) const {
    return dlsym(library_, name);
}

std::unique_ptr<HostNode> Host::create(const Dict& info) {
    std::vector<spa_dict_item> items;
    for (const auto& [key, value] : info)
        items.push_back({key.c_str(), value.c_str()});
    const spa_dict dict = {0, uint32_t(items.size()), items.data()};
    const spa_support support[] = {
        {SPA_TYPE_INTERFACE_Log, log_.spa()},
        {SPA_TYPE_INTERFACE_Loop, main_.loop()},
        {SPA_TYPE_INTERFACE_LoopUtils, main_.utils()},
        {SPA_TYPE_INTERFACE_DataLoop, data_.spa()},
    };
    auto* handle = static_cast<spa_handle*>(std::calloc(1, factory_->get_size(factory_, &dict)));
    error_ = factory_->init(factory_, handle, &dict, support, uint32_t(std::size(support)));
    if (error_ < 0) {
        std::free(handle);
        return nullptr;
    }
    std::unique_ptr<HostNode> node(new HostNode(*this, handle));
    error_ = node->start_up();
    return error_ < 0 ? nullptr : std::move(node);
}

int Host::cycle(uint32_t frames) {
    int status = INT_MAX;
    data_.run([&] {
        timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        position_.clock.duration = frames;
        if (position_.clock.nsec == 0)
            position_.clock.nsec = uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
        for (HostNode* node : nodes_) {
            if (!node->started_)
                continue;
            node->before_cycle(frames, position_.clock.position);
            if (before_process)
                before_process();
            const int res = spa_node_process(node->node_);
            if (after_process)
                after_process();
            status = std::min(status, res);
            node->after_cycle(frames);
        }
        position_.clock.position += frames;
        if (position_.clock.rate.denom > 0)
            position_.clock.nsec += uint64_t(frames) * 1'000'000'000 / position_.clock.rate.denom;
    });
    return status;
}

int Host::cycles(int count, uint32_t frames) {
    int status = INT_MAX;
    for (int i = 0; i < count; ++i)
        status = std::min(status, cycle(frames));
    return status;
}

// ---- HostNode

struct HostNode::Link {
    spa_direction direction;
    uint32_t port;
    bool control = false;
    spa_io_buffers area = {SPA_STATUS_NEED_DATA, SPA_ID_INVALID};
    std::vector<std::vector<float>> memory;
    std::vector<spa_chunk> chunks;
    std::vector<spa_data> datas;
    std::vector<spa_buffer> buffers;
    std::vector<spa_buffer*> pointers;

    Link(spa_direction d, uint32_t p, uint32_t frames, uint32_t count)
        : direction(d), port(p), memory(count), chunks(count), datas(count), buffers(count) {
        for (uint32_t i = 0; i < count; ++i) {
            memory[i].resize(frames);
            datas[i].type = SPA_DATA_MemPtr;
            datas[i].maxsize = uint32_t(frames * sizeof(float));
            datas[i].data = memory[i].data();
            datas[i].chunk = &chunks[i];
            buffers[i].n_datas = 1;
            buffers[i].datas = &datas[i];
            pointers.push_back(&buffers[i]);
        }
    }
};

namespace {

std::map<std::string, std::string> as_map(const spa_dict* dict) {
    std::map<std::string, std::string> map;
    for (uint32_t i = 0; dict && i < dict->n_items; ++i)
        if (dict->items[i].value) // otherwise the key is to be removed
            map[dict->items[i].key] = dict->items[i].value;
    return map;
}

} // namespace

HostNode::HostNode(Host& host, spa_handle* handle) : host_(host), handle_(handle) {}

int HostNode::start_up() {
    void* interface = nullptr;
    if (const int res = spa_handle_get_interface(handle_, SPA_TYPE_INTERFACE_Node, &interface); res < 0)
        return res;
    node_ = static_cast<spa_node*>(interface);
    static const spa_node_events events = [] {
        spa_node_events e{};
        e.version = SPA_VERSION_NODE_EVENTS;
        e.info = [](void* data, const spa_node_info* info) {
            auto& self = *static_cast<HostNode*>(data);
            ++self.infos;
            if (info->change_mask & SPA_NODE_CHANGE_MASK_PROPS)
                self.properties = as_map(info->props);
        };
        e.port_info = [](void* data, spa_direction direction, uint32_t port, const spa_port_info* info) {
            auto& self = *static_cast<HostNode*>(data);
            if (!info) {
                self.unlink(direction, port);
                self.ports[direction].erase(port);
                return;
            }
            PortInfo& known = self.ports[direction][port];
            if (info->change_mask & SPA_PORT_CHANGE_MASK_FLAGS)
                known.flags = info->flags;
            if (info->change_mask & SPA_PORT_CHANGE_MASK_PROPS)
                known.properties = as_map(info->props);
        };
        e.result = [](void* data, int, int, uint32_t type, const void* result) {
            auto& self = *static_cast<HostNode*>(data);
            if (type != SPA_RESULT_TYPE_NODE_PARAMS || !self.collected_)
                return;
            const spa_pod* pod = static_cast<const spa_result_node_params*>(result)->param;
            const auto* bytes = reinterpret_cast<const uint8_t*>(pod);
            self.collected_->emplace_back(bytes, bytes + SPA_POD_SIZE(pod));
        };
        return e;
    }();
    static const spa_node_callbacks callbacks = [] {
        spa_node_callbacks c{};
        c.version = SPA_VERSION_NODE_CALLBACKS;
        c.xrun = [](void* data, uint64_t, uint64_t, spa_pod*) {
            ++static_cast<HostNode*>(data)->xruns;
            return 0;
        };
        return c;
    }();
    spa_node_set_callbacks(node_, &callbacks, this);
    spa_node_add_listener(node_, &listener_, &events, this);
    give_position(true);
    host_.data_.run([this] { host_.nodes_.push_back(this); });
    return 0;
}

HostNode::~HostNode() {
    host_.data_.run([this] { std::erase(host_.nodes_, this); });
    if (node_) {
        suspend();
        spa_hook_remove(&listener_);
    }
    spa_handle_clear(handle_);
    std::free(handle_);
}

void HostNode::give_position(bool give) {
    spa_node_set_io(node_, SPA_IO_Position, give ? &host_.position_ : nullptr, sizeof host_.position_);
    spa_node_set_io(node_, SPA_IO_Clock, give ? &host_.position_.clock : nullptr, sizeof host_.position_.clock);
}

HostNode::Link* HostNode::find(spa_direction direction, uint32_t port) {
    for (const auto& link : links_)
        if (link->direction == direction && link->port == port)
            return link.get();
    return nullptr;
}

int HostNode::set_format(spa_direction direction, uint32_t port, uint32_t audio_format) {
    uint8_t memory[256];
    spa_pod_builder b{};
    spa_pod_builder_init(&b, memory, sizeof memory);
    spa_audio_info_dsp dsp{};
    dsp.format = spa_audio_format(audio_format);
    return spa_node_port_set_param(node_, direction, port, SPA_PARAM_Format, 0,
                                   spa_format_audio_dsp_build(&b, SPA_PARAM_Format, &dsp));
}

int HostNode::link(spa_direction direction, uint32_t port, uint32_t frames, uint32_t count) {
    if (const int res = set_format(direction, port, SPA_AUDIO_FORMAT_DSP_F32); res < 0)
        return res;
    return take(std::make_unique<Link>(direction, port, frames, count));
}

int HostNode::link_control(spa_direction direction, uint32_t port, uint32_t bytes) {
    const auto formats = port_params(direction, port, SPA_PARAM_EnumFormat);
    if (formats.size() != 1)
        return -EINVAL;
    if (const int res = spa_node_port_set_param(node_, direction, port, SPA_PARAM_Format, 0,
                                                reinterpret_cast<const spa_pod*>(formats[0].data()));
        res < 0)
        return res;
    auto link = std::make_unique<Link>(direction, port, bytes / uint32_t(sizeof(float)), 1);
    link->control = true;
    return take(std::move(link));
}

int HostNode::take(std::unique_ptr<Link> link) {
    const auto count = uint32_t(link->pointers.size());
    if (const int res = spa_node_port_use_buffers(node_, link->direction, link->port, 0, link->pointers.data(), count);
        res < 0)
        return res;
    if (const int res =
            spa_node_port_set_io(node_, link->direction, link->port, SPA_IO_Buffers, &link->area, sizeof link->area);
        res < 0)
        return res;
    host_.data_.run([&] { links_.push_back(std::move(link)); });
    return 0;
}

void HostNode::unlink(spa_direction direction, uint32_t port) {
    if (!find(direction, port))
        return;
    spa_node_port_set_io(node_, direction, port, SPA_IO_Buffers, nullptr, 0);
    spa_node_port_use_buffers(node_, direction, port, 0, nullptr, 0);
    spa_node_port_set_param(node_, direction, port, SPA_PARAM_Format, 0, nullptr);
    host_.data_.run([&] {
        std::erase_if(links_, [&](const auto& each) { return each->direction == direction && each->port == port; });
    });
}

int HostNode::command(uint32_t id) {
    spa_command command{};
    command.pod = {sizeof(spa_command_body), SPA_TYPE_Object};
    command.body.body = {SPA_TYPE_COMMAND_Node, id};
    return spa_node_send_command(node_, &command);
}

void HostNode::start() {
    command(SPA_NODE_COMMAND_Start);
    host_.data_.run([this] { started_ = true; });
}

void HostNode::pause() {
    host_.data_.run([this] { started_ = false; });
    command(SPA_NODE_COMMAND_Pause);
}

void HostNode::suspend() {
    pause();
    while (!links_.empty())
        unlink(links_.back()->direction, links_.back()->port);
    command(SPA_NODE_COMMAND_Suspend);
}

void HostNode::before_cycle(uint32_t frames, uint64_t position) {
    for (const auto& link : links_) {
        if (link->direction != SPA_DIRECTION_INPUT)
            continue;
        // A different buffer each cycle, as when an input mixer passes on the buffers of its sources.
        const uint32_t id =
            (link->area.buffer_id == SPA_ID_INVALID ? 0 : link->area.buffer_id + 1) % uint32_t(link->buffers.size());
        spa_chunk& chunk = link->chunks[id];
        chunk = {0, uint32_t(frames * sizeof(float)), sizeof(float), feed_empty ? int32_t(SPA_CHUNK_FLAG_EMPTY) : 0};
        if (link->control)
            chunk = {0,
                     uint32_t(feed_control
                                  ? feed_control(link->port, reinterpret_cast<uint8_t*>(link->memory[id].data()),
                                                 link->datas[id].maxsize)
                                  : 0),
                     1, 0};
        else if (feed)
            feed(link->port, position, link->memory[id].data(), frames);
        link->area = {SPA_STATUS_HAVE_DATA, id};
    }
}

/// Throws if it isn't a sequence that lies in the chunk.
void HostNode::read_sent(Link& link, uint32_t frames) {
    auto& [before, events] = sent_[link.port];
    if (link.area.status != SPA_STATUS_HAVE_DATA || link.area.buffer_id != 0)
        throw std::runtime_error("a control output has nothing, not even an empty sequence");
    link.area.status = SPA_STATUS_NEED_DATA;
    const spa_data& data = link.datas[0];
    const void* const pod = spa_pod_from_data(data.data, data.maxsize, data.chunk->offset, data.chunk->size);
    if (data.chunk->size > 0 || data.maxsize >= sizeof(spa_pod_sequence)) {
        if (!pod || !spa_pod_is_sequence(static_cast<const spa_pod*>(pod)) || SPA_POD_SIZE(pod) != data.chunk->size)
            throw std::runtime_error("a control output has no sequence");
        const auto* sequence = static_cast<const spa_pod_sequence*>(pod);
        const spa_pod_control* each;
        SPA_POD_SEQUENCE_FOREACH(sequence, each) {
            const auto* body = static_cast<const uint8_t*>(SPA_POD_BODY_CONST(&each->value));
            if (each->offset >= frames || each->value.type != SPA_TYPE_Bytes)
                throw std::runtime_error("a control output has an event that isn't one of the cycle");
            events.push_back({before + each->offset, each->type, {body, body + each->value.size}});
        }
    }
    before += frames;
}

void HostNode::after_cycle(uint32_t frames) {
    for (const auto& link : links_) {
        if (link->direction != SPA_DIRECTION_OUTPUT)
            continue;
        if (link->control) {
            read_sent(*link, frames);
            continue;
        }
        std::vector<float>& out = outputs_[link->port];
        const uint32_t id = link->area.buffer_id;
        if (link->area.status != SPA_STATUS_HAVE_DATA || id >= link->buffers.size()) {
            out.insert(out.end(), frames, -1000.f); // nothing came; no sound has this value
            continue;
        }
        const spa_chunk& chunk = link->chunks[id];
        const auto* samples = link->memory[id].data() + chunk.offset / sizeof(float);
        out.insert(out.end(), samples, samples + chunk.size / sizeof(float));
        link->area.status = SPA_STATUS_NEED_DATA;
    }
}

std::vector<std::vector<uint8_t>> HostNode::params(uint32_t id, int* error) {
    std::vector<std::vector<uint8_t>> found;
    collected_ = &found;
    const int res = spa_node_enum_params(node_, 0, id, 0, UINT32_MAX, nullptr);
    collected_ = nullptr;
    if (error)
        *error = res;
    return found;
}

std::vector<std::vector<uint8_t>> HostNode::port_params(spa_direction direction, uint32_t port, uint32_t id,
                                                        int* error) {
    std::vector<std::vector<uint8_t>> found;
    collected_ = &found;
    const int res = spa_node_port_enum_params(node_, 0, direction, port, id, 0, UINT32_MAX, nullptr);
    collected_ = nullptr;
    if (error)
        *error = res;
    return found;
}

spa_latency_info HostNode::latency(spa_direction port_direction, uint32_t port, spa_direction latency_direction) {
    for (const auto& bytes : port_params(port_direction, port, SPA_PARAM_Latency)) {
        spa_latency_info info;
        if (spa_latency_parse(reinterpret_cast<const spa_pod*>(bytes.data()), &info) >= 0 &&
            info.direction == latency_direction)
            return info;
    }
    throw std::runtime_error("the port tells no latency");
}

int HostNode::set_latency(spa_direction direction, uint32_t port, const spa_latency_info& latency) {
    uint8_t memory[512];
    spa_pod_builder b{};
    spa_pod_builder_init(&b, memory, sizeof memory);
    return spa_node_port_set_param(node_, direction, port, SPA_PARAM_Latency, 0,
                                   spa_latency_build(&b, SPA_PARAM_Latency, &latency));
}

} // namespace scs::test
