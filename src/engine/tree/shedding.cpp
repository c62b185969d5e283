// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tree/shedding.hpp"

#include "engine/base/engine-status.hpp"
#include "engine/base/text-line.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/tree/tree.hpp"

#include <algorithm>

namespace scs {
namespace {

constexpr double patience = 0.03;     ///< seconds of overload before the first round
constexpr double recovery = 0.25;     ///< of each second without overload makes up for a second with it
constexpr double first_share = 0.125; ///< of a block's time that the first round frees; each next one twice that
constexpr double calm_load = 0.8;     ///< of the limit: below it …
constexpr double calm_time = 1;       ///< … for these seconds, paused synths run again
constexpr double mute_time = 1;       ///< seconds
constexpr double line_interval = 1;   ///< seconds
constexpr int64_t step_cost = 500;    ///< ns, of ending or pausing a synth

} // namespace

Shedding::Shedding(const Settings& settings, Tree& tree, Outbox& outbox, Deadline& deadline, EngineStatus& status)
    : policy_(settings.overload == "mute"   ? Policy::mute
              : settings.overload == "none" ? Policy::none
                                            : Policy::shed),
      limit_percent_(settings.cpu_limit * 100),
      tree_(tree),
      outbox_(outbox),
      deadline_(deadline),
      status_(status),
      untold_(line_interval) {}

void Shedding::after_cycle(const Cycle& cycle) noexcept {
    last_ = cycle;
    untold_ += cycle.seconds;
    muted_ = std::max(0., muted_ - cycle.seconds);
    if (cycle.strained) {
        strain_ += cycle.seconds;
    } else if (!cycle.skipped) {
        strain_ = std::max(0., strain_ - recovery * cycle.seconds);
        if (strain_ == 0)
            share_ = 0;
    }
    const bool calm = !cycle.strained && double(cycle.used) < calm_load * double(cycle.limit);
    calm_ = calm ? calm_ + cycle.seconds : 0;
    // A round needs two cycles to show what it has changed.
    const double bearable = std::max(patience, 1.5 * cycle.seconds);
    if (cycle.strained && strain_ >= bearable) {
        due_ = true;
        strain_ = bearable - 1.5 * cycle.seconds;
    }
}

bool Shedding::before_cycle() noexcept {
    if (due_ && policy_ == Policy::mute)
        muted_ = mute_time;
    else if (due_ && policy_ == Policy::shed)
        shed();
    if (calm_ >= calm_time && tree_.runs().ages().oldest(AgeKind::paused))
        resume();
    status_.paused.store(tree_.runs().ages().count(AgeKind::paused), std::memory_order_relaxed);
    if ((due_ || ended_ || paused_ || resumed_) && untold_ >= line_interval)
        tell();
    due_ = false;
    return muted_ <= 0;
}

void Shedding::shed() noexcept {
    share_ = share_ > 0 ? 2 * share_ : first_share;
    const double block = last_.blocks > 0 ? double(last_.limit) / last_.blocks : 0;
    double to_free = share_ * block;
    Ages& ages = tree_.runs().ages();
    for (const AgeKind kind : {AgeKind::ends_itself, AgeKind::stays}) {
        for (Synth* synth = ages.newest(kind); synth && to_free > 0; synth = ages.newest(kind)) {
            if (deadline_.spend(step_cost))
                return;
            to_free -= double(std::max<int64_t>(synth->facts->costs.synth, 1));
            if (kind == AgeKind::stays) {
                tree_.runs().pause(*synth);
                ++paused_;
                continue;
            }
            tree_.freeing().free_first(*synth);
            ++ended_;
            status_.ended.fetch_add(1, std::memory_order_relaxed);
        }
    }
}

void Shedding::resume() noexcept {
    const double blocks = std::max(last_.blocks, 1.);
    double room = (calm_load * double(last_.limit) - double(last_.used)) / blocks;
    Ages& ages = tree_.runs().ages();
    for (Synth* synth = ages.oldest(AgeKind::paused); synth && room > 0; synth = ages.oldest(AgeKind::paused)) {
        if (deadline_.spend(step_cost))
            break;
        room -= double(std::max<int64_t>(synth->facts->costs.synth, 1));
        tree_.runs().resume(*synth);
        ++resumed_;
    }
    calm_ = 0;
}

void Shedding::tell() noexcept {
    TextLine line;
    const int paused = tree_.runs().ages().count(AgeKind::paused);
    if (resumed_ && !ended_ && !paused_ && !due_) {
        line.add("there is time again: %d paused synths run (%d are still paused)", resumed_, paused);
    } else {
        line.add("overload: the synths need more than %g %% of a cycle's %.2f ms (scsynth.cpu-limit):", limit_percent_,
                 last_.seconds * 1000);
        if (policy_ == Policy::mute)
            line.add(" silent for a second;");
        if (policy_ == Policy::none)
            line.add(" blocks are left out;");
        if (ended_)
            line.add(" ended the %d newest of those that end by themselves;", ended_);
        if (paused_)
            line.add(" paused the %d newest;", paused_);
        if (resumed_)
            line.add(" resumed %d;", resumed_);
        if (paused)
            line.add(" %d are paused now;", paused);
        line.add(" free some, or take a larger quantum");
    }
    outbox_.print(line.take());
    ended_ = paused_ = resumed_ = 0;
    untold_ = 0;
}

} // namespace scs
