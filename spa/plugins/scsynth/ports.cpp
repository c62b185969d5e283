// SPDX-License-Identifier: GPL-3.0-or-later
#include "ports.hpp"

#include "layout.hpp"

#include <spa/param/audio/format-utils.h>
#include <spa/param/param.h>

#include <cerrno>
#include <utility>

namespace scs::spa {
namespace {

constexpr int control_bytes = 32768; ///< that a control port asks its buffers to hold
constexpr uint32_t readable = SPA_PARAM_INFO_READ, writable = SPA_PARAM_INFO_WRITE;

} // namespace

Port::Port(spa_direction direction, uint32_t id, uint32_t channel, std::string name)
    : Port(direction, id, (direction == SPA_DIRECTION_OUTPUT ? "out_" : "in_") + std::to_string(id + 1),
           std::move(name), channel_name(channel)) {}

Port Port::control(spa_direction direction, uint32_t id, uint32_t index) {
    const char* const prefix = direction == SPA_DIRECTION_OUTPUT ? "control_out_" : "control_";
    return {direction, id, prefix + std::to_string(index + 1), {}, {}};
}

Port::Port(spa_direction direction, uint32_t id, std::string key, std::string name, std::string channel)
    : direction_(direction),
      id_(id),
      key_(std::move(key)),
      name_(name.empty() ? key_ : std::move(name)),
      channel_(std::move(channel)) {
    params_[enum_format] = {SPA_PARAM_EnumFormat, readable};
    params_[meta] = {SPA_PARAM_Meta, readable};
    params_[io] = {SPA_PARAM_IO, readable};
    params_[format] = {SPA_PARAM_Format, writable};
    params_[buffers] = {SPA_PARAM_Buffers, 0};
    params_[latency_slot] = {SPA_PARAM_Latency, readable | writable};
    for (const spa_direction each : {SPA_DIRECTION_INPUT, SPA_DIRECTION_OUTPUT})
        latency_[each].direction = each;
}

spa_port_info Port::info(bool all) {
    // PipeWire shows every control port as one for MIDI, and connects all kinds of these. Its mixer makes MIDI 1.0 of
    // Universal MIDI Packets from 1.6.3 on, with 7 bits of velocity, unless control.ump is false: either is read.
    items_[0] = {"format.dsp", is_control() ? "8 bit raw midi" : "32 bit float mono audio"};
    items_[1] = {"port.name", name_.c_str()};
    items_[2] = {"scsynth.port", key_.c_str()}; // for the policy
    items_[3] = is_control() ? spa_dict_item{"control.ump", "false"} : spa_dict_item{"audio.channel", channel_.c_str()};
    props_ = {0, uint32_t(items_.size()), items_.data()};
    spa_port_info info{};
    info.change_mask =
        all ? SPA_PORT_CHANGE_MASK_FLAGS | SPA_PORT_CHANGE_MASK_PROPS | SPA_PORT_CHANGE_MASK_PARAMS : changed_;
    info.flags = SPA_PORT_FLAG_NO_REF | SPA_PORT_FLAG_OPTIONAL;
    if (direction_ == SPA_DIRECTION_INPUT)
        info.flags |= SPA_PORT_FLAG_DYNAMIC_DATA;
    info.props = &props_;
    info.params = params_.data();
    info.n_params = uint32_t(params_.size());
    if (!all)
        changed_ = 0;
    return info;
}

spa_pod* Port::param(uint32_t id, uint32_t index, uint32_t quantum_limit, spa_pod_builder& b, int& error) const {
    const auto object = [](void* pod) { return static_cast<spa_pod*>(pod); };
    if ((id == SPA_PARAM_Format || id == SPA_PARAM_Buffers) && !has_format_) {
        error = -EIO;
        return nullptr;
    }
    switch (id) {
    case SPA_PARAM_EnumFormat:
    case SPA_PARAM_Format:
        if (index > 0)
            return nullptr;
        return format_param(id, b);
    case SPA_PARAM_Buffers:
        if (index > 0)
            return nullptr;
        return buffers_param(id, quantum_limit, b);
    case SPA_PARAM_Meta:
        if (index > 0)
            return nullptr;
        return object(spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_ParamMeta, id, SPA_PARAM_META_type,
                                                 SPA_POD_Id(SPA_META_Header), SPA_PARAM_META_size,
                                                 SPA_POD_Int(int(sizeof(spa_meta_header)))));
    case SPA_PARAM_IO:
        if (index > 0)
            return nullptr;
        return object(spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_ParamIO, id, SPA_PARAM_IO_id,
                                                 SPA_POD_Id(SPA_IO_Buffers), SPA_PARAM_IO_size,
                                                 SPA_POD_Int(int(sizeof(spa_io_buffers)))));
    case SPA_PARAM_Latency: return index > 1 ? nullptr : spa_latency_build(&b, id, &latency_[index]);
    default: error = -ENOENT; return nullptr;
    }
}

