// SPDX-License-Identifier: GPL-3.0-or-later
// Threads that several owners share: who they come to, how many there are, and what they do when one owner goes wrong.
#include "engine/guard/fault-guard.hpp"
#include "engine/schedule/helpers.hpp"
#include "engine/schedule/test-threads.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace scs;
using namespace scs::test;
using namespace std::chrono_literals;

namespace {

constexpr size_t tasks = 16;
constexpr int64_t second = 1'000'000'000; // ns

volatile int* volatile nowhere = reinterpret_cast<volatile int*>(16); // not null, which sanitizers report

/// An owner of tasks that counts what is done; not atomically, so that ThreadSanitizer sees what isn't ordered.
struct Owner {
    explicit Owner(std::shared_ptr<HelperPool> pool, int threads = 1)
        : graph(tasks, size_t(threads) + 1),
          counts(tasks),
          helpers(
              graph,
              [](void* self, size_t thread, TaskGraph::Task task) noexcept {
                  Owner& owner = *static_cast<Owner*>(self);
                  if (thread > 0 && owner.on_task)
                      owner.on_task();
                  ++owner.counts[task.chain];
                  owner.by_helpers += thread > 0;
              },
              [](void*, size_t) noexcept {}, this, {.threads = threads, .yields = true}, std::move(pool)) {}

    /// A round in which the owner leaves helpers some time. Returns whether they have done something in it.
    bool round() {
        const int before = by_helpers;
        helpers.begin_cycle();
        graph.open_strands(tasks, 0);
        helpers.begin_round();
        std::this_thread::sleep_for(20us);
        for (size_t task = 0; task < tasks; ++task) {
            while (!helpers.wait_for(task)) {
            }
            counts[task] += !graph.done(task);
        }
        ++rounds;
        helpers.end_cycle();
        return by_helpers > before;
    }
    bool is_helped() {
        bool helped = false;
        return wait_until([&] { return helped || (helped = round()); });
    }
    bool well() const { return counts == std::vector<int>(tasks, rounds); }

    TaskGraph graph;
    std::vector<int> counts;
    std::atomic<int> by_helpers{0};
    int rounds = 0;
    std::function<void()> on_task; ///< of helpers
    Helpers helpers;
};

std::shared_ptr<HelperPool> plain_pool(bool hurried = false) {
    return std::make_shared<HelperPool>(ThreadMaker::plain(), hurried);
}

size_t threads_there() {
    return helper_threads().size();
}

} // namespace

TEST_CASE("there are as many threads as the owner wants that wants most, and all owners share them") {
    const auto pool = plain_pool();
    Owner first(pool, 2);
    CHECK(wait_until([] { return threads_there() == 2; }));
    {
        Owner second(pool, 3);
        CHECK(threads_there() == 3);
        Owner third(pool, 1);
        CHECK(threads_there() == 3);
        for (Owner* owner : {&first, &second, &third}) {
            CHECK(owner->is_helped());
            CHECK(owner->well());
        }
    }
    CHECK(wait_until([] { return threads_there() == 2; }));
    CHECK(first.is_helped());
}

