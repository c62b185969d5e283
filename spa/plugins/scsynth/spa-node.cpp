// SPDX-License-Identifier: GPL-3.0-or-later
#include "spa-node.hpp"

#include "dict.hpp"
#include "engine/base/c-locale.hpp"
#include "engine/simd/isa.hpp"
#include "host-threads.hpp"
#include "layout.hpp"

#include <spa/node/utils.h>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <new>

namespace scs::spa {
namespace {

// Mixers list nodes of this class. WirePlumber makes no links for one that says nothing of its formats (EnumFormat), so
// that it stays our policy's.
constexpr const char* stream_class = "Stream/Output/Audio";

constexpr timespec report_interval = {1, 0}; // set_idle() counts them

spa_log_level spa_level(osc::ServerSettings::Level level) {
    using Level = osc::ServerSettings::Level;
    switch (level) {
    case Level::error: return SPA_LOG_LEVEL_ERROR;
    case Level::warning:
    case Level::output: return SPA_LOG_LEVEL_WARN;
    case Level::info: return SPA_LOG_LEVEL_INFO;
    case Level::debug: break;
    }
    return SPA_LOG_LEVEL_DEBUG;
}

} // namespace

SpaNode::SpaNode(const Support& support, NodeSettings settings)
    : support_(support),
      settings_(std::move(settings)),
      bridge_(std::make_shared<Bridge>(support.log, support.main_utils)),
      cycle_({uint32_t(settings_.server.engine.inputs), uint32_t(settings_.server.engine.outputs),
              uint32_t(settings_.control_inputs), uint32_t(settings_.server.control_outputs)},
             uint32_t(settings_.server.engine.max_quantum), settings_.graph_rate, settings_.server.engine.cpu_limit),
      volume_(volume_at_start(settings_)) {
    spa_hook_list_init(&hooks_);
    if (settings_.server.control_osc)
        cycle_.take_osc();
    const Settings& engine = settings_.server.engine;
    const std::vector<uint32_t> input_channels = place_channels({}, uint32_t(engine.inputs));
    for (uint32_t i = 0; i < uint32_t(engine.inputs); ++i)
        ports(SPA_DIRECTION_INPUT).emplace_back(SPA_DIRECTION_INPUT, i, input_channels[i]);
    for (uint32_t i = 0; i < uint32_t(settings_.control_inputs); ++i)
        ports(SPA_DIRECTION_INPUT).push_back(Port::control(SPA_DIRECTION_INPUT, uint32_t(engine.inputs) + i, i));
    for (uint32_t i = 0; i < uint32_t(engine.outputs); ++i)
        ports(SPA_DIRECTION_OUTPUT).emplace_back(SPA_DIRECTION_OUTPUT, i, volume_.channels()[i], settings_.names[i]);
    for (uint32_t i = 0; i < uint32_t(settings_.server.control_outputs); ++i)
        ports(SPA_DIRECTION_OUTPUT).push_back(Port::control(SPA_DIRECTION_OUTPUT, uint32_t(engine.outputs) + i, i));
    for (uint32_t i = 0; i < uint32_t(engine.outputs); ++i) {
        cycle_.gain(i).start_at(volume_.gain(i));
        if (engine.output_limit > 0)
            cycle_.gain(i).limit_to(float(engine.output_limit));
    }
    params_[prop_info] = {SPA_PARAM_PropInfo, SPA_PARAM_INFO_READ};
    params_[props] = {SPA_PARAM_Props, SPA_PARAM_INFO_READWRITE};
    params_[process_latency] = {SPA_PARAM_ProcessLatency, SPA_PARAM_INFO_READ};
    params_[io] = {SPA_PARAM_IO, SPA_PARAM_INFO_READ};
    params_[format] = {SPA_PARAM_Format, is_stream() ? SPA_PARAM_INFO_READ : 0u};
}

SpaNode::~SpaNode() {
    bridge_->close();
    if (wake_fd_ >= 0)
        close(wake_fd_);
}

int SpaNode::start() {
    for (const std::string& warning : settings_.warnings)
        bridge_->log(SPA_LOG_LEVEL_WARN, warning);
    if (const Settings& engine = settings_.server.engine; resamples())
        cycle_.set_rate_adapter(std::make_unique<RateAdapter>(engine.block_size, engine.inputs, engine.outputs,
                                                              engine.max_quantum, settings_.sample_rate));
    wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd_ < 0)
        return -errno;
    if (const int res = start_server(); res < 0)
        return res;
    if (const int res = enter_loops(); res < 0)
        return res;
    return update_latencies();
}

