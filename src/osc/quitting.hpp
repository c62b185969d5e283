// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <optional>

namespace scs::osc {

/// What follows a /quit. Clients send more right behind it, sclang a /sync: what has come by then is answered before
/// the end, for 100 ms at most. But after a second /quit within a second nothing is answered for a second, not even by
/// a server that stays: sclang, about to boot one, tells whatever answers to quit, again and again. [osc]
class Quitting {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// /quit came; `ends` says whether the server ends by it.
    void request(Time now, bool ends) noexcept {
        using namespace std::chrono_literals;
        const bool again = now < last_request_ + 1s;
        last_request_ = now;
        if (again)
            silent_until_ = now + 1s;
        if (ends)
            close_at_ = again ? now : now + 100ms;
    }
    /// Whether nothing may be answered now.
    bool is_silent(Time now) const noexcept { return now < silent_until_; }
    /// Whether the server is about to close.
    bool is_closing() const noexcept { return close_at_.has_value(); }
    /// Whether it is to close now, if nothing is under way (`idle`) or the time for that is over.
    bool closes_now(Time now, bool idle) const noexcept { return close_at_ && (idle || now >= *close_at_); }
    void closed() noexcept { close_at_.reset(); }

private:
    Time last_request_{}, silent_until_{};
    std::optional<Time> close_at_;
};

} // namespace scs::osc
