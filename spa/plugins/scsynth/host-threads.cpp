// SPDX-License-Identifier: GPL-3.0-or-later
#include "host-threads.hpp"

#include "telling-handle.hpp"

#include <map>
#include <sched.h>
#include <spa/utils/dict.h>

namespace scs::spa {
namespace {

class HostThreads final : public ThreadMaker {
public:
    explicit HostThreads(spa_thread_utils* utils) : utils_(utils) {}

    void* start(void* (*body)(void*), void* argument) override {
        const spa_dict_item items[] = {{SPA_KEY_THREAD_NAME, "scsynth-help"}};
        const spa_dict properties = {0, 1, items};
        spa_thread* thread = spa_thread_utils_create(utils_, &properties, body, argument);
        if (thread)
            (void)spa_thread_utils_acquire_rt(utils_, thread, -1); // its result isn't the last word: see urgency()
        return thread;
    }
    void join(void* thread) noexcept override {
        spa_thread_utils_join(utils_, static_cast<spa_thread*>(thread), nullptr);
    }
    /// The host may still be asking others for the priority, as PipeWire asks RTKit in a thread of its own.
    Urgency urgency() const noexcept override {
        const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
        return policy == SCHED_FIFO || policy == SCHED_RR ? Urgency::urgent : Urgency::not_yet;
    }

private:
    spa_thread_utils* utils_;
};

std::map<const spa_handle*, spa_thread_utils*>& offers() {
    static std::map<const spa_handle*, spa_thread_utils*> offered;
    return offered;
}

ThreadOffer functions = {[](spa_handle* handle, spa_thread_utils* utils) { offers()[handle] = utils; }};

void forget(spa_handle* handle) {
    offers().erase(handle);
}

/// These, or what was offered; null: neither.
spa_thread_utils* utils_or_offered(spa_thread_utils* utils) {
    return utils || offers().empty() ? utils : offers().begin()->second;
}

} // namespace

const spa_handle_factory thread_offer =
    TellingHandle<thread_offer_interface, functions, forget>::factory(thread_offer_factory);

std::shared_ptr<ThreadMaker> host_threads(spa_thread_utils* utils) {
    utils = utils_or_offered(utils);
    return utils ? std::make_shared<HostThreads>(utils) : nullptr;
}

std::shared_ptr<HelperPool> host_helpers(spa_thread_utils* utils) {
    static std::map<const spa_thread_utils*, std::weak_ptr<HelperPool>> pools;
    std::weak_ptr<HelperPool>& shared = pools[utils_or_offered(utils)];
    std::shared_ptr<HelperPool> pool = shared.lock();
    if (!pool) {
        const auto threads = host_threads(utils);
        pool = std::make_shared<HelperPool>(threads ? threads : ThreadMaker::plain(), true);
        shared = pool;
    }
    return pool;
}

} // namespace scs::spa
