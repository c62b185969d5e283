// SPDX-License-Identifier: GPL-3.0-or-later
// How the turns of a block are shared by threads. test-block-pipeline has what has to stay together.
#include "engine/parallel/stage-cuts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace scs;

namespace {

const std::vector<double> two{0.5, 0.5};

struct Cut {
    /// `work`: of each turn.
    explicit Cut(const std::vector<size_t>& work) : runs(64) {
        runs.begin();
        for (const size_t each : work)
            runs.add(each);
        runs.close();
    }
    bool find(const StageCuts::Threads& threads, size_t stages) { return cuts.find(runs, threads, stages); }
    std::vector<size_t> ends() const {
        std::vector<size_t> found;
        for (size_t i = 0; i < cuts.stages(); ++i)
            found.push_back(cuts.end(i));
        return found;
    }
    size_t load(size_t thread, size_t threads) const {
        size_t sum = 0;
        for (size_t i = thread; i < cuts.stages(); i += threads)
            sum += cuts.work(i);
        return sum;
    }
    double time(size_t stages, double hand_over, double blocks) {
        REQUIRE(find({two, hand_over, blocks}, stages));
        return cuts.time();
    }

    Runs runs;
    StageCuts cuts;
};

} // namespace

TEST_CASE("threads get their shares, in stages that are as long as each other") {
    Cut cut(std::vector<size_t>(12, 100));
    REQUIRE(cut.find({two}, 6));
    CHECK(cut.ends() == std::vector<size_t>{2, 4, 6, 8, 10, 12});
    REQUIRE(cut.find({two}, 2));
    CHECK(cut.ends() == std::vector<size_t>{6, 12});
    const std::vector<double> uneven{0.75, 0.25};
    REQUIRE(cut.find({uneven}, 4));
    CHECK(cut.load(0, 2) == 900);
}

TEST_CASE("where a stage is too long, the thread's next one is shorter") {
    Cut cut({400, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100});
    for (const size_t stages : {size_t(2), size_t(4), size_t(6)}) {
        CAPTURE(stages);
        REQUIRE(cut.find({two}, stages));
        CHECK(cut.cuts.stages() == stages);
        const size_t first = cut.load(0, 2), second = cut.load(1, 2);
        CHECK(first + second == 1500);
        CHECK(std::max(first, second) - std::min(first, second) <= 100);
    }
}

TEST_CASE("no cut parts turns that belong together") {
    Cut cut({});
    for (int i = 0; i < 12; ++i)
        cut.runs.add(100);
    cut.runs.join(2, 7);
    cut.runs.close();
    for (size_t stages = 2; stages <= 8; ++stages) {
        CAPTURE(stages);
        REQUIRE(cut.find({two}, stages));
        for (const size_t end : cut.ends())
            CHECK((end <= 2 || end >= 8));
        CHECK(cut.ends().back() == 12);
    }
}

TEST_CASE("nothing is gained if nearly all is one thread's") {
    Cut cut({1000, 10, 10});
    CHECK_FALSE(cut.find({two}, 2));
    Cut nothing({});
    CHECK_FALSE(nothing.find({two}, 2));
}

TEST_CASE("more stages take less time for few blocks, fewer if it is dear to go on with what others have had") {
    Cut cut(std::vector<size_t>(12, 100));
    CHECK(cut.time(6, 0, 4) < cut.time(2, 0, 4));
    CHECK(cut.time(6, 100, 4) > cut.time(2, 100, 4));
    CHECK(cut.time(6, 10, 4) < cut.time(2, 10, 4));
    CHECK(cut.time(6, 10, 100) > cut.time(2, 10, 100));
    CHECK(cut.time(2, 0, 4) ==
          doctest::Approx(4 * 600 + 600)); // one waits for the first, or the last block of the other
}
