// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/schedule/helpers.hpp"

#include <cstdint>

namespace scs {

/// An owner's wait for a helper that has begun something. No other thread can finish that, and none can take it from
/// the helper, so a wait without success ends all that the owner does.
class LongWait {
public:
    /// ns after which a hurried owner sleeps between two looks, for 0.1 ms: it may be the owner's own processor that
    /// the helper lacks. The cycle is late by then in any case.
    static constexpr int64_t longest_awake = 10'000'000;

    /// [rt] The wait begins.
    explicit LongWait(const Helpers& helpers) noexcept : helpers_(helpers) {}
    /// [rt] To be called between two looks, which take no longer than a task. Doesn't return if a helper has crashed,
    /// or has kept a hurried owner waiting for HelpPolicy::longest_hang: FaultGuard::give_up(). Time in which the owner
    /// had no processor itself, or was stopped, doesn't count.
    void go_on() noexcept SCS_NONBLOCKING;
    /// [rt] ns since the wait began.
    int64_t nsec() const noexcept { return clock_.now() - began_; }

private:
    const Helpers& helpers_;
    const NanoClock clock_ = NanoClock::system();
    const int64_t began_ = clock_.now();
    int64_t looked_ = began_; ///< when the last look was
    int64_t waited_ = 0;      ///< ns that count
};

} // namespace scs
