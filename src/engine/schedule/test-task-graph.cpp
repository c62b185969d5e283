// SPDX-License-Identifier: GPL-3.0-or-later
// Blocks go through their stages in order, whoever does them.
#include "engine/schedule/task-graph.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

using namespace scs;

namespace {

/// What is counted isn't atomic, so that ThreadSanitizer sees what isn't ordered.
struct Line {
    explicit Line(size_t its_threads) : threads(its_threads), graph(8, threads), hands(threads) {
        for (size_t thread = 0; thread < threads; ++thread)
            hands[thread].thread = thread;
    }

    void run(size_t stage, size_t block) {
        if (pauses && block % 7 == stage)
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        wrong += marks[block][stage] != 0;                  // once
        wrong += stage > 0 && marks[block][stage - 1] == 0; // after the stage before …
        wrong += block > 0 && marks[block - 1][stage] == 0; // … and the block before
        wrong +=
            stage == 0 && block >= at_once && marks[block - at_once][stages - 1] == 0; // not too many are under way
        marks[block][stage] = 1;
    }
    void open(size_t its_stages, size_t blocks, size_t its_at_once) {
        stages = its_stages;
        at_once = its_at_once;
        marks.assign(blocks, std::vector<int>(stages));
        graph.open_stages(stages, blocks, at_once);
    }
    /// any: also a task of others' stages, as after many looks.
    bool step(size_t thread, bool any) {
        hands[thread].looks = any ? TaskGraph::looks_for_own : 0;
        return step(thread);
    }
    bool step(size_t thread) {
        const TaskGraph::Task task = graph.take(hands[thread]);
        if (task.chain == TaskGraph::none)
            return false;
        run(task.chain, task.block);
        graph.finish(task.chain);
        return true;
    }
    void work(size_t thread) {
        while (graph.stages_left())
            step(thread);
    }
    /// All are, which takes time while others are at work.
    void close() {
        for (size_t stage = 0; stage < stages; ++stage)
            while (!graph.close(stage))
                std::this_thread::yield();
    }

    const size_t threads;
    size_t stages = 1, at_once = 1;
    std::vector<std::vector<int>> marks; ///< of each block's stages that are done
    std::atomic<int> wrong{0};
    bool pauses = false;
    TaskGraph graph;
    std::vector<TaskGraph::Hand> hands;
};

} // namespace

TEST_CASE("each stage of each block is done once, and after what it follows") {
    for (const size_t threads : {size_t(1), size_t(2), size_t(3), size_t(8)})
        for (const bool pauses : {false, true}) {
            CAPTURE(threads);
            std::mt19937 random{unsigned(threads)};
            Line line(threads);
            line.pauses = pauses;
            for (int round = 0; round < 40; ++round) {
                const size_t stages = 1 + random() % 8, blocks = 1 + random() % 64;
                line.open(stages, blocks, 1 + random() % 6);
                std::vector<std::thread> others;
                for (size_t thread = 1; thread < threads; ++thread)
                    others.emplace_back([&line, thread] { line.work(thread); });
                line.work(0);
                line.close();
                CHECK(line.graph.done(stages - 1) == blocks);
                CHECK(line.marks == std::vector<std::vector<int>>(blocks, std::vector<int>(stages, 1)));
                for (std::thread& other : others)
                    other.join();
            }
            CHECK(line.wrong == 0);
        }
}

