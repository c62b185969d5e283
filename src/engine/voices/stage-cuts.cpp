// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/stage-cuts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace scs {
namespace {

constexpr double largest_load = 0.85; // of all work; with more for one thread, the others bring nothing

} // namespace

StageCuts::StageCuts(const Settings& settings, size_t most)
    : control_(size_t(settings.control_buses)),
      reached_(size_t(settings.control_buses)),
      work_(most + 1),
      joins_(most + 2),
      inputs_begin_(settings.outputs),
      inputs_end_(settings.outputs + settings.inputs) {}

void StageCuts::begin() noexcept {
    ++round_;
    reached_count_ = count_ = 0;
    draws_ = buffers_ = {};
    messages_ = memory_ = {.join = true};
    reaches_inputs_ = ended_ = false;
    joins_[0] = joins_[1] = 0;
    work_[0] = 0;
}

void StageCuts::join(size_t first, size_t last) noexcept {
    ++joins_[first + 1];
    --joins_[last + 1];
}

void StageCuts::note_control(int64_t bus, bool writes) noexcept {
    Bus& found = control_[size_t(bus)];
    if (found.round != round_) {
        found = {round_, uint32_t(count_), uint32_t(count_), false};
        reached_[reached_count_++] = &found;
    }
    found.last = uint32_t(count_);
    found.written = found.written || writes;
}

/// What always draws as many numbers may draw anywhere, as it is known where the generator is then. But who may end
/// doesn't always draw.
void StageCuts::note_draws(const TurnFacts& facts) noexcept {
    draws_.join = draws_.join || !facts.numbers || facts.ends;
    draws_.add(count_);
}

void StageCuts::Users::add(size_t turn) noexcept {
    if (!any)
        first = turn;
    any = true;
    last = turn;
}

bool StageCuts::add(const Unison& one, size_t work) noexcept {
    bool well = true;
    for_each_map(one, [&](int64_t bus, bool is_audio) {
        if (is_audio)
            well = false;
        else
            note_control(bus, false);
    });
    const int64_t controls = int64_t(control_.size());
    for_each_reach(one, [&](const NativeCode::BusUse& use, const BusRange& range, bool known) {
        well = well && known;
        if (!well || range.empty())
            return;
        if (audio(use.effect)) {
            reaches_inputs_ = reaches_inputs_ || (range.high >= inputs_begin_ && range.low < inputs_end_);
            return;
        }
        well = !range.wide();
        for (int64_t bus = std::max<int64_t>(range.low, 0); well && bus <= std::min(range.high, controls - 1); ++bus)
            note_control(bus, writes(use.effect));
    });
    if (!well)
        return false;
    const TurnFacts& facts = one.facts();
    if (facts.draws)
        note_draws(facts);
    if (facts.reads_buffers || facts.writes_buffers)
        buffers_.add(count_);
    buffers_.join = buffers_.join || facts.writes_buffers;
    if (facts.sends)
        messages_.add(count_);
    if (facts.allocates)
        memory_.add(count_);
    skip();
    work_[count_] += work;
    return true;
}

void StageCuts::skip() noexcept {
    ++count_;
    work_[count_] = work_[count_ - 1];
    joins_[count_ + 1] = 0;
}

/// Finds where a cut may be.
void StageCuts::end() noexcept {
    draws_.join = draws_.join && draws_.any;
    for (const Users& users : {draws_, buffers_, messages_, memory_})
        if (users.join && users.any)
            join(users.first, users.last);
    for (size_t i = 0; i < reached_count_; ++i)
        if (const Bus& bus = *reached_[i]; bus.written)
            join(bus.first, bus.last);
    for (size_t i = 1; i <= count_; ++i)
        joins_[i] += joins_[i - 1]; // now: how many runs a cut in front of turn i would part
}

bool StageCuts::find(const std::array<double, Pipeline::most_stages>& shares, size_t stages, size_t threads) noexcept {
    if (count_ == 0)
        return false;
    if (!std::exchange(ended_, true))
        end();
    const auto all = double(work_[count_]);
    double share = 0;
    std::array<size_t, Pipeline::most_stages> loads{};
    std::array<double, Pipeline::most_stages> times{};
    stages_ = 0;
    for (size_t stage = 0, begin = 0; stage < stages; ++stage) {
        share += shares[stage];
        size_t end = count_;
        if (stage + 1 < stages) {
            const auto at = std::lower_bound(work_.begin() + 1, work_.begin() + ptrdiff_t(count_), share * all);
            end = size_t(at - work_.begin());
            // The nearest place where a cut may be, on either side.
            size_t front = end, behind = end;
            while (front > begin && joins_[front])
                --front;
            while (behind < count_ && joins_[behind])
                ++behind;
            end = end - front <= behind - end ? front : behind;
        }
        if (end <= begin)
            continue;
        ends_[stages_] = end;
        loads[stages_ % threads] += work(stages_);
        times[stages_ % threads] += double(work(stages_)) / shares[stage];
        ++stages_;
        begin = end;
    }
    const double sum = std::accumulate(times.begin(), times.end(), 0.);
    uneven_ = *std::max_element(times.begin(), times.end()) * double(threads) / std::max(sum, 1.);
    return stages_ > 1 && double(*std::max_element(loads.begin(), loads.end())) <= largest_load * all;
}

} // namespace scs
