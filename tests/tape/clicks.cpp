// SPDX-License-Identifier: GPL-3.0-or-later
#include "clicks.hpp"

#include <cmath>

namespace scs::test {

namespace {

/// Where the peak of a parabola through three neighbours lies, of which the middle one is the highest: -0.5 to 0.5.
double peak(float before, float at, float after) noexcept {
    const double bend = double(before) - 2.0 * at + after;
    return bend == 0 ? 0 : 0.5 * (double(before) - after) / bend;
}

} // namespace

int Clicks::open(const std::string& path, size_t channels) {
    ears_.resize(channels);
    return file_.open(path, sizeof(ClicksHeader));
}

void Clicks::note(uint32_t channel, const CycleStart& cycle, double frame) noexcept {
    auto& header = *static_cast<ClicksHeader*>(file_.memory());
    ClicksHeader::Click& click = header.clicks[header.count % ClicksHeader::room];
    click.wall = cycle.wall + std::llround(frame * 1e9 / cycle.rate);
    click.position = double(cycle.position) + frame;
    click.channel = channel;
    ++header.count;
}

void Clicks::hear(Ear& ear, uint32_t channel, const CycleStart& cycle, uint32_t frame, float sample) noexcept {
    if (ear.deaf > 0) {
        --ear.deaf;
    } else if (ear.last >= loud && ear.last > ear.earlier && ear.last >= sample) {
        note(channel, cycle, double(frame) - 1 + peak(ear.earlier, ear.last, sample));
        ear.deaf = cycle.rate / deaf_per_sec;
    }
    ear.earlier = ear.last;
    ear.last = sample;
}

void Clicks::record(const CycleStart& cycle, std::span<const float* const> channels) noexcept {
    auto& header = *static_cast<ClicksHeader*>(file_.memory());
    if (next_ != 0 && cycle.position != next_)
        ++header.leaps;
    next_ = cycle.position + cycle.frames;
    for (uint32_t channel = 0; channel < channels.size(); ++channel)
        for (uint32_t frame = 0; frame < cycle.frames; ++frame)
            hear(ears_[channel], channel, cycle, frame, channels[channel] ? std::abs(channels[channel][frame]) : 0);
    ++header.cycles;
}

} // namespace scs::test
