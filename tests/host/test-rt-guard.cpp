// SPDX-License-Identifier: GPL-3.0-or-later
// The prover of real-time safety: that it catches what it should, and what it says of the node.
#include "fixture.hpp"
#include "rt-guard.hpp"

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>
#include <optional>
#include <utility>

using namespace scs::test;

namespace {

constexpr spa_direction in = SPA_DIRECTION_INPUT, out = SPA_DIRECTION_OUTPUT;

std::mutex a_mutex;
void* kept = nullptr;

/// A host whose data thread is guarded, and what a few cycles of a node that does `fault` come to.
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
    host.cycles(20, 64); // what the first cycles resolve or touch for the first time counts too
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
    const struct {
        const char* what;
        const char* where;
        void (*fault)();
    } faults[] = {
        {"malloc", "test-rt-guard", [] { kept = std::malloc(10); }},
        {"free", "test-rt-guard", 
         [] {
             std::free(std::exchange(kept, nullptr));
             asm volatile(""); // the call must not be the last thing, or it's the caller's caller that frees
         }},
        {"calloc", "test-rt-guard", [] { kept = std::calloc(1, 10); }},
        {"realloc", "test-rt-guard", [] { kept = std::realloc(kept, 20); }},
        {"aligned_alloc", "test-rt-guard", [] { kept = std::aligned_alloc(64, 64); }},
        {"malloc", "libstdc++", [] { kept = ::operator new(10); }},
        {"pthread_mutex_lock", "test-rt-guard", [] { const std::lock_guard lock(a_mutex); }},
    };
    for (const auto& [what, where, fault] : faults) {
        const auto breaches = breaches_of(fault);
        if (!breaches)
            return;
        REQUIRE_MESSAGE(breaches->size() == 1, what);
        CHECK(breaches->front().what == what);
        CHECK_MESSAGE(breaches->front().where.find(where) != std::string::npos, breaches->front().where);
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