int SpaNode::start_server() {
    osc::ServerSettings server = settings_.server;
    server.log = [bridge = bridge_](osc::ServerSettings::Level level, const std::string& text) {
        bridge->log(spa_level(level), text);
    };
    server.state = [bridge = bridge_](const std::string& state) { bridge->report_state(state); };
    server.quit = [bridge = bridge_] { bridge->report_quit(); };
    server.rouse = [bridge = bridge_] { bridge->report_roused(); };
    server.helpers = host_helpers(support_.thread_utils);
    server.wake = [fd = wake_fd_] { eventfd_write(fd, 1); };

    set_property("scsynth.state", "starting");
    errno = 0;
    Result<std::unique_ptr<osc::Server>> started = osc::Server::start(std::move(server));
    if (!started) {
        // The error is a sentence for the log; what the host can pass on is a number.
        const int reason = errno;
        bridge_->log(SPA_LOG_LEVEL_ERROR, started.error());
        if (reason == EADDRINUSE || reason == EADDRNOTAVAIL || reason == EACCES)
            return -reason;
        failure_ = started.error();
        return -EIO;
    }
    server_ = std::move(started.value());

    const std::string port = std::to_string(server_->port());
    const std::string suffix = server_->port() == 57110 ? "" : "-" + port;
    const std::string& name = settings_.name;
    set_property("node.name", name.empty() ? "scsynth" + suffix : name);
    // pipewire-jack and pw-link name the ports by it. This is what scsynth calls itself.
    set_property("node.description", name.empty() ? "SuperCollider" + suffix : name);
    set_property("media.name", "SuperCollider server, port " + port);
    set_property("node.always-process", "true");
    set_property("scsynth.autoconnect", "true");
    set_property("scsynth.osc.port", port);
    set_property("scsynth.idle", "false");
    set_property("scsynth.unheard", "false");
    if (is_stream())
        set_property("media.class", stream_class);
    // What was asked for is not replaced by what was remembered.
    if (volume_ != Volume(volume_.channels(), 1, false))
        set_property("state.restore-props", "false");
    if (!settings_.positions.empty()) // for the policy, in place of the layout's name
        set_property("scsynth.layout", channel_names(settings_.positions));
    set_counters();
    if (settings_.sample_rate > 0) // first ask the graph for our rate: if it takes it, nothing is resampled
        set_property("node.rate", "1/" + std::to_string(settings_.sample_rate));
    if (resamples())
        set_property("scsynth.resampling", "no");
    for (const auto& [key, value] : settings_.given) {
        if (key == "scsynth.sink" || key == "scsynth.source")
            set_property("state.restore-target", "false");
        set_property(key, value);
    }
    return 0;
}