TEST_CASE("a thread that is told to end while it starts doesn't sleep") {
    alarm(300); // otherwise this would wait for ever
    std::vector<std::thread> threads;
    for (unsigned seed = 1; seed <= 6; ++seed)
        threads.emplace_back([seed] {
            const auto pool = plain_pool(true);
            std::minstd_rand random{seed};
            for (int life = 0; life < 3000; ++life) {
                const Owner owner(pool);
                const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(random() % 100'000);
                while (std::chrono::steady_clock::now() < until) {
                }
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    alarm(0);
    CHECK(wait_until([] { return threads_there() == 0; }));
}

TEST_CASE("owners in several threads are helped at the same time, while others come and go") {
    const auto pool = plain_pool();
    std::atomic<int> helped{0}, wrong{0};
    const auto play = [&](unsigned seed) {
        std::minstd_rand random{seed};
        for (int life = 0; life < 30; ++life) {
            Owner owner(pool, 1 + int(random() % 3));
            for (unsigned i = 0; i < 20 + random() % 40; ++i)
                owner.round();
            wrong += !owner.well();
            helped += owner.by_helpers;
        }
    };
    std::vector<std::thread> threads;
    for (unsigned seed = 1; seed <= 4; ++seed)
        threads.emplace_back(play, seed);
    for (std::thread& thread : threads)
        thread.join();
    CHECK(wrong == 0);
    CHECK(helped > 100);
    CHECK(wait_until([] { return threads_there() == 0; }));
}

TEST_CASE("who waits in the cycle of one owner comes to another that calls") {
    const auto pool = plain_pool();
    Owner patient(pool), other(pool);
    CHECK(patient.is_helped());
    patient.helpers.begin_cycle(); // which never ends
    CHECK(other.is_helped());
    CHECK(wait_until([] { return helper_threads() == "S"; }));
}

TEST_CASE("owners that find no place are alone") {
    const auto pool = plain_pool();
    std::vector<std::unique_ptr<Owner>> owners;
    for (size_t i = 0; i < HelperPool::most_owners; ++i)
        owners.push_back(std::make_unique<Owner>(pool));
    Owner late(pool);
    for (int i = 0; i < 100; ++i)
        CHECK_FALSE(late.round());
    CHECK(late.well());
    CHECK(owners.back()->is_helped());
    owners.clear();
    CHECK(Owner(pool).is_helped());
}

TEST_CASE("a fault breaks the owner that was being helped, and the same threads help the others") {
    for (const bool hurried : {false, true}) {
        CAPTURE(hurried);
        FaultGuard::install();
        const auto pool = plain_pool(hurried);
        Owner broken(pool, 2), well(pool, 2);
        std::atomic<bool> done{false};
        broken.on_task = [&] {
            if (!done.exchange(true))
                *nowhere = 1;
        };
        broken.graph.open_strands(tasks, 0);
        broken.helpers.begin_cycle();
        broken.helpers.begin_round();
        REQUIRE(wait_until([&] { return broken.helpers.failed(); }));
        CHECK(well.is_helped());
        CHECK_FALSE(well.helpers.failed());
        CHECK(wait_until([] { return threads_there() == 2; }));
        CHECK(broken.helpers.leave_within(20 * second));
        CHECK(well.is_helped());
        CHECK(well.well());
    }
}

TEST_CASE("another thread takes the number of one that doesn't come back") {
    const auto pool = plain_pool();
    std::atomic<bool> entered{false}, open{false};
    Owner stuck(pool), well(pool);
    stuck.on_task = [&] {
        entered = true;
        while (!open)
            std::this_thread::sleep_for(1ms);
    };
    stuck.graph.open_strands(tasks, 0);
    stuck.helpers.begin_cycle();
    stuck.helpers.begin_round();
    REQUIRE(wait_until([&] { return entered.load(); }));
    for (int i = 0; i < 100; ++i)
        CHECK_FALSE(well.round());
    CHECK_FALSE(stuck.helpers.leave_within(1));
    CHECK(wait_until([] { return threads_there() == 2; }));
    CHECK(well.is_helped());
    open = true;
    CHECK(stuck.helpers.leave_within(20 * second));
    CHECK(wait_until([] { return threads_there() == 1; }));
    CHECK(well.is_helped());
    CHECK(well.well());
}

TEST_CASE("threads that can't be started are an error of the owner that wants them") {
    struct Refusing final : ThreadMaker {
        const std::shared_ptr<ThreadMaker> plain = ThreadMaker::plain();
        int left = 2;
        void* start(void* (*body)(void*), void* argument) override {
            return left-- > 0 ? plain->start(body, argument) : nullptr;
        }
        void join(void* thread) noexcept override { plain->join(thread); }
        Urgency urgency() const noexcept override { return Urgency::never; }
    };
    const auto pool = std::make_shared<HelperPool>(std::make_shared<Refusing>(), false);
    Owner modest(pool, 1);
    CHECK_THROWS(Owner(pool, 3));
    CHECK(wait_until([] { return threads_there() == 1; }));
    CHECK(modest.is_helped());
}

TEST_CASE("threads find their priority, if they get it soon, and end while they look for it") {
    struct Slow final : ThreadMaker {
        explicit Slow(int refusals) : left(refusals) {}
        const std::shared_ptr<ThreadMaker> plain = ThreadMaker::plain();
        mutable std::atomic<int> left;
        void* start(void* (*body)(void*), void* argument) override { return plain->start(body, argument); }
        void join(void* thread) noexcept override { plain->join(thread); }
        Urgency urgency() const noexcept override { return left-- <= 0 ? Urgency::urgent : Urgency::not_yet; }
    };
    const auto slow = [](int refusals) {
        return std::make_shared<HelperPool>(std::make_shared<Slow>(refusals), false);
    };
    const auto soon = slow(5);
    Owner in_time(soon, 2);
    CHECK(wait_until([&] { return soon->urgent(2); }));
    CHECK(in_time.helpers.urgent());
    CHECK_FALSE(soon->urgent(3));
    const auto never = slow(INT_MAX), plain = plain_pool();
    Owner late(never, 2), without(plain, 2);
    std::this_thread::sleep_for(120ms);
    CHECK_FALSE(late.helpers.urgent());
    CHECK(late.is_helped());
    CHECK_FALSE(without.helpers.urgent());
}
