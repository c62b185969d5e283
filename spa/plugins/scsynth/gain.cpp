// SPDX-License-Identifier: GPL-3.0-or-later
#include "gain.hpp"

#include <algorithm>

namespace scs::spa {

void Gain::start_at(float gain) noexcept {
    set(gain);
    jump_to(gain);
}

void Gain::jump_to(float gain) noexcept {
    target_ = now_ = gain;
    left_ = 0;
}

void Gain::apply(float* samples, uint32_t frames, double rate) noexcept {
    const float wanted = wanted_.load(std::memory_order_relaxed);
    if (!samples) {
        jump_to(wanted);
        return;
    }
    if (wanted != target_) {
        target_ = wanted;
        left_ = std::max(1u, uint32_t(rate * ramp_seconds));
        step_ = (target_ - now_) / float(left_);
    }
    const auto limited = [this](float sample) { return std::clamp(sample, -loudest_, loudest_); };
    const uint32_t ramped = std::min(left_, frames);
    for (uint32_t i = 0; i < ramped; ++i)
        samples[i] = limited(samples[i] * (now_ + step_ * float(i + 1)));
    left_ -= ramped;
    now_ = left_ > 0 ? now_ + step_ * float(ramped) : target_;
    if (now_ != 1)
        for (uint32_t i = ramped; i < frames; ++i)
            samples[i] = limited(samples[i] * now_);
}

} // namespace scs::spa