int SpaNode::enter_loops() {
    news_ = spa_loop_utils_add_event(
        support_.main_utils, [](void* node, uint64_t) { static_cast<SpaNode*>(node)->call(&SpaNode::on_news); }, this);
    timer_ = spa_loop_utils_add_timer(
        support_.main_utils, [](void* node, uint64_t) { static_cast<SpaNode*>(node)->call(&SpaNode::on_timer); }, this);
    if (!news_ || !timer_)
        return -EIO;
    timespec value = report_interval, interval = report_interval;
    spa_loop_utils_update_timer(support_.main_utils, timer_, &value, &interval, false);
    bridge_->set_event(news_);
    on_news();

    idle_.fd = wake_fd_;
    idle_.mask = SPA_IO_IN;
    idle_.data = this;
    idle_.func = [](spa_source* source) {
        auto* self = static_cast<SpaNode*>(source->data);
        eventfd_t count;
        eventfd_read(source->fd, &count);
        self->guard_data_loop();
        // What is left over waits for the next turn of the loop, so that cycles come in between.
        if (self->cycle_.run_idle())
            eventfd_write(source->fd, 1);
    };
    Engine::prepare_process();
    int added = -EIO;
    const int res = on_data_loop([&] {
        cycle_.set_server(server_.get());
        added = spa_loop_add_source(support_.data_loop, &idle_);
    });
    if (res < 0)
        return res;
    in_data_loop_ = true;
    // A node of the daemon's configuration comes before the data loop's thread: that was done by the main loop.
    eventfd_write(wake_fd_, 1);
    return added;
}

void SpaNode::guard_data_loop() noexcept {
    if (guards_data_loop_)
        return;
    guards_data_loop_ = true;
    Engine::prepare_thread();
    lacks_timer_.store(!Engine::watch_thread(), std::memory_order_relaxed);
}

int SpaNode::stop() {
    if (in_data_loop_) {
        const int res = on_data_loop([this] {
            if (idle_.loop)
                spa_loop_remove_source(support_.data_loop, &idle_);
            cycle_.set_server(nullptr);
            if (guards_data_loop_)
                Engine::unwatch_thread();
        });
        if (res < 0)
            return res;
        in_data_loop_ = false;
    }
    bridge_->set_event(nullptr);
    for (spa_source** source : {&news_, &timer_}) {
        if (*source)
            spa_loop_utils_destroy_source(support_.main_utils, *source);
        *source = nullptr;
    }
    server_.reset();
    return 0;
}

// ---- what the main loop is told

// Nothing may be thrown into the host's loop. What fails for want of memory is tried again when the timer fires.
void SpaNode::call(void (SpaNode::*action)()) noexcept {
    try {
        (this->*action)();
    } catch (const std::bad_alloc&) {
    }
}

void SpaNode::on_news() {
    Bridge::News news = bridge_->take();
    if (!news.state.empty())
        untold_ |= set_property("scsynth.state", std::move(news.state));
    if (news.quit)
        untold_ |= set_property("scsynth.state", "quit");
    quits_ |= news.quit;
    if (news.roused)
        untold_ |= set_idle(true);
    if (untold_)
        set_counters();
    tell();
}

void SpaNode::on_timer() {
    if (lacks_timer_.exchange(false, std::memory_order_relaxed))
        bridge_->log(SPA_LOG_LEVEL_WARN, "the system has no timer left: a UGen without end would stop the daemon");
    untold_ |= set_counters();
    untold_ |= set_idle(false);
    untold_ |= set_unheard();
    untold_ |= resamples() && set_resampling();
    tell();
    if (cycle_.input_delay() != reported_delay_)
        update_latencies();
}

void SpaNode::tell() {
    if (untold_)
        emit_info(SPA_NODE_CHANGE_MASK_PROPS);
    untold_ = false;
    if (quits_)
        remove_ports();
    quits_ = false;
}

void SpaNode::remove_ports() {
    std::vector<std::vector<spa_buffer*>> unused(ports_[0].size() + ports_[1].size());
    // Before the host lets go of a port it undoes links, buffers and formats, so the ports must exist until then.
    for (std::vector<Port>& direction : ports_)
        for (const Port& port : direction)
            spa_node_emit_port_info(&hooks_, port.direction(), port.id(), nullptr);
    on_data_loop([&] {
        auto buffers = unused.begin();
        for (const std::vector<Port>& direction : ports_)
            for (const Port& port : direction) {
                PortIo& io = cycle_.port(port.direction(), port.id());
                io.set_area(nullptr);
                io.swap_buffers(*buffers++);
            }
    });
    for (std::vector<Port>& direction : ports_)
        direction.clear();
}

