// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/thread-maker.hpp"

#include <pthread.h>

namespace scs {
namespace {

class PlainThreads final : public ThreadMaker {
    void* start(void* (*body)(void*), void* argument) override {
        pthread_t thread;
        if (pthread_create(&thread, nullptr, body, argument) != 0)
            return nullptr;
        pthread_setname_np(thread, "scsynth-help");
        return reinterpret_cast<void*>(thread);
    }
    void join(void* thread) noexcept override { pthread_join(reinterpret_cast<pthread_t>(thread), nullptr); }
    Urgency urgency() const noexcept override { return Urgency::never; }
};

} // namespace

std::shared_ptr<ThreadMaker> ThreadMaker::plain() {
    return std::make_shared<PlainThreads>();
}

} // namespace scs
