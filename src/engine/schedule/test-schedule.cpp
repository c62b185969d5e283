// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/cores.hpp"
#include "engine/schedule/helpers.hpp"
#include "engine/schedule/spin-pause.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <sched.h>
#include <span>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace scs;

namespace {

/// An owner with its helpers. What is counted isn't atomic, so that ThreadSanitizer sees what isn't ordered.
struct Crew {
    Crew(size_t most, int threads) : Crew(most, {.threads = threads}) {}
    Crew(size_t most, Helpers::Settings settings) : graph(most, size_t(settings.threads) + 1), counts(most) {
        settings.yields = true;
        helpers = std::make_unique<Helpers>(
            graph,
            [](void* data, size_t thread, TaskGraph::Task task) noexcept {
                static_cast<Crew*>(data)->run(thread, task.chain);
            },
            [](void* data, size_t thread) noexcept { static_cast<Crew*>(data)->do_errand(thread); }, this, settings,
            std::make_shared<HelperPool>(ThreadMaker::plain(), false));
    }
    void run(size_t thread, size_t task) {
        if (on_run)
            on_run(thread, task);
        ++counts[task];
    }
    void do_errand(size_t thread) {
        ++errands;
        errands_by_helpers += thread > 0;
    }
    /// The owner comes to a task: does it, or uses what was done.
    void reach(size_t task) {
        while (!helpers->wait_for(task)) {
        }
        if (!graph.done(task))
            run(0, task);
    }

    TaskGraph graph;
    std::vector<int> counts;
    int errands = 0, errands_by_helpers = 0;
    std::function<void(size_t, size_t)> on_run;
    std::unique_ptr<Helpers> helpers;
};

/// Gives the tasks of the next round their gates; 0: none.
void give(TaskGraph& graph, std::span<const size_t> gates) {
    std::vector<std::pair<size_t, size_t>> given;
    for (size_t task = 0; task < gates.size(); ++task)
        if (gates[task])
            given.emplace_back(gates[task], task);
    std::sort(given.begin(), given.end());
    for (const auto& [gate, task] : given)
        graph.gate(task, gate);
}

void sleep_at_random(HelpPolicy::Moment) noexcept {
    thread_local std::minstd_rand random(unsigned(reinterpret_cast<uintptr_t>(&random) >> 4));
    if (const unsigned r = unsigned(random()); r % 4 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(r / 4 % 50));
}

const HelpPolicy delaying{.at = sleep_at_random};

} // namespace

TEST_CASE("each task of each round is done once, whoever does it, and before it is used") {
    for (const int threads : {1, 2, 3, 8})
        for (const bool lingers : {false, true}) {
            CAPTURE(threads);
            std::mt19937 random{unsigned(threads)};
            const auto pick = [&](size_t count) { return random() % count; };
            Crew crew(64, {.threads = threads, .lingers = lingers, .policy = &delaying});
            std::vector<int> expected(64);
            for (int cycle = 0; cycle < 60; ++cycle) {
                crew.helpers->begin_cycle();
                for (size_t round = pick(4); round > 0; --round) {
                    const size_t count = pick(65);
                    crew.graph.open_strands(count, pick(70));
                    crew.helpers->begin_round();
                    for (size_t task = 0; task < count; ++task) {
                        ++expected[task];
                        crew.reach(task);
                        REQUIRE(crew.counts[task] == expected[task]);
                    }
                }
                crew.helpers->end_cycle();
            }
            CHECK(crew.counts == expected);
        }
}