bool SpaNode::set_property(const std::string& key, std::string value) {
    for (auto& [each, present] : properties_)
        if (each == key) {
            present.swap(value);
            return present != value;
        }
    properties_.emplace_back(key, std::move(value));
    return true;
}

bool SpaNode::set_counters() {
    const osc::PacketCounters& packets = server_->counters();
    bool changed = set_property("scsynth.packets.received", std::to_string(packets.received));
    changed |= set_property("scsynth.packets.decoded", std::to_string(packets.decoded));
    changed |= set_property("scsynth.packets.rejected", std::to_string(packets.rejected));
    changed |= set_property("scsynth.packets.refused", std::to_string(packets.refused));
    changed |= set_property("scsynth.packets.kernel-dropped", std::to_string(packets.kernel_dropped));
    changed |= set_property("scsynth.overruns", std::to_string(cycle_.overruns()));
    changed |= set_property("scsynth.control.received", std::to_string(cycle_.control().received()));
    static const EngineStatus none_yet;
    Engine* engine = server_->engine();
    const EngineStatus& status = engine ? engine->status() : none_yet;
    if (engine) { // in place of what was asked for, which leaves it to the engine
        changed |= set_property("scsynth.supercollider", std::string(name_of(status.release)));
        Isa isa;
        if (parse_isa(engine->settings().simd, isa))
            changed |= set_property("scsynth.simd", isa_name(isa));
        changed |= set_property("scsynth.threads", std::to_string(engine->settings().threads));
    }
    changed |=
        set_property("scsynth.control.refused", std::to_string(cycle_.control().refused() + status.refused_control));
    changed |= set_property("scsynth.control.sent", std::to_string(cycle_.control_out().sent()));
    changed |=
        set_property("scsynth.control.unsent", std::to_string(cycle_.control_out().unsent() + status.unsent_control));
    changed |= set_property("scsynth.pointer-missing", status.pointer_missing ? "true" : "false");
    changed |= set_property("scsynth.late", std::to_string(status.late_bundles));
    changed |= set_property("scsynth.dropped-events", std::to_string(status.dropped_events));
    changed |= set_property("scsynth.cuts", std::to_string(status.cuts));
    changed |= set_property("scsynth.ended", std::to_string(status.ended));
    changed |= set_property("scsynth.paused", std::to_string(status.paused));
    changed |= set_property("scsynth.ahead", std::to_string(status.computed_ahead));
    changed |= set_property("scsynth.pipelined", std::to_string(status.pipelined));
    changed |= set_property("scsynth.bad-blocks", std::to_string(status.bad_blocks));
    changed |= set_property("scsynth.streams.silent", std::to_string(status.silent_frames));
    changed |= set_property("scsynth.streams.dropped", std::to_string(status.dropped_frames));
    // In steps of 5 %: each change goes to all clients of PipeWire.
    changed |= set_property("scsynth.load", std::to_string(5 * std::lround(status.average_cpu / 5)) + " %");
    return changed;
}

bool SpaNode::set_idle(bool roused) {
    Engine* engine = server_->engine();
    // Whoever has bound keys wants to hear the first one.
    const bool needed =
        roused || !engine || engine->status().synths > 0 || engine->status().scheduled || engine->status().bindings > 0;
    silent_seconds_ = needed ? 0 : std::min(silent_seconds_ + 1, settings_.idle_after);
    const bool idle = settings_.idle_after > 0 && silent_seconds_ == settings_.idle_after;
    if (!set_property("scsynth.idle", idle ? "true" : "false"))
        return false;
    if (idle)
        server_->rest();
    return true;
}

