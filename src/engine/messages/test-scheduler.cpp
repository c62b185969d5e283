// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/messages/scheduler.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <vector>

using namespace scs;

namespace {

long page_faults() {
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_minflt;
}

} // namespace

TEST_CASE("bundles come in the order of their times, those of one time in the order they came") {
    Scheduler scheduler(8);
    std::vector<CommandBundle*> bundles;
    for (const NtpTime time : {7, 5, 9, 5, 7}) {
        bundles.push_back(new CommandBundle);
        bundles.back()->time = time;
        REQUIRE(scheduler.add(bundles.back()));
    }
    for (const size_t expected : {1u, 3u, 0u, 4u, 2u}) {
        CHECK(scheduler.next_time() == bundles[expected]->time);
        CHECK(scheduler.take() == bundles[expected]);
    }
    CHECK(scheduler.empty());
    for (CommandBundle* bundle : bundles)
        delete bundle;
}

TEST_CASE("a full scheduler refuses, and frees what still waits") {
    Scheduler scheduler(2);
    CommandBundle refused;
    CHECK(scheduler.add(new CommandBundle));
    CHECK(scheduler.add(new CommandBundle));
    CHECK_FALSE(scheduler.add(&refused));
}

TEST_CASE("no page of the heap is first touched when bundles come") {
    constexpr size_t room = 1 << 18; // several megabytes: memory of its own
    Scheduler scheduler(room);
    std::vector<CommandBundle> bundles(1);
    const long before = page_faults();
    for (size_t i = 0; i < room; ++i)
        (void)scheduler.add(&bundles[0]);
    CHECK(page_faults() - before < 16);
    while (!scheduler.empty())
        (void)scheduler.take();
}
