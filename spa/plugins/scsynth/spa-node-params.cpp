// SPDX-License-Identifier: GPL-3.0-or-later
#include "spa-node.hpp"

#include "layout.hpp"

#include <spa/node/utils.h>
#include <spa/param/audio/raw.h>
#include <spa/param/format.h>
#include <spa/param/props.h>
#include <spa/pod/filter.h>
#include <spa/pod/parser.h>

#include <cerrno>
#include <limits>
#include <string_view>
#include <utility>

namespace scs::spa {
namespace {

constexpr int64_t max_offset_nsec = 10'000'000'000;
constexpr size_t longest_words = 500; ///< bytes of a line that the policy gives
constexpr size_t most_in_mixers = 64; ///< outputs; PipeWire up to 1.4 has no room for more in one format

spa_pod* object(void* pod) {
    return static_cast<spa_pod*>(pod);
}

constexpr spa_direction reverse(spa_direction direction) {
    return direction == SPA_DIRECTION_INPUT ? SPA_DIRECTION_OUTPUT : SPA_DIRECTION_INPUT;
}

spa_pod* io_area(spa_pod_builder& b, uint32_t id, uint32_t area, size_t size) {
    return object(spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_ParamIO, id, SPA_PARAM_IO_id, SPA_POD_Id(area),
                                             SPA_PARAM_IO_size, SPA_POD_Int(int(size))));
}

} // namespace

/// Emits the params from number `start` on that pass the filter, at most `num`. `build` makes number `index`, or
/// returns null and perhaps sets an error.
template <class Build>
int SpaNode::enumerate(int seq, uint32_t id, uint32_t start, uint32_t num, const spa_pod* filter, Build&& build) {
    if (num == 0)
        return -EINVAL;
    spa_result_node_params result{};
    result.id = id;
    uint32_t emitted = 0;
    for (uint32_t index = start; emitted < num; ++index) {
        uint8_t memory[20480]; // twice the volumes and the names of 1024 channels: filtering makes a copy
        spa_pod_builder b{};
        spa_pod_builder_init(&b, memory, sizeof memory);
        int error = 0;
        spa_pod* param = build(index, b, error);
        if (!param)
            return error;
        result.index = index;
        result.next = index + 1;
        if (spa_pod_filter(&b, &result.param, param, filter) < 0)
            continue;
        emit_param(seq, result);
        ++emitted;
    }
    return 0;
}

/// To all listeners; to the last one, which asks, while others are being told what there is. PipeWire takes any result
/// that its own listener hears then for the end of the node's initialisation, and makes the node active. In the end it
/// gives the node the clock of no driver, so that since 1.2 the node isn't run before it is linked.
void SpaNode::emit_param(int seq, const spa_result_node_params& result) {
    if (greetings_ == 0) {
        spa_node_emit_result(&hooks_, seq, 0, SPA_RESULT_TYPE_NODE_PARAMS, &result);
        return;
    }
    const spa_hook* const asks = spa_list_last(&hooks_.list, spa_hook, link);
    spa_callbacks_call(&asks->cb, spa_node_events, result, 0, seq, 0, SPA_RESULT_TYPE_NODE_PARAMS, &result);
}

