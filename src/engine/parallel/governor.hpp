// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/settings.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/schedule/help-policy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace scs {

/// When helpers are asked. That is decided at the end of each cycle for the next one, from how long walks have taken:
/// in real time they are from the load on that one thread hardly carries, offline if walks have been seen to be faster
/// with them. In such a cycle they are if there is enough for them to do. [rt]
class Governor {
public:
    explicit Governor(const Settings&, NanoClock clock = NanoClock::system()) noexcept SCS_NONBLOCKING;
    /// ns that a block sounds.
    void set_block_nsec(double nsec) noexcept { block_nsec_ = nsec; }

    /// Whether they are in this cycle.
    bool asks() const noexcept { return asks_; }
    /// If so, whether they are in a block with this many planned items, and this much work in them.
    bool asks_for(size_t items, size_t work) const noexcept { return items >= 2 && work >= policy_.least_work; }
    /// Whether it takes less to hand a lone voice over than to compute it.
    bool asks_for_lone(size_t operations) const noexcept { return operations >= policy_.fewest_ops; }
    /// Whether they are for blocks at once, of which those that pass the stages together have this much work.
    bool asks_at_once(size_t work) const noexcept { return work >= policy_.least_at_once; }

    void begin_walk() noexcept SCS_NONBLOCKING;
    void end_walk() noexcept SCS_NONBLOCKING;
    /// That many blocks took `nsec`, without a walk.
    void note_blocks(int blocks, int64_t nsec) noexcept SCS_NONBLOCKING;
    /// The walk waited for a helper.
    void note_wait(int64_t nsec) noexcept { longest_wait_ = std::max(longest_wait_, nsec); }
    /// `urgent`: helpers have the priority that they need. Returns true once: they would have been asked for a long
    /// time, but for that.
    bool end_cycle(bool urgent) noexcept SCS_NONBLOCKING;

private:
    // Offline: some blocks with helpers and as many without show what is faster for the rest of a period. Where helpers
    // have brought less, that may have been by chance, so the first such period is short. The more trials in a row have
    // ended in the same way, the later the next one comes.
    static constexpr int trial_blocks = 128, first_good_period = 4096, first_bad_period = 512,
                         longest_period = 32768; ///< blocks
    static constexpr double least_gain = 0.05;
    enum class Trial { with, without, over };
    struct Spent {
        int64_t nsec = 0;
        int blocks = 0;
        double of_a_block() const noexcept { return double(nsec) / std::max(blocks, 1); }
    };
    bool lacks_priority(bool urgent) const noexcept { return real_time_ && reluctant_ && !urgent; }
    bool is_much(bool asked) const noexcept SCS_NONBLOCKING;
    bool worthwhile(bool urgent) const noexcept SCS_NONBLOCKING;
    void try_out() noexcept SCS_NONBLOCKING;

    const HelpPolicy& policy_;
    const NanoClock clock_;
    const bool real_time_, reluctant_;
    const int threads_;
    double block_nsec_ = 1;
    bool asks_ = false;
    // Of this cycle.
    int blocks_ = 0;
    int64_t spent_ = 0;        ///< ns, in walks that are measured, which are …
    int measured_ = 0;         ///< … this many blocks
    int64_t longest_wait_ = 0; ///< ns
    // Of this walk.
    int64_t began_ = 0;
    bool measures_ = false;
    int unmeasured_ = 0; ///< walks that aren't measured, since the last one that was
    // Of longer.
    double load_ = 0;         ///< of the walks: of the time that their blocks sound
    double rest_nsec_ = 0;    ///< how long helpers are still left alone
    bool unasked_ = false;    ///< they aren't asked for want of a priority …
    double unasked_nsec_ = 0; ///< … for this long
    bool told_ = false;       ///< … so that it was told
    bool pays_ = true;        ///< offline: whether walks are faster with helpers
    Trial trial_ = Trial::with;
    std::array<Spent, 2> trials_{};    ///< without helpers, and with them
    bool gained_ = false;              ///< in the last trial
    int period_ = 0, period_left_ = 0; ///< blocks; 0: there was no trial yet
};

} // namespace scs
