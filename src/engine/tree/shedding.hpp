// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/settings.hpp"

#include <cstdint>

namespace scs {

class Deadline;
class Outbox;
class Tree;
struct EngineStatus;

/// What is done about an overload that stays (the setting `overload`): synths are ended or paused, the newest first, in
/// rounds, each of which frees more time than the one before, until no block is missing any more. Those that were
/// paused run again when there is time. [rt], after construction.
class Shedding {
public:
    Shedding(const Settings&, Tree&, Outbox&, Deadline&, EngineStatus&); // [worker]

    /// How a cycle with a deadline went.
    struct Cycle {
        double seconds; ///< its duration
        int64_t limit;  ///< ns that it could use …
        int64_t used;   ///< … and did
        double blocks;  ///< that it had to compute
        bool strained;  ///< its blocks took too long: not all were computed, or they took longer than the cycle
        bool skipped;   ///< none were to be, as those before had taken too long
    };
    void after_cycle(const Cycle&) noexcept SCS_NONBLOCKING;
    /// To be called when a cycle begins, before blocks are computed. false: nothing is to be rendered in it.
    bool before_cycle() noexcept SCS_NONBLOCKING;

private:
    enum class Policy : uint8_t { shed, mute, none };

    void shed() noexcept SCS_NONBLOCKING;
    void resume() noexcept SCS_NONBLOCKING;
    void tell() noexcept SCS_NONBLOCKING;

    Policy policy_;
    double limit_percent_;
    Tree& tree_;
    Outbox& outbox_;
    Deadline& deadline_;
    EngineStatus& status_;
    Cycle last_{};
    double strain_ = 0;                        ///< seconds of overload that have not been made up for
    double calm_ = 0;                          ///< seconds since the load was last near the limit
    double muted_ = 0;                         ///< seconds still to be silent
    double untold_ = 0;                        ///< seconds since the last line
    double share_ = 0;                         ///< of a block's time that the next round frees
    bool due_ = false;                         ///< a round is to be run
    int ended_ = 0, paused_ = 0, resumed_ = 0; ///< not told yet
};

} // namespace scs