int SpaNode::enum_params(int seq, uint32_t id, uint32_t start, uint32_t num, const spa_pod* filter) {
    return enumerate(seq, id, start, num, filter, [&](uint32_t index, spa_pod_builder& b, int& error) -> spa_pod* {
        switch (id) {
        case SPA_PARAM_PropInfo:
            if (index > 0)
                return Volume::info(index - 1, b);
            return object(spa_pod_builder_add_object(
                &b, SPA_TYPE_OBJECT_PropInfo, id, SPA_PROP_INFO_id, SPA_POD_Id(SPA_PROP_latencyOffsetNsec),
                SPA_PROP_INFO_description, SPA_POD_String("Added to the output latency that bundles are timed by (ns)"),
                SPA_PROP_INFO_type, SPA_POD_CHOICE_RANGE_Long(int64_t(0), -max_offset_nsec, max_offset_nsec)));
        case SPA_PARAM_Props: {
            if (index > 0)
                return nullptr;
            spa_pod_frame frame;
            spa_pod_builder_push_object(&b, &frame, SPA_TYPE_OBJECT_Props, id);
            spa_pod_builder_add(&b, SPA_PROP_latencyOffsetNsec, SPA_POD_Long(latency_offset_nsec_), 0);
            volume_.write(b);
            return object(spa_pod_builder_pop(&b, &frame));
        }
        case SPA_PARAM_Format: {
            if (index > 0 || !is_stream())
                return nullptr;
            // For mixers alone, which want to know the channels and some rate; the ports have their own.
            const std::vector<uint32_t>& channels = volume_.channels();
            return object(spa_pod_builder_add_object(
                &b, SPA_TYPE_OBJECT_Format, id, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_audio),
                SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_AUDIO_format,
                SPA_POD_Id(SPA_AUDIO_FORMAT_F32P), SPA_FORMAT_AUDIO_rate,
                SPA_POD_Int(cycle_.graph_rate() > 0 ? int(cycle_.graph_rate()) : settings_.graph_rate),
                SPA_FORMAT_AUDIO_channels, SPA_POD_Int(int(channels.size())), SPA_FORMAT_AUDIO_position,
                SPA_POD_Array(sizeof(uint32_t), SPA_TYPE_Id, uint32_t(channels.size()), channels.data())));
        }
        case SPA_PARAM_ProcessLatency: {
            const spa_process_latency_info latency = own_latency();
            return index > 0 ? nullptr : spa_process_latency_build(&b, id, &latency);
        }
        case SPA_PARAM_IO:
            if (index == 0)
                return io_area(b, id, SPA_IO_Clock, sizeof(spa_io_clock));
            return index == 1 ? io_area(b, id, SPA_IO_Position, sizeof(spa_io_position)) : nullptr;
        default: error = -ENOENT; return nullptr;
        }
    });
}

int SpaNode::set_param(uint32_t id, uint32_t flags, const spa_pod* param) {
    if (id != SPA_PARAM_Props)
        return -ENOENT;
    int64_t offset = param ? latency_offset_nsec_ : 0;
    Volume volume = param ? volume_ : volume_at_start(settings_);
    spa_pod* words = nullptr;
    if (param && spa_pod_parse_object(param, SPA_TYPE_OBJECT_Props, nullptr, SPA_PROP_latencyOffsetNsec,
                                      SPA_POD_OPT_Long(&offset), SPA_PROP_params, SPA_POD_OPT_Pod(&words)) < 0)
        return -EINVAL;
    if (offset < -max_offset_nsec || offset > max_offset_nsec || (param && !volume.read(param)))
        return -EINVAL;
    if (flags & SPA_NODE_PARAM_FLAG_TEST_ONLY)
        return 0;
    take_words(words);
    set_volume(std::move(volume));
    return set_latency_offset(offset);
}

void SpaNode::take_words(const spa_pod* params) {
    spa_pod_parser parser;
    spa_pod_frame frame;
    if (!params)
        return;
    spa_pod_parser_pod(&parser, params);
    if (spa_pod_parser_push_struct(&parser, &frame) < 0)
        return;
    const char *key = nullptr, *text = nullptr;
    while (spa_pod_parser_get_string(&parser, &key) >= 0 && spa_pod_parser_get_string(&parser, &text) >= 0) {
        const std::string_view words = std::string_view(text).substr(0, longest_words);
        if (std::string_view(key) == "scsynth.unheard")
            unheard_.answer(std::string(words));
        else if (std::string_view(key) == "scsynth.notice")
            server_->warn(std::string(words));
    }
}

int SpaNode::port_enum_params(int seq, spa_direction direction, uint32_t port, uint32_t id, uint32_t start,
                              uint32_t num, const spa_pod* filter) {
    const Port* found = find_port(direction, port);
    if (!found)
        return -EINVAL;
    return enumerate(seq, id, start, num, filter, [&](uint32_t index, spa_pod_builder& b, int& error) {
        return found->param(id, index, uint32_t(settings_.server.engine.max_quantum), b, error);
    });
}

