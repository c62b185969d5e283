// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace scs {

/// A monotonic clock, ns. Tests give one that they move themselves.
struct NanoClock {
    int64_t (*read)(void* data) SCS_NONBLOCKING = nullptr;
    void* data = nullptr;

    int64_t now() const noexcept { return read(data); }
    /// [any] The system's.
    static NanoClock system() noexcept SCS_NONBLOCKING;
};

/// The moment at which the present cycle has to stop. What is about to work says how long that will take, and is
/// told whether to leave it. The clock is read only when enough work has been announced, so asking often costs little.
/// [rt]
class Deadline {
public:
    static constexpr int64_t never = std::numeric_limits<int64_t>::max();
    /// A cost: has the clock read now, but not again before other work is announced.
    static constexpr int64_t unknown = 1'000'000'000;

    explicit Deadline(NanoClock clock = NanoClock::system()) noexcept : clock_(clock) {}
    void set_clock(NanoClock clock) noexcept { clock_ = clock; }
    int64_t now() const noexcept { return clock_.now(); }

    /// The time ends at `moment`, and the clock is read after each `interval` ns of announced work.
    void begin(int64_t moment, int64_t interval) noexcept {
        moment_ = moment;
        interval_ = interval;
        left_ = left_at_reading_ = moment == never ? never : 0;
        passed_ = just_read_ = false;
    }
    bool bounded() const noexcept { return moment_ != never; }
    int64_t moment() const noexcept { return moment_; }

    /// Work of about `cost` ns is next; 0 or more. true: it must be left, as the deadline has passed.
    bool spend(int64_t cost) noexcept {
        left_ -= cost;
        return left_ < 0 && look(cost);
    }
    /// The same, but without looking at the clock. true: go on; false: ask again by spend().
    bool spends_unseen(int64_t cost) noexcept {
        if (left_ < cost)
            return false;
        left_ -= cost;
        return true;
    }
    /// Has the clock read when `work` ns more are announced, if it isn't before. Only if bounded().
    void look_after(int64_t work) noexcept {
        const int64_t sooner = std::max<int64_t>(left_ - work, 0);
        left_ -= sooner;
        left_at_reading_ -= sooner;
    }
    /// How much work has been announced since the last reading, ns.
    int64_t announced() const noexcept { return left_at_reading_ - left_; }
    /// Whether a question since begin() was answered with true. All further ones are, too.
    bool passed() const noexcept { return passed_; }

    /// Whether the last question read the clock, so that the work after it can be measured. True once for each reading.
    bool just_read() noexcept {
        const bool was = just_read_;
        just_read_ = false;
        return was;
    }
    /// What the clock said last, ns.
    int64_t last_reading() const noexcept { return last_; }
    /// Reads the clock: ns since `moment`. There may have been other readings since.
    int64_t measure(int64_t moment) noexcept {
        last_ = clock_.now();
        just_read_ = false;
        return last_ - moment;
    }

private:
    [[gnu::cold]] bool look(int64_t cost) noexcept {
        if (moment_ == never) {
            left_ = never;
            return false;
        }
        if (passed_)
            return true;
        last_ = clock_.now();
        just_read_ = true;
        passed_ = last_ >= moment_;
        left_ = passed_ ? -1 : std::min(interval_, moment_ - last_) - (cost < unknown ? std::min(cost, interval_) : 0);
        left_at_reading_ = left_;
        return passed_;
    }

    NanoClock clock_;
    int64_t moment_ = never, interval_ = 0;
    int64_t left_ = never; ///< announced work until the next reading, ns
    int64_t left_at_reading_ = never;
    int64_t last_ = 0; ///< what the clock said last
    bool passed_ = false, just_read_ = false;
};

/// What an engine may do in a cycle.
struct CycleLimit {
    int64_t deadline = Deadline::never; ///< of the engine's clock, ns; what isn't computed by then is left out
    bool renders = true;                ///< false: only commands are carried out, the outputs are silent
};

} // namespace scs