spa_pod* Port::format_param(uint32_t id, spa_pod_builder& b) const {
    spa_pod_frame frame;
    spa_pod_builder_push_object(&b, &frame, SPA_TYPE_OBJECT_Format, id);
    if (is_control())
        spa_pod_builder_add(&b, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_application), SPA_FORMAT_mediaSubtype,
                            SPA_POD_Id(SPA_MEDIA_SUBTYPE_control), 0);
    else
        spa_pod_builder_add(&b, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_audio), SPA_FORMAT_mediaSubtype,
                            SPA_POD_Id(SPA_MEDIA_SUBTYPE_dsp), SPA_FORMAT_AUDIO_format,
                            SPA_POD_Id(SPA_AUDIO_FORMAT_DSP_F32), 0);
    return static_cast<spa_pod*>(spa_pod_builder_pop(&b, &frame));
}

spa_pod* Port::buffers_param(uint32_t id, uint32_t quantum_limit, spa_pod_builder& b) const {
    // The daemon's mixer loses all of a cycle that finds no room, and takes 4096 bytes if nobody asks for more. A
    // program that fills buffers on its main loop, such as pw-midiplay, would miss every other cycle with one of them.
    const int stride = is_control() ? 1 : sizeof(float), least = is_control() ? 2 : 1;
    const int size = is_control() ? control_bytes : int(quantum_limit) * stride;
    const int least_size = is_control() ? control_bytes : 16 * stride;
    return static_cast<spa_pod*>(spa_pod_builder_add_object(
        &b, SPA_TYPE_OBJECT_ParamBuffers, id, SPA_PARAM_BUFFERS_buffers,
        SPA_POD_CHOICE_RANGE_Int(least, least, int(max_buffers)), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1),
        SPA_PARAM_BUFFERS_size, SPA_POD_CHOICE_RANGE_Int(size, least_size, INT32_MAX), SPA_PARAM_BUFFERS_stride,
        SPA_POD_Int(stride)));
}

int Port::set_format(const spa_pod* pod, bool test_only) {
    if (pod) {
        uint32_t type = 0, subtype = 0;
        if (spa_format_parse(pod, &type, &subtype) < 0)
            return -EINVAL;
        spa_audio_info_dsp dsp{};
        const bool fits = is_control() ? type == SPA_MEDIA_TYPE_application && subtype == SPA_MEDIA_SUBTYPE_control
                                       : type == SPA_MEDIA_TYPE_audio && subtype == SPA_MEDIA_SUBTYPE_dsp &&
                                             spa_format_audio_dsp_parse(pod, &dsp) >= 0 &&
                                             dsp.format == SPA_AUDIO_FORMAT_DSP_F32;
        if (!fits)
            return -EINVAL;
    }
    if (test_only)
        return 0;
    has_format_ = pod != nullptr;
    params_[format].flags = has_format_ ? readable | writable : writable;
    params_[buffers].flags = has_format_ ? readable : 0;
    changed_ |= SPA_PORT_CHANGE_MASK_PARAMS;
    return 0;
}

bool Port::set_latency(const spa_latency_info& latency) {
    spa_latency_info& mine = latency_[latency.direction];
    if (spa_latency_info_compare(&latency, &mine) == 0)
        return false;
    mine = latency;
    // Tells the host that reading it again gives something else.
    params_[latency_slot].flags ^= SPA_PARAM_INFO_SERIAL;
    changed_ |= SPA_PORT_CHANGE_MASK_PARAMS;
    return true;
}

} // namespace scs::spa
