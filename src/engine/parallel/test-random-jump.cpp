// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/parallel/random-jump.hpp"

#include <doctest/doctest.h>

#include <tuple>

using namespace scs;

TEST_CASE("a generator jumps to where as many draws would take it") {
    const RandomJump jump;
    RandomState at{123, 456, 789};
    for (uint32_t draws : {0u, 1u, 2u, 64u, 65u, 128u, 1000u, 65536u, 100'001u}) {
        CAPTURE(draws);
        RandomState one_by_one = at;
        for (uint32_t i = 0; i < draws; ++i)
            one_by_one = one_by_one.next();
        at = jump(at, draws);
        CHECK(std::tie(at.s1, at.s2, at.s3) == std::tie(one_by_one.s1, one_by_one.s2, one_by_one.s3));
    }
}
