// SPDX-License-Identifier: GPL-3.0-or-later
// Threads of the host: whether they have the data loop's priority is what the host answers.
#include "host-threads.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <pthread.h>
#include <spa/utils/type.h>

using namespace scs;

namespace {

/// A host's threads, of which so many get a priority.
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
    static int acquire_rt(void* self, spa_thread*, int) { return static_cast<Utils*>(self)->left-- > 0 ? 0 : -EPERM; }

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

/// Whether two threads of such a host are urgent.
bool urgent(int priorities) {
    Utils utils(priorities);
    const auto maker = spa::host_threads(&utils.spa);
    int done[2] = {};
    void* threads[2];
    for (int i = 0; i < 2; ++i) {
        const auto body = [](void* to) -> void* {
            *static_cast<int*>(to) = 1;
            return nullptr;
        };
        threads[i] = maker->start(body, &done[i]);
        REQUIRE(threads[i]);
    }
    for (void* thread : threads)
        maker->join(thread);
    CHECK(done[0] + done[1] == 2);
    return maker->urgent();
}

} // namespace

TEST_CASE("threads are urgent if all of them have got a priority") {
    CHECK(urgent(2));
    CHECK_FALSE(urgent(1));
    CHECK_FALSE(urgent(0));
}

TEST_CASE("a host without threads gives none") {
    CHECK(spa::host_threads(nullptr) == nullptr);
}
