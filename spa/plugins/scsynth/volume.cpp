// SPDX-License-Identifier: GPL-3.0-or-later
#include "volume.hpp"

#include <spa/param/param.h>
#include <spa/param/props.h>
#include <spa/pod/iter.h>
#include <spa/pod/parser.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace scs::spa {
namespace {

constexpr float unset = -INFINITY;

bool allowed(float value) {
    return value >= 0 && value <= Volume::highest; // NaN isn't
}

/// The channel volumes of an array, `count` of them; empty if it is no such array.
std::vector<float> read_channels(const spa_pod* array, size_t count) {
    if (!spa_pod_is_array(array) || SPA_POD_ARRAY_VALUE_TYPE(array) != SPA_TYPE_Float ||
        SPA_POD_ARRAY_VALUE_SIZE(array) != sizeof(float))
        return {};
    const auto* first = static_cast<const float*>(SPA_POD_ARRAY_VALUES(array));
    std::vector<float> values(first, first + SPA_POD_ARRAY_N_VALUES(array));
    if (values.empty() || !std::all_of(values.begin(), values.end(), allowed))
        return {};
    if (values.size() != count)
        values.assign(count, std::accumulate(values.begin(), values.end(), 0.f) / float(values.size()));
    return values;
}

} // namespace

Volume::Volume(std::vector<uint32_t> channels, float volume, bool mute)
    : channels_(std::move(channels)), mute_(mute), channel_volumes_(channels_.size(), volume) {}

float Volume::gain(size_t index) const {
    return mute_ ? 0 : channel_volumes_[index];
}

bool Volume::read(const spa_pod* props) {
    float volume = unset;
    bool mute = mute_;
    const spa_pod* array = nullptr;
    if (spa_pod_parse_object(props, SPA_TYPE_OBJECT_Props, nullptr, SPA_PROP_volume, SPA_POD_OPT_Float(&volume),
                             SPA_PROP_mute, SPA_POD_OPT_Bool(&mute), SPA_PROP_channelVolumes,
                             SPA_POD_OPT_Pod(&array)) < 0 ||
        (volume != unset && !allowed(volume)))
        return false;
    std::vector<float> values = array             ? read_channels(array, channels_.size())
                                : volume != unset ? std::vector<float>(channels_.size(), volume)
                                                  : channel_volumes_;
    if (values.size() != channels_.size())
        return false;
    mute_ = mute;
    channel_volumes_ = std::move(values);
    return true;
}

void Volume::write(spa_pod_builder& b) const {
    const auto count = uint32_t(channels_.size());
    spa_pod_builder_add(&b, SPA_PROP_volume, SPA_POD_Float(1.f), SPA_PROP_mute, SPA_POD_Bool(mute_),
                        SPA_PROP_channelVolumes,
                        SPA_POD_Array(sizeof(float), SPA_TYPE_Float, count, channel_volumes_.data()),
                        SPA_PROP_channelMap, SPA_POD_Array(sizeof(uint32_t), SPA_TYPE_Id, count, channels_.data()), 0);
}

spa_pod* Volume::info(uint32_t index, spa_pod_builder& b) {
    const auto object = [](void* pod) { return static_cast<spa_pod*>(pod); };
    switch (index) {
    case 0:
        return object(spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_PropInfo, SPA_PARAM_PropInfo, SPA_PROP_INFO_id,
                                                 SPA_POD_Id(SPA_PROP_volume), SPA_PROP_INFO_description,
                                                 SPA_POD_String("Volume"), SPA_PROP_INFO_type,
                                                 SPA_POD_CHOICE_RANGE_Float(1.0, 0.0, double(highest))));
    case 1:
        return object(spa_pod_builder_add_object(
            &b, SPA_TYPE_OBJECT_PropInfo, SPA_PARAM_PropInfo, SPA_PROP_INFO_id, SPA_POD_Id(SPA_PROP_mute),
            SPA_PROP_INFO_description, SPA_POD_String("Mute"), SPA_PROP_INFO_type, SPA_POD_CHOICE_Bool(false)));
    case 2:
        return object(spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_PropInfo, SPA_PARAM_PropInfo, SPA_PROP_INFO_id,
                                                 SPA_POD_Id(SPA_PROP_channelVolumes), SPA_PROP_INFO_description,
                                                 SPA_POD_String("Channel volumes"), SPA_PROP_INFO_type,
                                                 SPA_POD_CHOICE_RANGE_Float(1.0, 0.0, double(highest)),
                                                 SPA_PROP_INFO_container, SPA_POD_Id(SPA_TYPE_Array)));
    default: return nullptr;
    }
}

} // namespace scs::spa
