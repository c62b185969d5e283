// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <cstddef>
#include <cstdint>

namespace scs {

/// When helper threads are asked, and for how long they are waited for. Read by any thread.
struct HelpPolicy {
    /// In real time: the load of the walks, of the time that their blocks sound, from which on helpers are asked. Well
    /// below it they are no longer.
    double waking_load = 0.1;
    /// In place of that where nobody has said how many threads there are to be.
    double reluctant_load = 0.5;
    /// ns. A helper that the walk has waited for so long has lost its processor to others, which may happen again: the
    /// threads have no real-time priority then, or there are more of them than processors. None is asked for a second.
    int64_t longest_wait = 300'000;
    /// ns that a helper may keep a hurried owner waiting. One that computes without end is ended before, by its own
    /// watch, so this one is blocked, or lacks a processor.
    int64_t longest_hang = 200'000'000;
    /// ns of sound. A host that gives threads their priority late has done so by then.
    double long_without_priority = 15e9;
    /// Operations. A lone voice of fewer is computed sooner than it is handed over.
    size_t fewest_ops = 8;
    /// In a block: operations, one of a batch counting as four.
    size_t least_work = 64;
    /// The same of blocks that are computed several at once: in those that pass the stages together.
    size_t least_at_once = 256;

    enum class Moment {
        task,  ///< on a helper, before a task and after it
        round, ///< on the owner, when it has begun a round
        gate,  ///< on the owner, when it has committed, and before a task
    };
    /// For tests, which delay threads: called at these moments, unless it is null.
    void (*at)(Moment) noexcept SCS_NONBLOCKING = nullptr;

    /// What engines have whose settings name no other.
    static const HelpPolicy usual;
    static const HelpPolicy& of(const HelpPolicy* chosen) noexcept { return chosen ? *chosen : usual; }
};

} // namespace scs
