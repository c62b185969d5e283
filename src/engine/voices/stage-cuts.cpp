// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/stage-cuts.hpp"

#include <algorithm>
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

bool StageCuts::add(const Item& one, size_t work) noexcept {
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
    skip(work);
    return true;
}

void StageCuts::skip(size_t work) noexcept {
    ++count_;
    work_[count_] = work_[count_ - 1] + work;
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

/// Where a stage ends that begins with this turn, so that there is about that much to do in it: one turn at least.
size_t StageCuts::cut_near(size_t begin, double target) const noexcept {
    const double wanted = double(work_[begin]) + std::max(target, 0.);
    const auto at = std::lower_bound(work_.begin() + ptrdiff_t(begin) + 1, work_.begin() + ptrdiff_t(count_), wanted);
    size_t front = size_t(at - work_.begin()), behind = front;
    while (behind < count_ && joins_[behind])
        ++behind;
    do
        --front;
    while (front > begin && joins_[front]);
    if (front == begin)
        return behind;
    return wanted - double(work_[front]) < double(work_[behind]) - wanted ? front : behind;
}

bool StageCuts::find(const Threads& who, size_t stages) noexcept {
    if (count_ == 0)
        return false;
    if (!std::exchange(ended_, true))
        end();
    const size_t threads = who.shares.size();
    stages = std::min(stages, Pipeline::most_stages);
    const auto all = double(work_[count_]);
    std::array<double, Pipeline::most_stages> loads{};
    size_t begin = 0;
    for (stages_ = 0; begin < count_ && stages_ < stages; ++stages_) {
        // What the thread should have done behind this stage: where an earlier one was too long, this one is shorter.
        const size_t thread = stages_ % threads, rounds = stages_ / threads + 1;
        const double wanted = who.shares[thread] * all * double(rounds * threads) / double(stages);
        const size_t end = stages_ + 1 == stages ? count_ : cut_near(begin, wanted - loads[thread]);
        ends_[stages_] = end;
        loads[thread] += double(work(stages_));
        begin = end;
    }
    double slowest = 0;
    for (size_t i = 0; i < threads; ++i)
        slowest = std::max(slowest, loads[i] / who.shares[i]);
    // At the first block others wait until it comes to them, and at the last one until it has left them.
    double ends = 0;
    for (size_t i = 0; i + 1 < std::min(threads, stages_); ++i)
        ends += double(work(i) + work(stages_ - 1 - i)) / 2;
    time_ = (slowest + double(stages_) * who.hand_over) / double(threads) * who.blocks + ends;
    return stages_ > 1 && *std::max_element(loads.begin(), loads.end()) <= largest_load * all;
}

} // namespace scs
