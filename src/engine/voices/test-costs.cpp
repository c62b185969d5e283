// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/costs.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace scs;

namespace {

using Kind = Costs::Kind;

} // namespace

TEST_CASE("what wasn't measured is guessed from its operations, after what others have taken") {
    const TurnFacts slow, other;
    Costs costs;
    const uint32_t guess = costs.of(other, Kind::lone, 100);
    CHECK_FALSE(costs.knows(other, Kind::lone));
    CHECK(costs.of(other, Kind::lone, 200) == 2 * guess);
    CHECK(costs.of(other, Kind::lone, 0) == 1);
    for (int i = 0; i < 100; ++i)
        costs.note(slow, Kind::lone, {.nsec = 1000, .operations = 10});
    CHECK(costs.of(other, Kind::lone, 100) > 9000);
    CHECK(costs.of(other, Kind::lone, 100) <= 10'000);
}

TEST_CASE("a turn's cost is that of its SynthDef and kind") {
    const TurnFacts one, other;
    Costs costs;
    costs.note(one, Kind::lone, {.nsec = 100, .operations = 10});
    costs.note(one, Kind::batch, {.nsec = 700, .operations = 40});
    costs.note(one, Kind::held, {.nsec = 30, .operations = 2});
    CHECK(costs.of(one, Kind::lone, 10) == 100);
    CHECK(costs.of(one, Kind::batch, 40) == 700);
    CHECK(costs.of(one, Kind::held, 2) == 30);
    CHECK(costs.knows(one, Kind::held));
    CHECK_FALSE(costs.knows(other, Kind::batch));
    costs.note(other, Kind::lone, {.nsec = 0, .operations = 10});
    CHECK(costs.of(other, Kind::lone, 10) == 1);
}

TEST_CASE("a shorter time counts at once, a longer one little by little") {
    const TurnFacts one;
    Costs costs;
    costs.note(one, Kind::lone, {.nsec = 1000, .operations = 10});
    costs.note(one, Kind::lone, {.nsec = 1'000'000, .operations = 10}); // it was interrupted
    CHECK(costs.of(one, Kind::lone, 10) < 1200);
    costs.note(one, Kind::lone, {.nsec = 900, .operations = 10});
    CHECK(costs.of(one, Kind::lone, 10) == 900);
    for (int i = 0; i < 20; ++i)
        costs.note(one, Kind::lone, {.nsec = 2000, .operations = 10});
    CHECK(costs.of(one, Kind::lone, 10) == 2000);
}

TEST_CASE("what a synth costs is the mean of what those in an item take, which one interruption hardly changes") {
    const TurnFacts one;
    Costs costs;
    costs.note(one, Kind::batch, {.nsec = 1600, .items = 2, .synths = 8});
    CHECK(one.costs.synth == 200);
    CHECK(one.costs.turn == 800);
    CHECK(one.costs.items[size_t(Kind::batch)] == 800);
    costs.note(one, Kind::batch, {.nsec = 4'000'000, .synths = 4});
    CHECK(one.costs.synth < 400);
    costs.note(one, Kind::batch, {.nsec = 4'000'000, .synths = 4});
    CHECK(one.costs.synth > 200'000);
    CHECK(one.costs.turn == Deadline::unknown); // so dear that it is measured each time
    CHECK(costs.of(one, Kind::batch, 0) < 1100);
}

TEST_CASE("where no synths are told, only the item is noted") {
    const TurnFacts one;
    Costs costs;
    costs.note(one, Kind::held, {.nsec = 100});
    CHECK(costs.of(one, Kind::held, 0) == 100);
    CHECK(one.costs.synth == 0);
    CHECK(one.costs.turn == Deadline::unknown);
}

TEST_CASE("in one of seven blocks the clock is read amid the work of the block before, each time somewhere else") {
    Deadline deadline({[](void*) { return int64_t(0); }, nullptr});
    Costs costs;
    int64_t least = INT64_MAX, most = 0;
    int early = 0;
    for (int32_t block = 0; block < 7 * 100; ++block) {
        deadline.begin(1'000'000'000, 1'000'000);
        (void)deadline.spend(Deadline::unknown);
        costs.begin_block(deadline, block);
        (void)deadline.just_read();
        int64_t work = 0;
        for (; work < 10'000 && !deadline.just_read(); work += 100)
            (void)deadline.spend(100);
        if (work < 10'000 && block >= 7) {
            ++early;
            CHECK(block % 7 == 0);
            least = std::min(least, work);
            most = std::max(most, work);
        }
        costs.end_block(deadline);
    }
    CHECK(early > 90);
    CHECK(least < 1000);
    CHECK(most > 9000);
}
