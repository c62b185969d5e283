// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/plugin-turn.hpp"

#include <condition_variable>
#include <mutex>

namespace scs::osc {

namespace {

struct Turns {
    std::mutex mutex;
    std::condition_variable changed;
    const PluginTurn* owner = nullptr;
};

/// Never destroyed: a thread that is left behind may come back at any time.
Turns& turns() noexcept {
    static auto* const all = new Turns;
    return *all;
}

} // namespace

bool PluginTurn::take() noexcept {
    Turns& all = turns();
    std::unique_lock lock(all.mutex);
    all.changed.wait(lock, [&] { return left_ || !all.owner; });
    if (!left_)
        all.owner = this;
    return !left_;
}

void PluginTurn::give() noexcept {
    Turns& all = turns();
    {
        const std::lock_guard lock(all.mutex);
        if (all.owner == this)
            all.owner = nullptr;
    }
    all.changed.notify_all();
}

void PluginTurn::leave() noexcept {
    {
        const std::lock_guard lock(turns().mutex);
        left_ = true;
    }
    give();
}

} // namespace scs::osc