int SpaNode::port_set_param(spa_direction direction, uint32_t id, uint32_t param_id, uint32_t flags,
                            const spa_pod* param) {
    Port* port = find_port(direction, id);
    if (!port)
        return -EINVAL;
    const bool test_only = flags & SPA_NODE_PARAM_FLAG_TEST_ONLY;
    switch (param_id) {
    case SPA_PARAM_Format: {
        if (const int res = port->set_format(param, test_only); res < 0 || test_only)
            return res;
        if (!param) {
            port->set_has_buffers(false);
            std::vector<spa_buffer*> none;
            if (const int res = on_data_loop([&] { cycle_.port(direction, id).swap_buffers(none); }); res < 0)
                return res;
        }
        emit_port(*port, false);
        return 0;
    }
    case SPA_PARAM_Latency: {
        const spa_direction other = reverse(direction);
        spa_latency_info latency = SPA_LATENCY_INFO(other);
        if (param && spa_latency_parse(param, &latency) < 0)
            return -EINVAL;
        // The host tells a port the latency outside the node; the one inside, the port tells the host.
        if (latency.direction != other)
            return -EINVAL;
        if (test_only || !port->set_latency(latency))
            return 0;
        return update_latencies();
    }
    default: return -ENOENT;
    }
}

// ---- volume

Volume volume_at_start(const NodeSettings& settings) {
    return {place_channels(settings.positions, uint32_t(settings.server.engine.outputs)), float(settings.volume),
            settings.mute};
}

bool SpaNode::is_stream() const {
    return !volume_.channels().empty() && volume_.channels().size() <= most_in_mixers;
}

void SpaNode::set_volume(Volume volume) {
    if (volume == volume_)
        return;
    volume_ = std::move(volume);
    for (uint32_t i = 0; i < volume_.channels().size(); ++i)
        cycle_.gain(i).set(volume_.gain(i));
    params_[props].flags ^= SPA_PARAM_INFO_SERIAL;
    emit_info(SPA_NODE_CHANGE_MASK_PARAMS);
}

// ---- latency

spa_process_latency_info SpaNode::own_latency() const {
    spa_process_latency_info latency{};
    latency.rate = uint32_t(reported_delay_);
    return latency;
}

int SpaNode::set_latency_offset(int64_t nsec) {
    if (nsec == latency_offset_nsec_)
        return 0;
    latency_offset_nsec_ = nsec;
    params_[props].flags ^= SPA_PARAM_INFO_SERIAL;
    emit_info(SPA_NODE_CHANGE_MASK_PARAMS);
    return update_latencies();
}

int SpaNode::update_latencies() {
    if (const int delay = cycle_.input_delay(); delay != reported_delay_) {
        reported_delay_ = delay;
        params_[process_latency].flags ^= SPA_PARAM_INFO_SERIAL;
        emit_info(SPA_NODE_CHANGE_MASK_PARAMS);
    }
    spa_latency_info output{};
    for (const spa_direction direction : {SPA_DIRECTION_INPUT, SPA_DIRECTION_OUTPUT}) {
        // The latency beyond all ports of the other side, and our own delay between the two sides.
        spa_latency_info sum;
        spa_latency_info_combine_start(&sum, direction);
        for (const Port& port : ports(reverse(direction)))
            if (!port.is_control())
                spa_latency_info_combine(&sum, &port.latency(direction));
        spa_latency_info_combine_finish(&sum);
        sum.min_quantum += float(settings_.uncounted_cycles);
        sum.max_quantum += float(settings_.uncounted_cycles);
        if (direction == SPA_DIRECTION_INPUT)
            output = sum;
        const spa_process_latency_info own = own_latency();
        spa_process_latency_info_add(&own, &sum);
        for (Port& port : ports(direction))
            port.set_latency(sum);
    }
    for (std::vector<Port>& direction : ports_)
        for (Port& port : direction)
            emit_port(port, false);

    OutputLatency latency;
    latency.quanta = double(output.max_quantum);
    latency.frames = double(output.max_rate);
    latency.seconds = (double(output.max_ns) + double(latency_offset_nsec_)) * 1e-9;
    return on_data_loop([&] { cycle_.set_output_latency(latency); });
}

} // namespace scs::spa
