// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <spa/support/log.h>
#include <spa/support/loop.h>

#include <mutex>
#include <string>

namespace scs::spa {

/// Carries what the server's threads report to the host. A thread that was left behind may hold it longer than the
/// node lives; once it is closed, nothing reaches the host any more.
class Bridge {
public:
    Bridge(spa_log* log, spa_loop_utils* main_utils) : log_(log), utils_(main_utils) {}

    /// [main] The event that is signalled when something is reported; null: none any more.
    void set_event(spa_source* event);
    /// [main] Cuts the connection to the host.
    void close();

    /// [any but rt] One line in the host's log, in the topic spa.scsynth.
    void log(spa_log_level level, const std::string& text);
    /// [any but rt] Notes a state and wakes the main loop.
    void report_state(const std::string& state);
    /// [any but rt] Notes that the node may go and wakes the main loop.
    void report_quit();
    /// [any but rt] Notes that the server is about to sound and wakes the main loop.
    void report_roused();

    struct News {
        std::string state; ///< empty: unchanged
        bool quit = false;
        bool roused = false;
    };
    /// [main] What was reported since the last call.
    News take();

private:
    void signal();

    std::mutex mutex_;
    spa_log* log_;
    spa_loop_utils* utils_;
    spa_source* event_ = nullptr;
    News news_;
};

} // namespace scs::spa
