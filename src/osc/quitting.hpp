// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/endpoint.hpp"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace scs::osc {

/// What follows a /quit. Its /done is the last that a client hears. Clients send more right after the /quit: sclang a
/// /sync, which is answered before the /done if it has come within 100 ms, and messages to its nodes, which are gone,
/// so no failure is told from then on. After a second /quit within a second nothing is answered for a second, not even
/// by a server that stays: sclang, about to boot one, tells whatever answers to quit, again and again. [osc]
class Quitting {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// A /quit has freed everything.
    void begin() noexcept { hushed_ = true; }
    /// It ended, or won't, without success.
    void give_up() noexcept { hushed_ = is_pending() || ends_; }
    /// It has been carried out for `from`; `ends` says whether the server ends by it. Throws std::bad_alloc; then the
    /// client isn't told.
    void request(Time now, bool ends, const Endpoint& from) {
        using namespace std::chrono_literals;
        const bool again = now < last_request_ + 1s, silent = is_silent(now);
        last_request_ = now;
        if (again)
            silent_until_ = now + 1s;
        ends_ |= ends;
        hushed_ = true;
        answer_at_ = again ? now : now + 100ms;
        if (!silent)
            clients_.push_back(from);
    }
    /// Whether a /quit waits for its /done.
    bool is_pending() const noexcept { return answer_at_.has_value(); }
    /// Whether that is to be sent now: nothing is under way (`idle`), or the time for it is over.
    bool answers_now(Time now, bool idle) const noexcept { return answer_at_ && (idle || now >= *answer_at_); }
    /// Those that wait for it. They may be answered until answered() is called.
    std::vector<Endpoint> take_clients() noexcept {
        answering_ = true;
        return std::exchange(clients_, {});
    }
    void answered() noexcept {
        answering_ = false;
        answer_at_.reset();
        hushed_ = ends_;
    }
    /// Whether the server ends, once that is sent.
    bool ends() const noexcept { return ends_; }
    /// Whether nothing may be answered now.
    bool is_silent(Time now) const noexcept { return now < silent_until_ && !answering_; }
    /// Whether no failures may be told now.
    bool hushes_failures() const noexcept { return hushed_; }

private:
    Time last_request_{}, silent_until_{};
    std::optional<Time> answer_at_;
    std::vector<Endpoint> clients_;
    bool ends_ = false, hushed_ = false, answering_ = false;
};

} // namespace scs::osc
