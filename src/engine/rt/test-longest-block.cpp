// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/longest-block.hpp"

#include <doctest/doctest.h>

using scs::LongestBlock;

TEST_CASE("a block lasts until the next one begins, or the cycle ends") {
    LongestBlock blocks;
    CHECK(blocks.nsec() == 0);
    blocks.begin(1000);
    CHECK(blocks.nsec() == 0);
    blocks.begin(1300);
    CHECK(blocks.nsec() == 300);
    blocks.end_cycle(1700, 0.01);
    CHECK(blocks.nsec() == 400);
    // The time between two cycles belongs to no block.
    blocks.begin(9000);
    blocks.end_cycle(9010, 0.01);
    CHECK(blocks.nsec() == 400);
    blocks.end_cycle(20'000, 0.01); // no block in this one
    CHECK(blocks.nsec() == 400);
}

TEST_CASE("what is more than a minute ago is forgotten") {
    LongestBlock blocks;
    int64_t now = 0;
    const auto seconds = [&](int count, int64_t nsec) {
        for (int i = 0; i < 4 * count; ++i) {
            blocks.begin(now);
            blocks.end_cycle(now + nsec, 0.25);
            now += 250'000'000;
        }
    };
    seconds(1, 900);
    seconds(1, 500);
    seconds(57, 100);
    CHECK(blocks.nsec() == 900);
    seconds(1, 100);
    CHECK(blocks.nsec() == 500);
    seconds(1, 100);
    CHECK(blocks.nsec() == 100);
    for (int i = 0; i < 60; ++i)
        blocks.end_cycle(now, 1); // nothing is computed
    CHECK(blocks.nsec() == 0);
}

TEST_CASE("a cycle of many seconds is at most a second and the next") {
    LongestBlock blocks;
    blocks.begin(0);
    blocks.end_cycle(700, 100);
    for (int i = 0; i < 30; ++i)
        blocks.end_cycle(0, 0.5);
    CHECK(blocks.nsec() == 700);
}
