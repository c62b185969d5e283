// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>

namespace scs {
struct EngineStatus;
}

namespace scs::osc {

class PendingBundles;

/// Decides when the OSC thread looks at the engine's events again, because the data loop, which may make no system
/// call, cannot tell it that there are some; and when the data loop must be woken, because it runs no cycles. [osc]
class EngineWatch {
public:
    /// The data loop, which had nothing of ours to do, gets something.
    void note_new_work() noexcept { cycle_seen_ = event_seen_ = Clock::now(); }
    /// Something came back.
    void note_event() noexcept { event_seen_ = Clock::now(); }

    /// Whether the data loop must be woken: it has had work (`awaited`) for 50 ms and run no cycle. To be called
    /// often; true once every 50 ms.
    bool is_stuck(const EngineStatus&, bool awaited) noexcept;
    /// The thread that has been in one cycle for 100 ms, once every 100 ms; 0: there is none. To be called often.
    int32_t stays_in_cycle(const EngineStatus&) noexcept;
    /// How long to sleep at most. `awaited`: the data loop has work of ours; `clients`: somebody gets notifications.
    std::chrono::microseconds time_to_sleep(const EngineStatus&, const PendingBundles&, bool awaited,
                                            bool clients) noexcept;

private:
    using Clock = std::chrono::steady_clock;

    uint64_t cycles_ = 0;                         ///< that the engine had run when looked at last
    Clock::time_point cycle_seen_ = Clock::now(); ///< when that number was last seen to grow
    Clock::time_point event_seen_ = Clock::now();
    bool synths_ran_ = false; ///< the last time
    bool in_cycle_ = false;   ///< the engine was in a cycle when it was looked at …
    uint64_t cycle_ = 0;      ///< … which was this one
    Clock::time_point stays_since_{};
};

} // namespace scs::osc
