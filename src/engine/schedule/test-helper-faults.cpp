// SPDX-License-Identifier: GPL-3.0-or-later
// Helpers that crash, hang or are left alone in the midst of a round.
#include "engine/guard/fault-guard.hpp"
#include "engine/schedule/helpers.hpp"
#include "engine/schedule/long-wait.hpp"
#include "engine/schedule/test-threads.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

using namespace scs;
using namespace scs::test;
using namespace std::chrono_literals;

namespace {

constexpr int64_t second = 1'000'000'000; // ns
constexpr size_t tasks = 16;

volatile int* volatile nowhere = reinterpret_cast<volatile int*>(16); // not null, which sanitizers report

struct Crew {
    explicit Crew(const Helpers::Settings& settings, bool hurried = false)
        : graph(tasks, size_t(settings.threads) + 1) {
        FaultGuard::install();
        helpers = std::make_unique<Helpers>(
            graph,
            [](void* self, size_t thread, TaskGraph::Task) noexcept {
                if (const Crew& crew = *static_cast<Crew*>(self); thread > 0 && crew.on_task)
                    crew.on_task();
            },
            [](void* self, size_t thread) noexcept {
                if (const Crew& crew = *static_cast<Crew*>(self); thread > 0 && crew.on_errand)
                    crew.on_errand();
            },
            this, settings, std::make_shared<HelperPool>(ThreadMaker::plain(), hurried));
    }
    void begin_round() {
        graph.open_strands(tasks, 0);
        helpers->begin_cycle();
        helpers->begin_round();
    }
    /// The owner comes to all tasks. false: it has given up.
    bool reach_all() {
        return FaultGuard::run_host([&] {
            for (size_t task = 0; task < tasks; ++task) {
                LongWait wait(*helpers);
                while (!helpers->wait_for(task))
                    wait.go_on();
            }
            helpers->end_cycle();
        });
    }

    TaskGraph graph;
    std::function<void()> on_task, on_errand; ///< of helpers
    std::unique_ptr<Helpers> helpers;
};

[[gnu::noinline]] int sink_deeper(volatile int* depth) {
    volatile char room[1024];
    room[0] = char(*depth);
    return *depth < 0 ? 0 : sink_deeper(depth) + room[0];
}

/// A task in which a helper stays until it is let go.
struct Block {
    void enter() {
        ++entered;
        while (!open)
            std::this_thread::sleep_for(1ms);
    }
    std::atomic<int> entered{0};
    std::atomic<bool> open{false};
};

} // namespace

TEST_CASE("a helper that crashes leaves its owner, the others do, too, and the owner gives up") {
    for (const bool hurried : {false, true}) {
        CAPTURE(hurried);
        Crew crew({.threads = 3, .yields = !hurried}, hurried);
        std::atomic<int> begun{0};
        crew.on_task = [&] {
            if (begun++ == 3)
                *nowhere = 1;
        };
        crew.begin_round();
        REQUIRE(wait_until([&] { return crew.helpers->failed(); }));
        CHECK(wait_until([] { return helper_threads() == "SSS"; }));
        CHECK_FALSE(crew.reach_all());
        CHECK(crew.helpers->leave_within(20 * second));
        CHECK(wait_until([] { return helper_threads() == ""; }));
    }
}

TEST_CASE("a helper's own stack may overflow") {
    Crew crew({.threads = 2, .yields = true});
    crew.on_task = [] {
        volatile int depth = 1;
        sink_deeper(&depth);
    };
    crew.begin_round();
    REQUIRE(wait_until([&] { return crew.helpers->failed(); }));
    CHECK_FALSE(crew.reach_all());
    CHECK(crew.helpers->leave_within(20 * second));
}

TEST_CASE("an owner gives up an errand in which a helper has crashed") {
    Crew crew({.threads = 1, .patience = 20 * second, .yields = true});
    crew.on_errand = [] { *nowhere = 1; };
    crew.begin_round();
    const bool well = FaultGuard::run_host([&] {
        while (true) {
            LongWait wait(*crew.helpers);
            crew.helpers->send(1);
            while (!crew.helpers->back())
                wait.go_on();
        }
    });
    CHECK_FALSE(well);
    CHECK(crew.helpers->failed());
}

#if !defined(__SANITIZE_THREAD__) // it delivers a timer's signal only when the loop ends
TEST_CASE("a helper that computes without end is ended") {
    Crew crew({.threads = 2}, true);
    crew.on_task = [] {
        for (volatile bool more = true; more;) {
        }
    };
    crew.begin_round();
    CHECK(wait_until([&] { return crew.helpers->failed(); }));
    CHECK_FALSE(crew.reach_all());
    CHECK(crew.helpers->leave_within(20 * second));
}
#endif

TEST_CASE("a hurried owner gives up on a helper that is blocked, and leaves it behind") {
    Crew crew({.threads = 2}, true);
    Block block;
    crew.on_task = [&] {
        if (block.entered == 0)
            block.enter();
    };
    crew.begin_round();
    REQUIRE(wait_until([&] { return block.entered > 0; }));
    CHECK_FALSE(crew.reach_all());
    CHECK_FALSE(crew.helpers->failed());
    CHECK_FALSE(crew.helpers->leave_within(1));
    block.open = true;
    CHECK(crew.helpers->leave_within(20 * second));
    CHECK(wait_until([] { return helper_threads() == ""; }));
}

TEST_CASE("an owner without a deadline waits for as long as it takes") {
    Crew crew({.threads = 2, .yields = true});
    std::atomic<int> begun{0};
    crew.on_task = [&] {
        if (begun++ == 0)
            std::this_thread::sleep_for(std::chrono::nanoseconds(2 * HelpPolicy::usual.longest_hang));
    };
    crew.begin_round();
    REQUIRE(wait_until([&] { return begun > 0; }));
    CHECK(crew.reach_all());
}

TEST_CASE("an owner that was stopped hasn't waited") {
    Crew crew({.threads = 1}, true);
    CHECK(FaultGuard::run_host([&] {
        LongWait wait(*crew.helpers);
        std::this_thread::sleep_for(std::chrono::nanoseconds(2 * HelpPolicy::usual.longest_hang));
        wait.go_on();
    }));
}

TEST_CASE("helpers whose owner has broken off a round sleep, and leave") {
    Crew crew({.threads = 2});
    for (size_t task = 0; task < tasks; ++task)
        crew.graph.gate(task, 1); // nobody opens it
    crew.begin_round();
    CHECK(wait_until([] { return helper_threads() == "SS"; }));
    CHECK(crew.helpers->leave_within(20 * second));
    CHECK(wait_until([] { return helper_threads() == ""; }));
}

TEST_CASE("a helper that is told to leave begins no other task") {
    Crew crew({.threads = 1});
    Block block;
    crew.on_task = [&] { block.enter(); };
    crew.begin_round();
    REQUIRE(wait_until([&] { return block.entered > 0; }));
    CHECK_FALSE(crew.helpers->leave_within(1));
    block.open = true;
    CHECK(crew.helpers->leave_within(20 * second));
    CHECK(block.entered == 1);
}
