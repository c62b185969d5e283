// SPDX-License-Identifier: GPL-3.0-or-later
// The prover of real-time safety: that it catches what it should, and what it says of the node.
#include "fixture.hpp"
#include "rt-guard.hpp"

#include <doctest/doctest.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

using namespace scs::test;

namespace {

constexpr spa_direction in = SPA_DIRECTION_INPUT, out = SPA_DIRECTION_OUTPUT;

std::mutex a_mutex;
pthread_mutex_t held_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t a_rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t a_condition = PTHREAD_COND_INITIALIZER;
sem_t a_semaphore;
constexpr timespec the_past = {0, 0};
void* kept = nullptr;
FILE* scratch = nullptr;
int chosen = 0;

/// Runs a few cycles of a node that commits `fault`, on a guarded data thread. Returns the breaches.
std::optional<std::vector<Breach>> breaches_of(void (*fault)(), const std::vector<Allowed>& allowed = {}) {
    std::string reason;
    if (!rt_guard_works(reason)) {
        MESSAGE(reason);
        return {};
    }
    FakeHost host;
    host.data().run(guard_thread);
    std::optional<RtScope> scope;
    host.before_process = [&] { scope.emplace(); };
    host.after_process = [&] { scope.reset(); };
    auto node = host.create({});
    node->link(in, 0);
    node->link(out, 0);
    node->link(out, 1, 8192, 2);
    node->start();
    host.cycles(20, 64); // includes what is resolved or touched only in the first cycles
    host.fake.in_process = fault;
    host.cycle(64);
    host.fake.in_process = nullptr;
    host.cycles(20, 1024);
    node->unlink(out, 0);
    host.cycles(20, 100);
    return take_breaches(allowed);
}

} // namespace

TEST_CASE("a node in its cycles breaks no rule") {
    const auto breaches = breaches_of(nullptr);
    if (!breaches)
        return;
    for (const Breach& breach : *breaches)
        FAIL_CHECK(breach.what << " at " << breach.where);
}

TEST_CASE("reading the clock is allowed") {
    const auto breaches = breaches_of([] {
        timespec now;
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    });
    if (breaches)
        CHECK(breaches->empty());
}

TEST_CASE("each kind of breach is caught") {
    scratch = std::tmpfile();
    REQUIRE(scratch);
    REQUIRE(std::fputs("its buffer is there", scratch) >= 0);
    REQUIRE(sem_init(&a_semaphore, 0, 0) == 0);
    const struct {
        const char* what;
        const char* where;
        void (*fault)();
    } faults[] = {
        {"malloc", "test-rt-guard", [] { kept = std::malloc(10); }},
        {"free", "test-rt-guard",
         [] {
             std::free(std::exchange(kept, nullptr));
             asm volatile(""); // keeps the call from being a tail call, which would hide the function that frees
         }},
        {"calloc", "test-rt-guard", [] { kept = std::calloc(1, 10); }},
        {"realloc", "test-rt-guard", [] { kept = std::realloc(kept, 20); }},
        {"aligned_alloc", "test-rt-guard", [] { kept = std::aligned_alloc(64, 64); }},
        {"malloc", "libstdc++", [] { kept = ::operator new(10); }},
        {"pthread_mutex_lock", "test-rt-guard", [] { const std::lock_guard lock(a_mutex); }},
        {"pthread_mutex_trylock", "test-rt-guard",
         [] {
             if (a_mutex.try_lock())
                 a_mutex.unlock();
         }},
        {"memalign", "test-rt-guard", [] { kept = memalign(64, 64); }},
        {"posix_memalign", "test-rt-guard", [] { CHECK(posix_memalign(&kept, 64, 64) == 0); }},
        {"pthread_rwlock_rdlock", "test-rt-guard",
         [] {
             pthread_rwlock_rdlock(&a_rwlock);
             pthread_rwlock_unlock(&a_rwlock);
         }},
        {"pthread_rwlock_wrlock", "test-rt-guard",
         [] {
             pthread_rwlock_wrlock(&a_rwlock);
             pthread_rwlock_unlock(&a_rwlock);
         }},
        // Without a waiting thread, these two make no system call.
        {"pthread_cond_signal", "test-rt-guard",
         [] {
             pthread_cond_signal(&a_condition);
             asm volatile("");
         }},
        {"pthread_cond_broadcast", "test-rt-guard",
         [] {
             pthread_cond_broadcast(&a_condition);
             asm volatile("");
         }},
        {"sem_post", "test-rt-guard",
         [] {
             sem_post(&a_semaphore);
             asm volatile("");
         }},
        {"sem_wait", "test-rt-guard",
         [] {
             sem_wait(&a_semaphore);
             asm volatile("");
         }},
        // It stays in the stream's buffer, so it makes no system call either.
        {"fwrite", "test-rt-guard",
         [] {
             std::fwrite(&kept, 1, 1, scratch);
             asm volatile("");
         }},
        {"fprintf", "test-rt-guard",
         [] {
             std::fprintf(scratch, "%d", 1);
             asm volatile("");
         }},
        {"rand", "test-rt-guard",
         [] {
             chosen = std::rand();
             asm volatile("");
         }},
    };
    for (const auto& each : faults) {
        const auto breaches = breaches_of(each.fault);
        if (!breaches)
            return;
        REQUIRE_MESSAGE(breaches->size() == 1, each.what);
        CHECK(breaches->front().what == each.what);
        CHECK_MESSAGE(breaches->front().where.find(each.where) != std::string::npos, breaches->front().where);
    }
}

TEST_CASE("waiting for a condition is caught") {
    // The wait ends at once, as its time has passed. It is a system call all the same.
    static void (*const waits[])() = {
        [] { pthread_cond_timedwait(&a_condition, &held_mutex, &the_past); },
        [] { pthread_cond_clockwait(&a_condition, &held_mutex, CLOCK_MONOTONIC, &the_past); },
    };
    const char* const names[] = {"pthread_cond_timedwait", "pthread_cond_clockwait"};
    for (size_t i = 0; i < 2; ++i) {
        static size_t which;
        which = i;
        const auto breaches = breaches_of([] {
            pthread_mutex_lock(&held_mutex);
            waits[which]();
            pthread_mutex_unlock(&held_mutex);
        });
        if (!breaches)
            return;
        REQUIRE(breaches->size() >= 2);
        CHECK(breaches->at(0).what == "pthread_mutex_lock");
        CHECK(breaches->at(1).what == names[i]);
    }
}

TEST_CASE("a system call is caught, by number, and still carried out") {
    static long result = 0;
    const auto breaches = breaches_of([] { result = syscall(SYS_getppid); });
    if (!breaches)
        return;
    REQUIRE(breaches->size() == 1);
    CHECK(breaches->front().what == "system call " + std::to_string(SYS_getppid));
    CHECK(result == getppid());
}

TEST_CASE("what is allowed with a reason doesn't count, and only that") {
    const std::vector<Allowed> allowed = {{"malloc", "test-rt-guard", "planted"}};
    const auto one = breaches_of([] { kept = std::malloc(10); }, allowed);
    if (!one)
        return;
    CHECK(one->empty());
    const auto other = breaches_of([] { syscall(SYS_getppid); }, allowed);
    CHECK(other->size() == 1);
}
