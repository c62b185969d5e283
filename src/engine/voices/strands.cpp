// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/strands.hpp"

#include <algorithm>

namespace scs {

Strands::Strands(const Settings& settings, size_t most)
    : audio_(size_t(settings.audio_buses)),
      control_(size_t(settings.control_buses)),
      reached_(audio_.size() + control_.size()),
      work_(most + 1),
      joins_(most + 1),
      ends_(most),
      outputs_(size_t(settings.outputs)) {}

void Strands::begin() noexcept {
    ++block_;
    reached_count_ = count_ = 0;
    unknown_ = false;
}

void Strands::add(const Item& one, size_t work) noexcept {
    for_each_reach(one, [this](const NativeCode::BusUse& use, const BusRange& range, bool known) {
        if (!known || range.wide())
            unknown_ = true;
        else
            note(use, range);
    });
    for_each_map(one, [this](int64_t bus, bool is_audio) {
        note({0, is_audio ? Effect::reads_audio : Effect::reads_control, 0}, {bus, bus});
    });
    joins_[count_] = 0;
    work_[count_ + 1] = work_[count_] + work;
    ++count_;
}

void Strands::note(const NativeCode::BusUse& use, const BusRange& range) noexcept {
    std::vector<Bus>& buses = audio(use.effect) ? audio_ : control_;
    const auto turn = uint32_t(count_);
    const auto [low, high] = range.within(buses.size());
    for (int64_t i = low; i <= high; ++i) {
        Bus& bus = buses[size_t(i)];
        if (bus.block != block_) {
            bus = {block_, turn, turn, UINT32_MAX, 0, false};
            reached_[reached_count_++] = &bus;
        }
        bus.last = turn;
        if (!writes(use.effect)) {
            bus.read = true;
            continue;
        }
        bus.first_write = std::min(bus.first_write, turn);
        bus.last_write = turn;
    }
}

void Strands::find() noexcept {
    const uint64_t most_work = work_[count_] / 2;
    for (size_t i = 0; i < reached_count_ && !unknown_; ++i) {
        const Bus& bus = *reached_[i];
        const bool connects = bus.read && bus.first_write <= bus.last_write && bus.first < bus.last;
        if (!connects || work_[bus.last + 1] - work_[bus.first] > most_work)
            continue;
        ++joins_[bus.first];
        --joins_[bus.last];
    }
    for (size_t first = 0, end; first < count_; first = end) {
        end = first + 1;
        for (int32_t joined = joins_[first]; joined > 0; ++end)
            joined += joins_[end];
        ends_[first] = uint32_t(end);
    }
}

template <class What>
bool Strands::all_of(const NativeCode::BusUse& use, const BusRange& range, What&& what) const noexcept {
    const std::vector<Bus>& buses = audio(use.effect) ? audio_ : control_;
    const auto [low, high] = range.within(buses.size());
    for (int64_t i = low; i <= high; ++i)
        if (!what(buses[size_t(i)]))
            return false;
    return true;
}

bool Strands::is_alone(const Bus& bus, size_t first, size_t end) const noexcept {
    return bus.block != block_ || (bus.first >= first && bus.last < end);
}

bool Strands::alone(const NativeCode::BusUse& use, const BusRange& range, size_t first, size_t end) const noexcept {
    if (unknown_ || (audio(use.effect) && range.low < int64_t(outputs_)))
        return false;
    return all_of(use, range, [=, this](const Bus& bus) { return is_alone(bus, first, end); });
}

bool Strands::any_alone(const NativeCode::BusUse& use, const BusRange& range, size_t first, size_t end) const noexcept {
    return !all_of(use, range, [=, this](const Bus& bus) { return !is_alone(bus, first, end); });
}

bool Strands::may_write(const NativeCode::BusUse& use, const BusRange& range, size_t first, size_t end) const noexcept {
    return unknown_ || !all_of(use, range, [=, this](const Bus& bus) {
               const bool written = bus.block == block_ && bus.first_write <= bus.last_write;
               return !written || bus.last_write < first || bus.first_write >= end;
           });
}

} // namespace scs
