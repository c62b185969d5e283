// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/world/buses.hpp"

#include <algorithm>

namespace scs {

Buses::Buses(const Settings& settings, float* control)
    : block_(size_t(settings.block_size)),
      audio_count_(settings.audio_buses),
      control_count_(settings.control_buses),
      audio_(aligned_zeros<float>(size_t(audio_count_) * block_)),
      own_control_(control ? AlignedArray<float>() : aligned_zeros<float>(size_t(control_count_))),
      control_(control ? control : own_control_.get()),
      audio_touched_(aligned_zeros<int32_t>(size_t(audio_count_))),
      control_touched_(aligned_zeros<int32_t>(size_t(control_count_))) {
    std::fill_n(audio_touched_.get(), audio_count_, -1);
    std::fill_n(control_touched_.get(), control_count_, -1);
}

void Buses::forget_audio(int32_t block_number) noexcept {
    std::fill_n(audio_touched_.get(), audio_count_, int32_t(uint32_t(block_number) - 2));
}

Status Buses::set_control(int64_t bus, float value, int32_t block_number) noexcept {
    if (!control_in_range(bus))
        return {Code::index_out_of_range};
    control_[size_t(bus)] = value;
    control_touched_[size_t(bus)] = block_number;
    return {};
}

} // namespace scs
