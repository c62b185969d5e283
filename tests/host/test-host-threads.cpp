// SPDX-License-Identifier: GPL-3.0-or-later
// Threads of the host: whether they have its data loop's priority is what they find, not what the host answers.
#include "host-threads.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdio>
#include <pthread.h>
#include <sched.h>
#include <spa/utils/type.h>
#include <thread>

using namespace scs;

namespace {

/// A host's threads, of which some get a priority.
struct Utils {
    explicit Utils(int priorities) : left(priorities) {
        spa.iface = {SPA_TYPE_INTERFACE_ThreadUtils, SPA_VERSION_THREAD_UTILS, {&methods, this}};
    }
    static spa_thread* create(void*, const spa_dict*, void* (*body)(void*), void* argument) {
        pthread_t thread;
        return pthread_create(&thread, nullptr, body, argument) == 0 ? reinterpret_cast<spa_thread*>(thread) : nullptr;
    }
    static int join(void*, spa_thread* thread, void**) {
        return -pthread_join(reinterpret_cast<pthread_t>(thread), nullptr);
    }
    /// As PipeWire's, it may say that all is well before it is.
    static int acquire_rt(void* self, spa_thread* thread, int) {
        const sched_param priority{1};
        if (static_cast<Utils*>(self)->left-- > 0)
            CHECK(pthread_setschedparam(reinterpret_cast<pthread_t>(thread), SCHED_RR | SCHED_RESET_ON_FORK,
                                        &priority) == 0);
        return 0;
    }

    int left;
    spa_thread_utils spa{};
    const spa_thread_utils_methods methods = [] {
        spa_thread_utils_methods made{};
        made.version = SPA_VERSION_THREAD_UTILS_METHODS;
        made.create = create;
        made.join = join;
        made.acquire_rt = acquire_rt;
        return made;
    }();
};

struct Asked {
    ThreadMaker* maker;
    std::atomic<bool> started{false};
    bool urgent = false;
};

/// How many of two threads of such a host find that they are urgent.
int urgent(int priorities) {
    Utils utils(priorities);
    const auto maker = spa::host_threads(&utils.spa);
    Asked asked[2]{{maker.get()}, {maker.get()}};
    void* threads[2];
    for (int i = 0; i < 2; ++i) {
        const auto body = [](void* to) -> void* {
            auto& self = *static_cast<Asked*>(to);
            while (!self.started)
                std::this_thread::yield();
            self.urgent = self.maker->urgency() == ThreadMaker::Urgency::urgent;
            return nullptr;
        };
        threads[i] = maker->start(body, &asked[i]);
        REQUIRE(threads[i]);
    }
    for (int i = 0; i < 2; ++i) {
        asked[i].started = true;
        maker->join(threads[i]);
    }
    return asked[0].urgent + asked[1].urgent;
}

bool priority_is_allowed() {
    sched_param priority{1};
    const bool allowed = sched_setscheduler(0, SCHED_RR, &priority) == 0;
    priority.sched_priority = 0;
    return allowed && sched_setscheduler(0, SCHED_OTHER, &priority) == 0;
}

} // namespace

TEST_CASE("a thread is urgent if it has a priority, whatever the host has said") {
    CHECK(urgent(0) == 0);
    if (!priority_is_allowed()) {
        std::puts("[skipped on the way] threads with a priority: SCHED_RR isn't allowed here");
        return;
    }
    CHECK(urgent(1) == 1);
    CHECK(urgent(2) == 2);
}

TEST_CASE("a host without threads gives none") {
    CHECK(spa::host_threads(nullptr) == nullptr);
}

TEST_CASE("nodes of a host share their helpers, as long as there is one") {
    Utils host(0), other(0);
    const auto first = spa::host_helpers(&host.spa);
    CHECK(spa::host_helpers(&host.spa) == first);
    CHECK(spa::host_helpers(&other.spa) != first);
    const auto plain = spa::host_helpers(nullptr);
    CHECK(plain != first);
    CHECK(spa::host_helpers(nullptr) == plain);
    CHECK(plain->hurried());
}