bool SpaNode::set_unheard() {
    const std::vector<Port>& outputs = ports(SPA_DIRECTION_OUTPUT);
    Engine* engine = server_->engine();
    if (!engine || settings_.server.engine.outputs == 0 || !links_itself())
        return false;
    const bool linked = std::any_of(outputs.begin(), outputs.end(),
                                    [](const Port& port) { return !port.is_control() && port.linked(); });
    const std::string line = unheard_.second(engine->status().synths > 0, linked);
    if (!line.empty())
        server_->warn(line);
    return set_property("scsynth.unheard", unheard_.asks() ? "true" : "false");
}

bool SpaNode::links_itself() const {
    bool links = false;
    for (const auto& [key, value] : properties_) {
        if (key == "scsynth.sink" && value == no_device)
            return false;
        links |= key == "scsynth.autoconnect" && (value == "true" || value == "1");
    }
    return links;
}

bool SpaNode::resamples() const {
    return settings_.sample_rate > 0 || settings_.keep_rate;
}

bool SpaNode::set_resampling() {
    const double rate = cycle_.graph_rate();
    const int engine_rate = cycle_.kept_rate();
    char text[160] = "no";
    const CLocale numbers;
    if (cycle_.resampled())
        std::snprintf(text, sizeof text, "engine at %d Hz in a graph of %.0f Hz: resampled, adds %d frames (%.1f ms)",
                      engine_rate, rate, cycle_.input_delay(), cycle_.input_delay() / rate * 1000);
    else if (engine_rate != 0 && rate != engine_rate)
        std::snprintf(text, sizeof text, "engine at the graph's %.0f Hz: too far from %d to be resampled", rate,
                      engine_rate);
    else if (engine_rate == 0 && rate_in_use() && rate > highest_resampled(port_count()))
        std::snprintf(text, sizeof text,
                      "engine follows the graph's %.0f Hz: with %d inputs and outputs at most %d Hz can be kept", rate,
                      port_count(), highest_resampled(port_count()));
    if (!set_property("scsynth.resampling", text))
        return false;
    bridge_->log(SPA_LOG_LEVEL_WARN, text == std::string("no") ? "not resampled any more" : text);
    return true;
}

int SpaNode::port_count() const {
    return settings_.server.engine.inputs + settings_.server.engine.outputs;
}

/// Whether something in the engine depends on its rate, so that it would be kept.
bool SpaNode::rate_in_use() const {
    Engine* engine = server_->engine();
    return engine && engine->status().rate_in_use.load(std::memory_order_relaxed);
}

void SpaNode::emit_info(uint64_t change_mask) {
    Dict properties(properties_);
    if (!settings_.server.password.empty())
        properties.remove("scsynth.password"); // PipeWire makes properties of all settings; every client can read them
    spa_node_info info{};
    info.max_input_ports = uint32_t(settings_.server.engine.inputs + settings_.control_inputs);
    info.max_output_ports = uint32_t(settings_.server.engine.outputs + settings_.server.control_outputs);
    info.change_mask = change_mask;
    info.flags = SPA_NODE_FLAG_RT;
    info.props = const_cast<spa_dict*>(properties.get());
    info.params = params_.data();
    info.n_params = uint32_t(params_.size());
    spa_node_emit_info(&hooks_, &info);
}

void SpaNode::emit_port(Port& port, bool all) {
    const spa_port_info info = port.info(all);
    if (info.change_mask)
        spa_node_emit_port_info(&hooks_, port.direction(), port.id(), &info);
}

// ---- what the host asks for

int SpaNode::add_listener(spa_hook* listener, const spa_node_events* events, void* data) {
    spa_hook_list others;
    spa_hook_list_isolate(&hooks_, &others, listener, events, data);
    ++greetings_;
    emit_info(SPA_NODE_CHANGE_MASK_FLAGS | SPA_NODE_CHANGE_MASK_PROPS | SPA_NODE_CHANGE_MASK_PARAMS);
    for (std::vector<Port>& direction : ports_)
        for (Port& port : direction)
            emit_port(port, true);
    --greetings_;
    spa_hook_list_join(&hooks_, &others);
    return 0;
}

