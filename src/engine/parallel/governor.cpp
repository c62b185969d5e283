// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/parallel/governor.hpp"

#include <utility>

namespace scs {
namespace {

constexpr double rest_after_wait = 1e9; // ns of sound

// Walks without helpers are measured now and then, as a reading of the clock is dear in a small piece. Nothing in a
// piece comes with that period.
constexpr int measured_walks = 13;

} // namespace

Governor::Governor(const Settings& settings, NanoClock clock) noexcept
    : policy_(HelpPolicy::of(settings.help)),
      clock_(clock),
      real_time_(settings.real_time),
      reluctant_(settings.reluctant),
      threads_(settings.threads) {
    asks_ = worthwhile(false);
}

void Governor::begin_walk() noexcept {
    measures_ = asks_ || !real_time_ || ++unmeasured_ >= measured_walks;
    if (measures_) {
        unmeasured_ = 0;
        began_ = clock_.now();
    }
}

void Governor::end_walk() noexcept {
    ++blocks_;
    if (measures_) {
        spent_ += clock_.now() - began_;
        ++measured_;
    }
}

void Governor::note_blocks(int blocks, int64_t nsec) noexcept {
    spent_ += nsec;
    measured_ += blocks;
    blocks_ += blocks;
}

/// Whether there is so much to do that helpers are asked, or still asked. With them the load is smaller.
bool Governor::is_much(bool asked) const noexcept {
    const double waking = reluctant_ ? policy_.reluctant_load : policy_.waking_load, sleeping = waking / (2 * threads_);
    return real_time_ || waking == 0 ? load_ >= (asked ? sleeping : waking) : pays_;
}

bool Governor::worthwhile(bool urgent) const noexcept {
    return !lacks_priority(urgent) && rest_nsec_ <= 0 && is_much(asks_);
}

bool Governor::end_cycle(bool urgent) noexcept {
    if (!blocks_)
        return false;
    if (measured_)
        load_ += (double(spent_) / (measured_ * block_nsec_) - load_) / 8;
    // Offline a trial tells whether it pays all the same.
    const bool rests = real_time_ && longest_wait_ > policy_.longest_wait;
    rest_nsec_ = rests ? rest_after_wait : rest_nsec_ - blocks_ * block_nsec_;
    longest_wait_ = 0;
    if (!real_time_)
        try_out();
    asks_ = worthwhile(urgent);
    unasked_ = lacks_priority(urgent) && is_much(unasked_);
    unasked_nsec_ = unasked_ ? unasked_nsec_ + blocks_ * block_nsec_ : 0;
    spent_ = blocks_ = measured_ = 0;
    return unasked_nsec_ >= policy_.long_without_priority && !std::exchange(told_, true);
}

void Governor::try_out() noexcept {
    const auto before = trial_;
    if (before != Trial::over) {
        Spent& spent = trials_[before == Trial::with];
        spent.nsec += spent_;
        spent.blocks += blocks_;
        if (spent.blocks >= trial_blocks)
            trial_ = before == Trial::with ? Trial::without : Trial::over;
    }
    period_left_ -= blocks_;
    if (before == Trial::without && trial_ == Trial::over) {
        const bool gained = trials_[true].of_a_block() < (1 - least_gain) * trials_[false].of_a_block();
        const bool same = period_ && gained == gained_;
        period_ = same ? std::min(2 * period_, longest_period) : gained ? first_good_period : first_bad_period;
        gained_ = gained;
        period_left_ = period_;
    } else if (trial_ == Trial::over && period_left_ <= 0) {
        trial_ = Trial::with;
        trials_ = {};
    }
    pays_ = trial_ == Trial::with || (trial_ == Trial::over && gained_);
}

} // namespace scs
