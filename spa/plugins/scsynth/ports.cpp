// SPDX-License-Identifier: GPL-3.0-or-later
#include "ports.hpp"

#include <spa/param/audio/format-utils.h>
#include <spa/param/param.h>

#include <cerrno>

namespace scs::spa {
namespace {

std::string channel_name(uint32_t channel) {
    switch (channel) {
    case SPA_AUDIO_CHANNEL_MONO: return "MONO";
    case SPA_AUDIO_CHANNEL_FL: return "FL";
    case SPA_AUDIO_CHANNEL_FR: return "FR";
    default: return "AUX" + std::to_string(channel - SPA_AUDIO_CHANNEL_AUX0);
    }
}

constexpr uint32_t readable = SPA_PARAM_INFO_READ, writable = SPA_PARAM_INFO_WRITE;

} // namespace

uint32_t channel_of(uint32_t id, uint32_t count) {
    if (count == 1)
        return SPA_AUDIO_CHANNEL_MONO;
    if (id < 2)
        return id == 0 ? SPA_AUDIO_CHANNEL_FL : SPA_AUDIO_CHANNEL_FR;
    return SPA_AUDIO_CHANNEL_AUX0 + id;
}

Port::Port(spa_direction direction, uint32_t id, uint32_t count)
    : direction_(direction),
      id_(id),
      name_((direction == SPA_DIRECTION_OUTPUT ? "out_" : "in_") + std::to_string(id + 1)),
      channel_(channel_name(channel_of(id, count))) {
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
    items_ = {
        {{"format.dsp", "32 bit float mono audio"}, {"port.name", name_.c_str()}, {"audio.channel", channel_.c_str()}}};
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
    const int stride = sizeof(float);
    if ((id == SPA_PARAM_Format || id == SPA_PARAM_Buffers) && !has_format_) {
        error = -EIO;
        return nullptr;
    }
    switch (id) {
    case SPA_PARAM_EnumFormat:
    case SPA_PARAM_Format:
        if (index > 0)
            return nullptr;
        return object(spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_Format, id, SPA_FORMAT_mediaType,
                                                 SPA_POD_Id(SPA_MEDIA_TYPE_audio), SPA_FORMAT_mediaSubtype,
                                                 SPA_POD_Id(SPA_MEDIA_SUBTYPE_dsp), SPA_FORMAT_AUDIO_format,
                                                 SPA_POD_Id(SPA_AUDIO_FORMAT_DSP_F32)));
    case SPA_PARAM_Buffers:
        if (index > 0)
            return nullptr;
        return object(spa_pod_builder_add_object(
            &b, SPA_TYPE_OBJECT_ParamBuffers, id, SPA_PARAM_BUFFERS_buffers,
            SPA_POD_CHOICE_RANGE_Int(1, 1, int(max_buffers)), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1),
            SPA_PARAM_BUFFERS_size, SPA_POD_CHOICE_RANGE_Int(int(quantum_limit) * stride, 16 * stride, INT32_MAX),
            SPA_PARAM_BUFFERS_stride, SPA_POD_Int(stride)));
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

int Port::set_format(const spa_pod* pod, bool test_only) {
    if (pod) {
        uint32_t type = 0, subtype = 0;
        spa_audio_info_dsp dsp{};
        if (spa_format_parse(pod, &type, &subtype) < 0 || type != SPA_MEDIA_TYPE_audio ||
            subtype != SPA_MEDIA_SUBTYPE_dsp || spa_format_audio_dsp_parse(pod, &dsp) < 0 ||
            dsp.format != SPA_AUDIO_FORMAT_DSP_F32)
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