int SpaNode::set_callbacks(const spa_node_callbacks* callbacks, void* data) {
    return on_data_loop([&] { cycle_.set_callbacks(callbacks, data); });
}

int SpaNode::sync(int seq) {
    spa_node_emit_result(&hooks_, seq, 0, 0, nullptr);
    return 0;
}

int SpaNode::set_io(uint32_t id, void* data, size_t size) {
    if (data && size < (id == SPA_IO_Clock ? sizeof(spa_io_clock) : sizeof(spa_io_position)))
        return -EINVAL;
    switch (id) {
    case SPA_IO_Clock:
        clock_ = static_cast<const spa_io_clock*>(data);
        // While PipeWire 0.3.65 registers a node it gives it a position and clock of its own, even if it has already
        // assigned the node to a driver. Then the position that the node had before, the driver's, is the right one.
        if (displaced_position_)
            position_ = std::exchange(displaced_position_, nullptr);
        break;
    case SPA_IO_Position: {
        const auto* position = static_cast<const spa_io_position*>(data);
        const bool own = position && &position->clock == clock_;
        displaced_position_ = own && position_ != position ? position_ : nullptr;
        position_ = position;
        break;
    }
    default: return -ENOENT;
    }
    return on_data_loop([this] {
        cycle_.set_clock(clock_);
        cycle_.set_position(position_);
    });
}

int SpaNode::send_command(const spa_command* command) {
    if (!command)
        return -EINVAL;
    displaced_position_ = nullptr;
    switch (SPA_NODE_COMMAND_ID(command)) {
    case SPA_NODE_COMMAND_Start: return on_data_loop([&] { cycle_.start(); });
    case SPA_NODE_COMMAND_Pause:
    case SPA_NODE_COMMAND_Suspend: // the host takes formats and buffers away by itself
        return 0;
    default: return -ENOTSUP;
    }
}

Port* SpaNode::find_port(spa_direction direction, uint32_t id) {
    if (direction != SPA_DIRECTION_INPUT && direction != SPA_DIRECTION_OUTPUT)
        return nullptr;
    return id < ports(direction).size() ? &ports(direction)[id] : nullptr;
}

int SpaNode::port_use_buffers(spa_direction direction, uint32_t id, uint32_t, spa_buffer** buffers, uint32_t count) {
    Port* port = find_port(direction, id);
    if (!port || (count > 0 && !buffers))
        return -EINVAL;
    if (count > 0 && !port->has_format())
        return -EIO;
    if (count > Port::max_buffers)
        return -ENOSPC;
    std::vector<spa_buffer*> used(buffers, buffers + count);
    for (const spa_buffer* buffer : used) {
        if (buffer->n_datas == 0 || !buffer->datas[0].chunk)
            return -EINVAL;
        // An input's memory may come later, with each cycle's data.
        if (direction == SPA_DIRECTION_OUTPUT && !buffer->datas[0].data)
            return -EINVAL;
    }
    port->set_has_buffers(count > 0);
    return on_data_loop([&] { cycle_.port(direction, id).swap_buffers(used); });
}

int SpaNode::port_set_io(spa_direction direction, uint32_t id, uint32_t area, void* data, size_t size) {
    Port* port = find_port(direction, id);
    if (!port || (data && size < sizeof(spa_io_buffers)))
        return -EINVAL;
    if (area != SPA_IO_Buffers)
        return -ENOENT;
    port->set_has_area(data != nullptr);
    return on_data_loop([&] { cycle_.port(direction, id).set_area(static_cast<spa_io_buffers*>(data)); });
}

int SpaNode::port_reuse_buffer(uint32_t id, uint32_t) {
    return find_port(SPA_DIRECTION_OUTPUT, id) ? 0 : -EINVAL;
}

} // namespace scs::spa
