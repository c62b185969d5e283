// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/plugin-turn.hpp"

#include <condition_variable>
#include <mutex>
#include <new>
#include <string>

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
    const auto has_come = [&] { return left_ || !all.owner; };
    if (!all.changed.wait_for(lock, patience_, has_come)) {
        // Held meanwhile, so that the other one is still there.
        complain_about(all.owner->owner_);
        all.changed.wait(lock, has_come);
    }
    if (!left_)
        all.owner = this;
    return !left_;
}

void PluginTurn::complain_about(const std::string& other) const noexcept {
    if (!tell_)
        return;
    try {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience_).count();
        tell_("plugins' jobs of " + owner_ + " have waited " + std::to_string(seconds) + " s for one of " + other +
              "; scsynth.plugin-job-limit ends those that take too long");
    } catch (const std::bad_alloc&) { // not told
    }
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
