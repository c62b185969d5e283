// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/turn-costs.hpp"

#include <doctest/doctest.h>

using namespace scs;

namespace {

using Kind = TurnCosts::Kind;

} // namespace

TEST_CASE("what wasn't measured is guessed from its operations, after what others have taken") {
    const TurnFacts slow, other;
    TurnCosts costs;
    const uint32_t guess = costs.of(other, Kind::lone, 100);
    CHECK_FALSE(costs.knows(other, Kind::lone));
    CHECK(costs.of(other, Kind::lone, 200) == 2 * guess);
    CHECK(costs.of(other, Kind::lone, 0) == 1);
    for (int i = 0; i < 100; ++i)
        costs.note(slow, Kind::lone, 10, 1000);
    CHECK(costs.of(other, Kind::lone, 100) > 9000);
    CHECK(costs.of(other, Kind::lone, 100) <= 10'000);
}

TEST_CASE("a turn's cost is that of its SynthDef and kind") {
    const TurnFacts one, other;
    TurnCosts costs;
    costs.note(one, Kind::lone, 10, 100);
    costs.note(one, Kind::batch, 40, 700);
    costs.note(one, Kind::held, 2, 30);
    CHECK(costs.of(one, Kind::lone, 10) == 100);
    CHECK(costs.of(one, Kind::batch, 40) == 700);
    CHECK(costs.of(one, Kind::held, 2) == 30);
    CHECK(costs.knows(one, Kind::held));
    CHECK_FALSE(costs.knows(other, Kind::batch));
    costs.note(other, Kind::lone, 10, 0);
    CHECK(costs.of(other, Kind::lone, 10) == 1);
}

TEST_CASE("a shorter time counts at once, a longer one little by little") {
    const TurnFacts one;
    TurnCosts costs;
    costs.note(one, Kind::lone, 10, 1000);
    costs.note(one, Kind::lone, 10, 1'000'000); // it was interrupted
    CHECK(costs.of(one, Kind::lone, 10) < 1200);
    costs.note(one, Kind::lone, 10, 900);
    CHECK(costs.of(one, Kind::lone, 10) == 900);
    for (int i = 0; i < 20; ++i)
        costs.note(one, Kind::lone, 10, 2000);
    CHECK(costs.of(one, Kind::lone, 10) == 2000);
}
