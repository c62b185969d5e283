// SPDX-License-Identifier: GPL-3.0-or-later
// The node's part on the main loop while there is no memory: each allocation fails once.
#include "fixture.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

using namespace scs::test;

namespace {

/// How many allocations of this thread succeed until one fails; negative: none fails.
thread_local int until_failure = -1;

} // namespace

// Exported, so that allocations of the library end up here, too.
#pragma GCC visibility push(default)
[[gnu::noinline]] void* operator new(size_t size) {
    void* const memory = until_failure >= 0 && until_failure-- == 0 ? nullptr : std::malloc(size);
    if (!memory)
        throw std::bad_alloc();
    return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}
#pragma GCC visibility pop

namespace {

/// Calls `action` with allocation number `n` failing. Returns whether there was such an allocation.
template <class Action>
bool run_failing(int n, Action&& action) {
    until_failure = n;
    CHECK_NOTHROW(action());
    const bool failed = until_failure < 0;
    until_failure = -1;
    return failed;
}

} // namespace

TEST_CASE("counters are told later") {
    FakeHost host;
    auto node = host.create({{"scsynth.sample-rate", "44100"}});
    REQUIRE(node);
    int n = 0;
    do
        host.fake.counters->received = 1000 + uint64_t(n);
    while (run_failing(n++, [&] { host.main().expire_timers(); }));
    CHECK(n > 5);
    CHECK(node->properties["scsynth.packets.received"] == std::to_string(1000 + n - 1));
}

TEST_CASE("states and the end are told later") {
    for (const bool quits : {false, true}) {
        int n = 0;
        for (bool failed = true; failed; ++n) {
            FakeHost host;
            auto node = host.create({});
            REQUIRE(node);
            REQUIRE(node->ports[SPA_DIRECTION_OUTPUT].size() == 2);
            if (quits)
                host.fake.settings.quit();
            else
                host.fake.settings.state("failed: no memory for this");
            int turns = 0;
            failed = run_failing(n, [&] { host.main().run_until([&] { return turns++ == 3; }); });
            host.main().expire_timers();
            CHECK(node->properties["scsynth.state"] == (quits ? "quit" : "failed: no memory for this"));
            CHECK(node->ports[SPA_DIRECTION_OUTPUT].empty() == quits);
        }
        CHECK(n > 3);
    }
}
