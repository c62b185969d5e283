// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/graph-view.hpp"
#include "engine/base/result.hpp"

#include <pipewire/pipewire.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace scs::cli {

/// A connection to the PipeWire daemon on a loop of this thread, which also takes SIGINT, SIGTERM and SIGHUP.
class Connection {
public:
    /// `with_node`: a node is going to run here, so the data loop needs real-time priority. The error says how to start
    /// the daemon.
    static Result<std::unique_ptr<Connection>> open(bool with_node);
    /// The same without a connection: connect() makes it. Null if there is no memory for it.
    static std::unique_ptr<Connection> prepare(bool with_node);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection();

    enum class Waited { done, interrupted, lost, late };

    /// Leaves the daemon, gone or not, and forgets what was known of it. All proxies must have been destroyed, and only
    /// waiting is allowed until connect() has succeeded.
    void disconnect();
    /// Connects to the daemon that is there now. False: there is none.
    bool connect();

    /// Serves events until the condition is true, a signal has come, the daemon is gone, or the time is over. Without a
    /// limit it waits as long as it takes.
    Waited wait_until(const std::function<bool()>& condition,
                      std::optional<std::chrono::milliseconds> limit = std::nullopt);
    /// Takes it for SIGTERM when the other end of this descriptor is closed.
    void end_with(int fd);
    /// Serves events for that time, or until a signal has come or the daemon is gone: `late` if it passed.
    Waited pause(std::chrono::milliseconds time) {
        return wait_until([] { return false; }, time);
    }
    /// Waits, at most 5 s, until the daemon has done all that it was asked before.
    Waited round_trip();

    pw_context* context() const { return context_; }
    pw_core* core() const { return core_; }
    GraphView& graph() { return *graph_; }
    /// A property of the daemon, empty if it has none of that name. Known after a round trip.
    std::string daemon_property(const std::string& key) const;
    /// As "1.4.2". Known after a round trip.
    const std::string& daemon_version() const { return version_; }

private:
    Connection() = default;
    bool make_context(bool with_node);

    static const pw_core_events core_events;

    pw_loop* loop_ = nullptr;
    spa_source* life_line_ = nullptr;
    pw_context* context_ = nullptr;
    pw_core* core_ = nullptr;
    spa_hook listener_{};
    std::unique_ptr<GraphView> graph_;
    GraphView::Properties daemon_;
    std::string version_;
    int done_ = -1; ///< sequence number of the last round trip that is over
    bool interrupted_ = false, lost_ = false;
};

/// A sentence for a connect() that has failed with `error`, an errno: how to start the daemon.
Error not_connected(int error);

/// A sentence for waits that did not end well: "PipeWire has not answered …".
Error unanswered(Connection::Waited how);

} // namespace scs::cli
