// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

namespace scs::module {

/// When a process that keeps ending is started again: after half a second, then twice as long each time, at most five
/// times a minute. One that ran for a minute begins anew. [any]
class Restarts {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;

    void started(Time now) {
        starts_[next_] = now;
        next_ = (next_ + 1) % starts_.size();
        ++count_;
    }

    /// How long to wait now that it has ended.
    Duration pause(Time now) {
        const Time last = starts_[(next_ + starts_.size() - 1) % starts_.size()];
        pause_ = now - last >= minute ? shortest : std::min(2 * pause_, longest);
        Duration wait = pause_;
        if (count_ >= starts_.size())
            wait = std::max(wait, starts_[next_] + minute - now);
        return wait;
    }

private:
    static constexpr Duration minute = std::chrono::minutes(1), shortest = std::chrono::milliseconds(500),
                              longest = std::chrono::seconds(30);

    std::array<Time, 5> starts_{};
    size_t next_ = 0;
    size_t count_ = 0;
    Duration pause_ = shortest / 2;
};

} // namespace scs::module
