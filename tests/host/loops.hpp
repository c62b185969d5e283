// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <spa/support/log.h>
#include <spa/support/loop.h>

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace scs::test {

/// A loop over file descriptors, like PipeWire's: it has sources, and runs functions for other threads.
class Loop {
public:
    Loop();
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    spa_loop* spa() { return &spa_; }
    /// Waits for events and handles them. Returns whether there were any. Only for the loop's thread.
    bool iterate(int timeout_ms);
    /// Runs `f` on the loop's thread and waits for it. Without such a thread, or on it, runs it directly.
    void run(const std::function<void()>& f);
    /// Makes the calling thread the loop's thread.
    void enter();
    void leave();
    /// Makes iterate() return.
    void wake();

private:
    static int add_source(void*, spa_source*);
    static int update_source(void*, spa_source*);
    static int remove_source(void*, spa_source*);
    static int invoke(void*, spa_invoke_func_t, uint32_t seq, const void* data, size_t size, bool block, void* user);
    void run_queue();

    struct Task {
        std::function<void()> function;
        bool done = false;
    };

    spa_loop spa_{};
    spa_source wakeup_{};
    int poll_fd_;
    std::mutex mutex_;
    std::condition_variable finished_;
    std::thread::id owner_{};
    std::list<std::shared_ptr<Task>> queue_;
};

/// The main loop's further services: events and timers. Iterated by the test itself.
class MainLoop {
public:
    MainLoop();
    ~MainLoop();

    spa_loop* loop() { return loop_.spa(); }
    spa_loop_utils* utils() { return &utils_; }
    /// Handles events until `done` is true. Returns false if that takes longer than `timeout_ms`.
    bool run_until(const std::function<bool()>& done, int timeout_ms = 5000);
    /// Lets every armed timer expire now.
    void expire_timers();
    /// How many sources a plugin hasn't destroyed.
    size_t sources() const { return sources_.size(); }

private:
    struct Source;
    static spa_source* add_event(void*, spa_source_event_func_t, void* data);
    static int signal_event(void*, spa_source*);
    static spa_source* add_timer(void*, spa_source_timer_func_t, void* data);
    static int update_timer(void*, spa_source*, timespec* value, timespec* interval, bool absolute);
    static void destroy_source(void*, spa_source*);

    Loop loop_;
    spa_loop_utils utils_{};
    std::list<Source> sources_;
};

/// A log that keeps its messages.
class Log {
public:
    Log();
    spa_log* spa() { return &spa_; }
    /// Whether a message contains `text`.
    bool has(const std::string& text);
    std::string all();
    void forget();

private:
    static void logt(void*, spa_log_level, const spa_log_topic*, const char* file, int line, const char* function,
                     const char* format, ...) SPA_PRINTF_FUNC(7, 8);

    spa_log spa_{};
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

} // namespace scs::test
