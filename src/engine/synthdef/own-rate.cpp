// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/own-rate.hpp"

#include <algorithm>
#include <bit>

namespace scs {
namespace {

/// The power of two that this number is, or 0: it is none, or above the highest.
int power_of_two(float number, int highest) noexcept {
    if (!(number >= 1.f && number <= float(highest)))
        return 0;
    const int whole = int(number);
    return float(whole) == number && std::has_single_bit(unsigned(whole)) ? whole : 0;
}

} // namespace

GrantedRate granted_rate(const OwnRate& own, std::span<const float> controls, int block) noexcept {
    constexpr int most = 1 << 30;
    GrantedRate granted;
    granted.asked_frames = own.block_size < 0 ? controls[size_t(own.block_size_control)] : float(own.block_size);
    granted.asked_factor = own.resample < 0 ? controls[size_t(own.resample_control)] : own.resample;

    if (!std::has_single_bit(unsigned(block))) {
        granted.wrong_frames = granted.asked_frames != 0.f && granted.asked_frames != float(block);
        granted.wrong_factor = granted.asked_factor != 0.f && granted.asked_factor != 1.f;
        granted.rate = {block, 1};
        return granted;
    }
    const int factor = granted.asked_factor == 0.f ? 1 : power_of_two(granted.asked_factor, highest_factor);
    granted.wrong_factor = factor == 0;
    granted.rate.factor = std::max(factor, 1);

    const int longest = block * granted.rate.factor;
    const int frames = granted.asked_frames == 0.f ? block : power_of_two(granted.asked_frames, most);
    granted.wrong_frames = frames == 0 || frames > longest;
    granted.rate.frames = frames > longest ? longest : granted.wrong_frames ? block : frames;
    return granted;
}

std::optional<SynthRate> constant_rate(const OwnRate& own, int block) noexcept {
    if (!asks(own) || own.block_size < 0 || own.resample < 0)
        return {};
    const GrantedRate granted = granted_rate(own, {}, block);
    return granted.is_wrong() ? std::nullopt : std::optional(granted.rate);
}

Ticks ticks_of(const SynthRate& rate, int block, bool hears_audio) noexcept {
    Ticks ticks;
    ticks.rate = rate;
    ticks.server_frames = block;
    ticks.count = block * rate.factor / rate.frames;
    if (!hears_audio)
        ticks.ahead = (ticks.delay() * rate.factor + rate.frames - 1) / rate.frames;
    return ticks;
}

int most_frames(const OwnRate& own, int block) noexcept {
    if (own.block_size < 0)
        return block * (own.resample == 0 ? 1 : highest_factor);
    return std::max(block, int(std::min<int64_t>(own.block_size, int64_t(block) * highest_factor)));
}

} // namespace scs