TEST_CASE("a task with a gate isn't begun before its owner has come so far") {
    constexpr size_t tasks = 32;
    for (const int threads : {1, 2, 3, 8}) {
        CAPTURE(threads);
        std::mt19937 random{unsigned(threads)};
        Crew crew(tasks, {.threads = threads, .policy = &delaying});
        // The round in which the owner was last done with a task. Not atomic: a gate is what orders it.
        std::array<int, tasks> passed{};
        std::array<size_t, tasks> gates{};
        std::atomic<int> early{0}, gated_by_helpers{0};
        int round = 0;
        crew.on_run = [&](size_t thread, size_t task) {
            if (thread == 0)
                std::this_thread::sleep_for(std::chrono::microseconds(1)); // so that helpers find something to do
            if (thread == 0 || gates[task] == 0)
                return;
            ++gated_by_helpers;
            for (size_t before = 0; before + 1 < gates[task]; ++before)
                early += passed[before] != round;
        };
        for (round = 1; round < 200 || (gated_by_helpers == 0 && round < 100'000); ++round) {
            const size_t count = random() % (tasks + 1);
            gates = {};
            for (size_t task = 0; task < count; ++task)
                gates[task] = random() % 2 ? random() % (task + 2) : 0;
            give(crew.graph, std::span(gates).first(count));
            crew.graph.open_strands(count, random() % (tasks + 1));
            crew.helpers->begin_cycle();
            crew.helpers->begin_round();
            for (size_t task = 0; task < count; ++task) {
                crew.helpers->commit(task + 1);
                crew.reach(task);
                passed[task] = round;
            }
            crew.helpers->end_cycle();
        }
        CHECK(early == 0);
        CHECK(gated_by_helpers > 0);
    }
}

TEST_CASE("tasks with a gate are taken in the order in which their gates open") {
    constexpr size_t tasks = 1024;
    TaskGraph graph(tasks, 2);
    TaskGraph::Hand hand{.thread = 1};
    for (int round = 0; round < 3; ++round) {
        std::vector<size_t> gates(tasks);
        for (size_t task = 1; task < tasks; ++task)
            gates[task] = 1 + task * 7 % tasks * task / tasks; // in no order
        give(graph, gates);
        graph.open_strands(tasks, 0);
        REQUIRE(graph.close(0));
        CHECK(graph.take(hand).chain == TaskGraph::none);
        size_t taken = 0;
        for (size_t commits = 1; commits <= tasks; ++commits) {
            graph.commit(commits);
            CHECK(graph.any_left(hand) == (taken < tasks - 1));
            for (size_t task; (task = graph.take(hand).chain) != TaskGraph::none; ++taken) {
                REQUIRE(gates[task] == commits);
                graph.finish(task);
                REQUIRE(graph.close(task));
                REQUIRE(graph.done(task) == 1);
            }
        }
        CHECK(taken == tasks - 1);
    }
}

TEST_CASE("a gate is one round's") {
    TaskGraph graph(2, 2);
    TaskGraph::Hand hand{.thread = 1};
    graph.gate(0, 1);
    graph.open_strands(2, 0);
    CHECK(graph.take(hand).chain == 1);
    CHECK(graph.take(hand).chain == TaskGraph::none);
    CHECK_FALSE(graph.close(1));
    graph.finish(1);
    for (size_t task = 0; task < 2; ++task)
        REQUIRE(graph.close(task));
    CHECK(graph.done(0) == 0);
    graph.open_strands(2, 0);
    CHECK(graph.any_left(hand)); // another round, of which it knows nothing
    CHECK(graph.take(hand).chain == 0);
    CHECK_FALSE(graph.any_left(hand));
}

namespace {

/// A piece of work whose result depends on what it was before, and after a gate on that of another one, which the
/// owner has come to before.
struct Work {
    uint64_t seed, value = 0;
    bool gated = false;
    size_t gate = 0, input = 0; ///< in this round

    size_t gate_at(size_t place) const { return gated ? 1 + seed % (place + 1) : 0; }
    void run(uint64_t found) { value = (value ^ seed ^ found) * 0xd6e8feb86659fd93 + 1; }
    bool operator==(const Work&) const = default;
};

struct RandomGraph {
    static constexpr size_t most = 10'000;

    explicit RandomGraph(unsigned seed) : random(seed) { grow(most); }
    size_t pick(size_t count) { return random() % count; }
    void grow(size_t size) {
        while (all.size() < size)
            insert();
    }
    void insert() {
        all.insert(all.begin() + ptrdiff_t(pick(all.size() + 1)), {.seed = random(), .gated = pick(40) == 0});
    }
    void edit() {
        if (pick(6) == 0)
            all.resize(pick(all.size() + 1));
        else if (pick(6) == 0)
            grow(most);
        for (size_t edits = pick(100); edits > 0; --edits) {
            const size_t place = pick(all.size() + 1);
            if (const size_t kind = pick(3); kind == 0 && all.size() < most)
                insert();
            else if (kind == 1 && place < all.size())
                all.erase(all.begin() + ptrdiff_t(place));
            else if (place < all.size())
                all[place].gated = !all[place].gated;
        }
    }
    void set_gates(TaskGraph& graph) {
        std::vector<size_t> gates;
        for (size_t task = 0; task < all.size(); ++task) {
            Work& work = all[task];
            work.gate = gates.emplace_back(work.gate_at(task));
            work.input = work.gate > 1 ? work.seed / 7 % (work.gate - 1) : task;
        }
        give(graph, gates);
    }
    void run(size_t task) { all[task].run(all[all[task].input].value); }

    std::mt19937_64 random;
    std::vector<Work> all;
};

} // namespace

TEST_CASE("random graphs of 10,000 tasks, edited between rounds, come to what one thread comes to") {
    for (const int threads : {1, 2, 7}) {
        CAPTURE(threads);
        RandomGraph graph{unsigned(threads)};
        Crew crew(RandomGraph::most, threads);
        std::atomic<size_t> by_helpers{0};
        crew.on_run = [&](size_t thread, size_t task) {
            by_helpers += thread > 0;
            graph.run(task);
        };
        std::vector<int> expected(RandomGraph::most);
        for (int round = 0; round < 30 || (by_helpers == 0 && round < 1000); ++round) {
            graph.set_gates(crew.graph);
            RandomGraph alone = graph;
            crew.graph.open_strands(graph.all.size(), graph.pick(RandomGraph::most));
            crew.helpers->begin_cycle();
            crew.helpers->begin_round();
            for (size_t task = 0; task < graph.all.size(); ++task) {
                crew.helpers->commit(task + 1);
                crew.reach(task);
                alone.run(task);
                ++expected[task];
            }
            crew.helpers->end_cycle();
            REQUIRE(graph.all == alone.all);
            REQUIRE(crew.counts == expected);
            graph.edit();
        }
        CHECK(by_helpers > 0);
    }
}

TEST_CASE("helpers do tasks, too") {
    Crew crew(64, 2);
    std::atomic<int> by_helpers{0};
    crew.on_run = [&](size_t thread, size_t) { by_helpers += thread > 0; };
    crew.helpers->begin_cycle();
    crew.graph.open_strands(64, 0);
    crew.helpers->begin_round();
    while (by_helpers < 64)
        std::this_thread::yield();
    for (size_t task = 0; task < 64; ++task)
        crew.reach(task);
    CHECK(crew.counts == std::vector<int>(64, 1));
}

TEST_CASE("the owner does all that nobody has begun before it waits") {
    constexpr size_t tasks = 16;
    for (const size_t split : {size_t(0), size_t(5), tasks - 1}) {
        CAPTURE(split);
        Crew crew(tasks, 1);
        std::atomic<size_t> by_owner{0};
        std::atomic<bool> begun{false};
        // The helper's only task takes until all others are done.
        crew.on_run = [&](size_t thread, size_t) {
            if (thread == 0) {
                ++by_owner;
                return;
            }
            begun = true;
            while (by_owner < tasks - 1)
                spin_pause();
        };
        crew.helpers->begin_cycle();
        crew.graph.open_strands(tasks, split);
        crew.helpers->begin_round();
        while (!begun)
            std::this_thread::yield();
        for (size_t task = 0; task < tasks; ++task)
            crew.reach(task);
        CHECK(by_owner == tasks - 1);
        CHECK(crew.counts == std::vector<int>(tasks, 1));
    }
}

TEST_CASE("helpers begin after the split, and go on before it") {
    TaskGraph graph(10, 3);
    graph.open_strands(10, 6);
    TaskGraph::Hand owner{.thread = 0}, first{.thread = 1}, second{.thread = 2};
    std::vector<size_t> order;
    order.push_back(graph.take(first).chain);
    order.push_back(graph.take(second).chain);
    CHECK(graph.take(owner, 7).chain == 7);
    for (size_t task; (task = graph.take(first).chain) != TaskGraph::none;)
        order.push_back(task);
    CHECK(order == std::vector<size_t>{6, 8, 9, 5, 4, 3, 2, 1, 0});
    CHECK(graph.take(second).chain == TaskGraph::none);
    CHECK_FALSE(graph.close(3));
    graph.finish(3);
    CHECK(graph.close(3));
    CHECK(graph.done(3) == 1);
}

TEST_CASE("an errand is done once, at the latest by the owner, before it goes on") {
    Crew crew(8, {.threads = 3, .policy = &delaying});
    int expected = 0;
    for (int cycle = 0; cycle < 300 || (crew.errands_by_helpers == 0 && cycle < 100'000); ++cycle) {
        crew.helpers->begin_cycle();
        crew.graph.open_strands(8, 0);
        crew.helpers->begin_round();
        for (size_t task = 0; task < 8; ++task)
            crew.reach(task);
        for (size_t thread = 1; thread <= 3; ++thread) {
            crew.helpers->send(thread);
            while (!crew.helpers->back()) {
            }
            REQUIRE(crew.errands == ++expected);
        }
        crew.helpers->end_cycle();
    }
    CHECK(crew.errands_by_helpers > 0);
}

TEST_CASE("helpers that are to stay wait for another round of the cycle, beyond their patience") {
    Crew crew(1, {.threads = 1, .patience = 0, .longest = 60'000'000'000});
    std::atomic<int> by_helper{0};
    crew.on_run = [&](size_t thread, size_t) { by_helper += thread > 0; };
    crew.helpers->begin_cycle();
    crew.helpers->stay();
    for (int round = 1; round <= 5; ++round) { // the first one wakes it
        crew.graph.open_strands(1, 0);
        crew.helpers->begin_round();
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (by_helper < round && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
        crew.reach(0);
        REQUIRE(by_helper == round);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    crew.helpers->end_cycle();
}

TEST_CASE("helpers end while they sleep, wait or have never had anything to do") {
    for (const bool cycle : {false, true}) {
        Crew crew(4, 3);
        if (cycle) {
            crew.helpers->begin_cycle();
            crew.graph.open_strands(4, 0);
            crew.helpers->begin_round();
            for (size_t task = 0; task < 4; ++task)
                crew.reach(task);
        }
    }
}

TEST_CASE("cores are counted, not their hardware threads, as far as they are known") {
    cpu_set_t allowed;
    REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("cores-" + std::to_string(getpid()));
    const auto write = [&](const auto& siblings_of) {
        for (int thread = 0; thread < CPU_SETSIZE; ++thread) {
            const auto topology = folder / ("cpu" + std::to_string(thread)) / "topology";
            std::filesystem::create_directories(topology);
            std::ofstream(topology / "thread_siblings_list") << siblings_of(thread) << '\n';
        }
        return cores_to_run_on(folder);
    };
    CHECK(cores_to_run_on(folder) == CPU_COUNT(&allowed)); // it isn't there
    CHECK(write([](int) { return "0-1023"; }) == 1);
    CHECK(write([](int thread) { return std::to_string(thread); }) == CPU_COUNT(&allowed));
    CHECK(write([](int) { return ""; }) == CPU_COUNT(&allowed));
    std::filesystem::remove_all(folder);
}
