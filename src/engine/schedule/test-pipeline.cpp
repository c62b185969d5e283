// SPDX-License-Identifier: GPL-3.0-or-later
// Items go through their stages in order, whoever does them.
#include "engine/schedule/pipeline.hpp"

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
    Line()
        : pipeline([](void* self, size_t, size_t stage,
                      size_t item) noexcept { static_cast<Line*>(self)->run(stage, item); },
                   this) {}

    void run(size_t stage, size_t item) {
        if (pauses && item % 7 == stage)
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        wrong += marks[item][stage] != 0;                                                 // once
        wrong += stage > 0 && marks[item][stage - 1] == 0;                                // behind the stage before …
        wrong += item > 0 && marks[item - 1][stage] == 0;                                 // … and the item before
        wrong += stage == 0 && item >= at_once && marks[item - at_once][stages - 1] == 0; // not too many are under way
        marks[item][stage] = 1;
    }
    void open(size_t its_stages, size_t items, size_t its_at_once, size_t threads) {
        stages = its_stages;
        at_once = its_at_once;
        marks.assign(items, std::vector<int>(stages));
        pipeline.open(stages, items, at_once, threads);
    }
    void work(size_t who) {
        for (int idle = 0; !pipeline.over(); ++idle)
            if (pipeline.step(who, idle > 20))
                idle = 0;
    }

    size_t stages = 1, at_once = 1;
    std::vector<std::vector<int>> marks; ///< of each item's stages that are done
    std::atomic<int> wrong{0};
    bool pauses = false;
    Pipeline pipeline;
};

} // namespace

TEST_CASE("each stage of each item is done once, and behind what it follows") {
    for (const size_t threads : {size_t(1), size_t(2), size_t(3), size_t(8)})
        for (const bool pauses : {false, true}) {
            CAPTURE(threads);
            std::mt19937 random{unsigned(threads)};
            Line line;
            line.pauses = pauses;
            for (int round = 0; round < 40; ++round) {
                const size_t stages = 1 + random() % 8, items = 1 + random() % 64;
                line.open(stages, items, 1 + random() % 6, threads);
                std::vector<std::thread> others;
                for (size_t who = 1; who < threads; ++who)
                    others.emplace_back([&line, who] { line.work(who); });
                line.work(0);
                for (std::thread& other : others)
                    other.join();
                CHECK(line.pipeline.through() == items);
                CHECK(line.marks == std::vector<std::vector<int>>(items, std::vector<int>(stages, 1)));
            }
            CHECK(line.wrong == 0);
        }
}

TEST_CASE("a thread does what is its own, and what is others' if it is to") {
    Line line;
    line.open(2, 3, 2, 2);
    CHECK_FALSE(line.pipeline.step(1, false)); // its stage isn't there yet
    CHECK(line.pipeline.step(0, false));
    CHECK(line.pipeline.step(0, false));
    CHECK_FALSE(line.pipeline.step(0, false)); // two are under way
    CHECK(line.pipeline.step(0, true));
    CHECK(line.pipeline.through() == 1);
    CHECK(line.pipeline.step(1, false));
    CHECK(line.marks == std::vector<std::vector<int>>{{1, 1}, {1, 1}, {0, 0}});
    CHECK(line.wrong == 0);
}

TEST_CASE("a thread does its earlier stage first, but doesn't get far ahead in it") {
    Line line;
    line.open(4, 8, 8, 2);
    for (int item = 0; item < 3; ++item) {
        CHECK(line.pipeline.step(0, false));
        CHECK(line.pipeline.step(1, false));
        CHECK(line.marks[size_t(item)] == std::vector<int>{1, 1, 0, 0});
    }
    CHECK(line.pipeline.step(0, false));
    CHECK(line.marks[0] == std::vector<int>{1, 1, 1, 0});
    CHECK(line.pipeline.step(1, false));
    CHECK(line.marks[0] == std::vector<int>{1, 1, 1, 1});
    CHECK(line.pipeline.step(0, false));
    CHECK(line.marks[3] == std::vector<int>{1, 0, 0, 0});
    CHECK(line.wrong == 0);
}

TEST_CASE("the end is near for a thread once all items are through its first stage") {
    Line line;
    line.open(3, 1, 1, 2);
    CHECK_FALSE(line.pipeline.near_end(0));
    CHECK(line.pipeline.step(0, false));
    CHECK(line.pipeline.near_end(0));
    CHECK_FALSE(line.pipeline.near_end(1));
    CHECK(line.pipeline.step(1, false));
    CHECK(line.pipeline.near_end(1));
    CHECK_FALSE(line.pipeline.over());
}

TEST_CASE("nothing is begun once it is stopped") {
    Line line;
    line.open(2, 10, 2, 1);
    CHECK(line.pipeline.step(0, true));
    line.pipeline.stop();
    CHECK(line.pipeline.over());
    CHECK_FALSE(line.pipeline.step(0, true));
    CHECK(line.marks[0] == std::vector<int>{1, 0});
    line.open(2, 1, 2, 1);
    CHECK_FALSE(line.pipeline.over());
}
