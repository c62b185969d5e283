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
            (void)spa_thread_utils_acquire_rt(utils_, thread, -1); // its result isn't the last word: see urgent()
        return thread;
    }
    void join(void* thread) noexcept override {
        spa_thread_utils_join(utils_, static_cast<spa_thread*>(thread), nullptr);
    }
    /// The host may still be asking others for the priority, as PipeWire asks RTKit in a thread of its own.
    bool urgent() const noexcept override {
        const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
        return policy == SCHED_FIFO || policy == SCHED_RR;
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

} // namespace

const spa_handle_factory thread_offer =
    TellingHandle<thread_offer_interface, functions, forget>::factory(thread_offer_factory);

std::shared_ptr<ThreadMaker> host_threads(spa_thread_utils* utils) {
    if (!utils && !offers().empty())
        utils = offers().begin()->second;
    return utils ? std::make_shared<HostThreads>(utils) : nullptr;
}

} // namespace scs::spa
