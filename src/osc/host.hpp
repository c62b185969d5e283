// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/server.hpp"

#include <mutex>
#include <string>

namespace scs::osc {

/// The callbacks of ServerSettings, guarded: none is called any more once close() has returned. [any]
class Host {
public:
    using Level = ServerSettings::Level;

    explicit Host(const ServerSettings& settings) : settings_(settings) {}

    void log(Level level, const std::string& text) {
        const std::lock_guard lock(mutex_);
        if (open_ && settings_.log)
            settings_.log(level, text);
    }
    void state(const std::string& text) {
        const std::lock_guard lock(mutex_);
        if (open_ && settings_.state)
            settings_.state(text);
    }
    void wake() {
        const std::lock_guard lock(mutex_);
        if (open_ && settings_.wake)
            settings_.wake();
    }
    void quit() {
        const std::lock_guard lock(mutex_);
        if (open_ && settings_.quit)
            settings_.quit();
    }
    void close() {
        const std::lock_guard lock(mutex_);
        open_ = false;
    }

private:
    const ServerSettings& settings_;
    std::mutex mutex_;
    bool open_ = true;
};

} // namespace scs::osc
