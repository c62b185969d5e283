// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/parallel/dependencies.hpp"

#include <algorithm>
#include <utility>

namespace scs {
namespace {

constexpr size_t writers_an_item = 8; // on average

} // namespace

Dependencies::Dependencies(const Settings& settings, size_t most)
    : audio_(size_t(settings.audio_buses)),
      control_(size_t(settings.control_buses)),
      outputs_(size_t(settings.outputs)),
      inputs_end_(settings.outputs + settings.inputs),
      accesses_(audio_ + control_ + size_t(Shared::count)),
      reached_(accesses_.size()),
      runs_(most),
      writers_(writers_an_item * most),
      ends_(most + 1),
      most_(most) {}

void Dependencies::begin() noexcept {
    ++round_;
    runs_.begin();
    reached_count_ = count_ = writer_count_ = 0;
    any_ = everything_ = none;
    known_ = each_ = true;
    maps_audio_ = reaches_inputs_ = false;
}

Dependencies::Access& Dependencies::reach(size_t place) noexcept {
    Access& access = accesses_[place];
    const auto item = uint32_t(count_);
    if (access.round != round_) {
        access = {round_, item, item, none, none, none, false};
        reached_[reached_count_++] = uint32_t(place);
    }
    access.last = item;
    return access;
}

void Dependencies::write(size_t place) noexcept {
    Access& access = reach(place);
    const auto item = uint32_t(count_);
    if (access.last_write == item)
        return;
    access.first_write = std::min(access.first_write, item);
    access.write_before = std::exchange(access.last_write, item);
}

void Dependencies::read(size_t place) noexcept {
    Access& access = reach(place);
    access.read = true;
    depend_on(access.last_write == uint32_t(count_) ? access.write_before : access.last_write);
}

/// Where there is no room for all that an item depends on, it depends on the one before, and so on all.
void Dependencies::depend_on(uint32_t writer) noexcept {
    const size_t begin = ends_[count_];
    if (writer == none || (writer_count_ > begin && writers_[writer_count_ - 1] == writer))
        return;
    const size_t of_later_ones = most_ - count_;
    if (writer_count_ + of_later_ones >= writers_.size()) {
        each_ = false;
        writer_count_ = begin;
        writer = uint32_t(count_) - 1;
    }
    writers_[writer_count_++] = writer;
}

void Dependencies::read(Effect effect, const BusRange& range) noexcept {
    depend_on(everything_);
    const auto [low, high] = range.within(buses(effect));
    for (int64_t bus = low; bus <= high; ++bus)
        read(place(effect) + size_t(bus));
}

void Dependencies::add(const Item& one, size_t work) noexcept {
    bool writes_any = false, writes_everything = false;
    for_each_map(one, [&](int64_t bus, bool is_audio) {
        maps_audio_ = maps_audio_ || is_audio;
        read(is_audio ? Effect::reads_audio : Effect::reads_control, {bus, bus});
    });
    for_each_reach(one, [&](const NativeCode::BusUse& use, const BusRange& range, bool known) {
        const bool is_audio = audio(use.effect), each = known && !range.wide(), writing = writes(use.effect);
        reaches_inputs_ =
            reaches_inputs_ || (is_audio && (!known || (range.high >= int64_t(outputs_) && range.low < inputs_end_)));
        known_ = known_ && (each || (known && is_audio));
        each_ = each_ && each;
        writes_any = writes_any || writing;
        if (!each && writing)
            writes_everything = true;
        else if (!each)
            depend_on(any_);
        else if (!writing)
            read(use.effect, range);
        else if (const auto [low, high] = range.within(buses(use.effect)); true)
            for (int64_t bus = low; bus <= high; ++bus)
                write(place(use.effect) + size_t(bus));
    });
    note_shared(one.facts());
    const auto item = uint32_t(count_);
    any_ = writes_any ? item : any_;
    everything_ = writes_everything ? item : everything_;
    runs_.add(work);
    ends_[++count_] = uint32_t(writer_count_);
}

void Dependencies::note_shared(const TurnFacts& facts) noexcept {
    const auto note = [&](Shared what, bool changes) { changes ? write(place(what)) : void(reach(place(what))); };
    if (facts.draws)
        note(Shared::random, !facts.numbers || facts.ends); // what may end doesn't always draw
    if (facts.reads_buffers || facts.writes_buffers)
        note(Shared::buffers, facts.writes_buffers);
    if (facts.sends)
        note(Shared::messages, true);
    if (facts.allocates)
        note(Shared::memory, true);
}

template <class What>
bool Dependencies::all_of(Effect effect, const BusRange& range, What&& what) const noexcept {
    const auto [low, high] = range.within(buses(effect));
    for (int64_t bus = low; bus <= high; ++bus)
        if (!what(accesses_[place(effect) + size_t(bus)]))
            return false;
    return true;
}

bool Dependencies::alone(const NativeCode::BusUse& use, const BusRange& range, size_t first,
                         size_t end) const noexcept {
    if (!each_ || (audio(use.effect) && range.low < int64_t(outputs_)))
        return false;
    return all_of(use.effect, range, [=, this](const Access& access) { return is_alone(access, first, end); });
}

bool Dependencies::any_alone(const NativeCode::BusUse& use, const BusRange& range, size_t first,
                             size_t end) const noexcept {
    return !all_of(use.effect, range, [=, this](const Access& access) { return !is_alone(access, first, end); });
}

bool Dependencies::may_write(const NativeCode::BusUse& use, const BusRange& range, size_t first,
                             size_t end) const noexcept {
    return !each_ || !all_of(use.effect, range, [=, this](const Access& access) {
        return !is_changed(access) || access.last_write < first || access.first_write >= end;
    });
}

const Runs& Dependencies::find_strands() noexcept {
    const uint64_t most_work = runs_.work(0, count_) / 2;
    for (const uint32_t place : std::span(reached_).first(each_ ? reached_count_ : 0)) {
        const Access& access = accesses_[place];
        if (access.connects() && runs_.work(access.first, access.last + 1) <= most_work)
            runs_.join(access.first, access.last);
    }
    runs_.close();
    return runs_;
}

const Runs& Dependencies::find_stages() noexcept {
    for (const uint32_t place : std::span(reached_).first(reached_count_))
        if (const Access& access = accesses_[place]; place >= audio_ && access.written())
            runs_.join(access.first, access.last);
    runs_.close();
    return runs_;
}

} // namespace scs