TEST_CASE("rounds of stages and of strands follow each other while threads go on looking") {
    std::mt19937 random{1};
    Line line(3);
    std::atomic<bool> over{false};
    std::atomic<int> strands_by_others{0};
    std::vector<int> strands(8);
    bool of_stages = false;
    const auto run_any = [&](size_t thread) {
        const TaskGraph::Task task = line.graph.take(line.hands[thread]);
        if (task.chain == TaskGraph::none)
            return;
        if (of_stages)
            line.run(task.chain, task.block);
        else
            ++strands[task.chain];
        strands_by_others += !of_stages && thread > 0;
        line.graph.finish(task.chain);
    };
    std::vector<std::thread> others;
    for (size_t thread = 1; thread < 3; ++thread)
        others.emplace_back([&, thread] {
            while (!over)
                run_any(thread);
        });
    std::vector<int> expected(8);
    for (int round = 0; round < 2000 || (strands_by_others == 0 && round < 1'000'000); ++round) {
        of_stages = random() % 2;
        if (of_stages) {
            line.open(1 + random() % 8, 1 + random() % 8, 1 + random() % 3);
            const size_t stop_after = random() % 40;
            for (size_t i = 0; line.graph.stages_left(); ++i) {
                run_any(0);
                if (i == stop_after)
                    line.graph.stop();
            }
            line.close();
            const std::vector<std::vector<int>> marks = line.marks;
            for (size_t stage = 0; stage < line.stages; ++stage)
                for (size_t block = 0; block < marks.size(); ++block)
                    REQUIRE(marks[block][stage] == (block < line.graph.done(stage)));
        } else {
            if (random() % 2)
                line.graph.gate(3, 1 + random() % 4);
            line.graph.open_strands(8, random() % 9);
            for (size_t strand = 0; strand < 8; ++strand) {
                line.graph.commit(strand + 1);
                while (!line.graph.close(strand))
                    run_any(0);
                strands[strand] += !line.graph.done(strand);
                REQUIRE(strands[strand] == ++expected[strand]);
            }
        }
    }
    over = true;
    for (std::thread& other : others)
        other.join();
    CHECK(line.wrong == 0);
    CHECK(strands_by_others > 0);
}

TEST_CASE("a thread does what is its own, and what is others' if it has looked for its own for long") {
    Line line(2);
    line.open(2, 3, 2);
    CHECK_FALSE(line.step(1, false)); // its stage isn't there yet
    CHECK(line.step(0, false));
    CHECK(line.step(0, false));
    CHECK_FALSE(line.step(0, false)); // two are under way
    CHECK(line.step(0, true));
    CHECK(line.graph.done(1) == 1);
    CHECK(line.step(1, false));
    CHECK(line.marks == std::vector<std::vector<int>>{{1, 1}, {1, 1}, {0, 0}});
    CHECK(line.wrong == 0);
}

TEST_CASE("a thread does its earlier stage first, but doesn't get far ahead in it") {
    Line line(2);
    line.open(4, 8, 8);
    for (int block = 0; block < 3; ++block) {
        CHECK(line.step(0, false));
        CHECK(line.step(1, false));
        CHECK(line.marks[size_t(block)] == std::vector<int>{1, 1, 0, 0});
    }
    CHECK(line.step(0, false));
    CHECK(line.marks[0] == std::vector<int>{1, 1, 1, 0});
    CHECK(line.step(1, false));
    CHECK(line.marks[0] == std::vector<int>{1, 1, 1, 1});
    CHECK(line.step(0, false));
    CHECK(line.marks[3] == std::vector<int>{1, 0, 0, 0});
    CHECK(line.wrong == 0);
}

TEST_CASE("a thread whose own stages are nearly over soon does what is others'") {
    Line line(2);
    line.open(3, 1, 1);
    const auto looks_until_any = [&] {
        int looks = 1;
        line.hands[0].looks = 0;
        while (!line.step(0))
            ++looks;
        return looks;
    };
    CHECK(line.step(0, false)); // its stage 0 is over then
    const int near_the_end = looks_until_any();
    CHECK(near_the_end < TaskGraph::looks_for_own / 4);
    CHECK(line.marks[0] == std::vector<int>{1, 1, 0});
    line.close();
    line.open(2, 3, 1);
    CHECK(line.step(0, false));
    CHECK(looks_until_any() == TaskGraph::looks_for_own + 1); // another block is to come to its stage
    CHECK(line.marks == std::vector<std::vector<int>>{{1, 1}, {0, 0}, {0, 0}});
}

TEST_CASE("nothing is begun once it is stopped, and what had been begun is waited for") {
    Line line(1);
    line.open(2, 10, 2);
    CHECK(line.step(0, true));
    TaskGraph::Hand other{.thread = 0};
    const TaskGraph::Task begun = line.graph.take(other);
    line.graph.stop();
    CHECK_FALSE(line.graph.stages_left());
    CHECK_FALSE(line.step(0, true));
    CHECK(line.marks[0] == std::vector<int>{1, 0});
    CHECK_FALSE(line.graph.close(begun.chain));
    line.graph.finish(begun.chain);
    CHECK(line.graph.close(begun.chain));
    line.close();
    CHECK(line.graph.done(0) + line.graph.done(1) == 2);
    line.open(2, 1, 2);
    CHECK(line.graph.stages_left());
    CHECK(line.step(0, true));
}
