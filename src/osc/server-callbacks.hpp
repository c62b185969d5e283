// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/printable.hpp"
#include "osc/print-socket.hpp"
#include "osc/server.hpp"

#include <mutex>
#include <new>
#include <string>
#include <utility>

namespace scs::osc {

/// The callbacks of ServerSettings. After end_news() none is called but for the log, after close() none at all. One
/// that runs out of memory is given up without an error. [any]
class ServerCallbacks {
public:
    using Level = ServerSettings::Level;

    explicit ServerCallbacks(const ServerSettings& settings) : settings_(settings) {}

    void print_to(PrintSocket socket) {
        const std::lock_guard lock(mutex_);
        print_socket_ = std::move(socket);
    }
    /// One line; what isn't printable in it is escaped.
    void log(Level level, const std::string& text) noexcept {
        call([&] {
            if (is_printable(text))
                log_printable(level, text);
            else
                log_printable(level, printable(text));
        });
    }
    void state(const std::string& text) noexcept {
        call([&] {
            if (settings_.state && news_)
                settings_.state(text);
        });
    }
    void wake() noexcept {
        call([&] {
            if (settings_.wake && news_)
                settings_.wake();
        });
    }
    void rouse() noexcept {
        call([&] {
            if (settings_.rouse && news_)
                settings_.rouse();
        });
    }
    void quit() noexcept {
        call([&] {
            if (settings_.quit && news_)
                settings_.quit();
        });
    }
    void end_news() {
        const std::lock_guard lock(mutex_);
        news_ = false;
    }
    void close() {
        const std::lock_guard lock(mutex_);
        open_ = false;
        print_socket_ = PrintSocket();
    }

private:
    void log_printable(Level level, const std::string& line) {
        const bool printed = level != Level::debug && print_socket_.print(line);
        const bool for_log = level != Level::output && level != Level::info;
        if (settings_.log && (for_log || !printed))
            settings_.log(level, line);
    }
    template <class F>
    void call(F&& callback) noexcept {
        const std::lock_guard lock(mutex_);
        try {
            if (open_)
                callback();
        } catch (const std::bad_alloc&) {
        }
    }

    const ServerSettings& settings_;
    std::mutex mutex_;
    PrintSocket print_socket_;
    bool open_ = true, news_ = true;
};

} // namespace scs::osc
