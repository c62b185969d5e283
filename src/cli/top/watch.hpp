// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/link.hpp"
#include "cli/top/query.hpp"
#include "cli/top/server-options.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace scs::top {

/// Asks one server for samples, one after the other; again if there is no answer, and anew when it has been gone.
/// Nothing in it waits.
class Watch {
public:
    using Clock = std::chrono::steady_clock;
    enum class News {
        none,
        sample,  ///< sample() is there
        lost,    ///< there is no server, or none any more: why() says it. It will be tried again
        refused, ///< the same, but there is one that doesn't tell
    };

    static constexpr std::chrono::seconds most_time{60}; ///< that a server has to tell a sample

    /// `seconds` between two samples. The first one is due at once. `longest`: what is asked for fails if it takes
    /// more.
    Watch(ServerOptions server, double seconds, std::chrono::seconds longest = most_time)
        : server_(std::move(server)), seconds_(seconds), longest_(longest) {}

    /// To be polled for events(); -1: for none.
    int fd() const { return link_ ? link_->fd() : -1; }
    short events() const { return link_ ? link_->events() : short(0); }
    /// When go_on() is to be called.
    Clock::time_point due() const { return due_; }
    /// The next sample is due now, unless one is under way.
    void hurry();
    News go_on();
    /// To be called when one of events() has come, or an error.
    News receive();

    Sample& sample() { return query_->sample(); } ///< until the next call of go_on()
    const std::string& why() const { return why_; }
    const ServerOptions& server() const { return server_; }

private:
    bool is_connecting() const { return link_ && link_->is_connecting(); }
    News ask();
    News begin_query();
    News take_connection();
    News send();
    News fail_to_connect(const std::string& why);
    News fail(News news, std::string why);
    std::string silence() const { return "no server answers at " + server_.name(); }

    ServerOptions server_;
    double seconds_;
    std::chrono::seconds longest_;
    std::optional<Link> link_;
    std::optional<Query> query_; ///< under way, or just done
    bool done_ = false;          ///< query_ is
    Clock::time_point asked_{}, due_{};
    int tries_ = 0;
    std::string why_;
};

} // namespace scs::top
