// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/deinterleave.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <vector>

TEST_CASE("frames of two channels are parted, of any number and at any address, and nothing else is written") {
    constexpr int most = 100, guard = 16;
    std::vector<float> from(2 * most + guard);
    for (size_t i = 0; i < from.size(); ++i)
        from[i] = float(i + 1);
    for (int frames = 0; frames <= most; ++frames)
        for (int offset = 0; offset < 5; ++offset) {
            std::vector<float> left(most + guard), right(most + guard);
            scs::deinterleave(from.data() + offset, left.data() + offset, right.data() + 1, frames);
            for (int i = 0; i < most + guard; ++i) {
                const auto expected = [&](int at, int channel) {
                    return at >= 0 && at < frames ? float(2 * at + channel + offset + 1) : 0.f;
                };
                REQUIRE(left[size_t(i)] == expected(i - offset, 0));
                REQUIRE(right[size_t(i)] == expected(i - 1, 1));
            }
        }
}
