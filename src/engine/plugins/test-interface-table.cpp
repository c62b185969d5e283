// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/interface-table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <climits>
#include <vector>

TEST_CASE("no more of a unit's outputs is cleared than there is") {
    std::vector<float> output(8, 1.f);
    float* outputs[] = {output.data()};
    ::Unit unit{};
    unit.mNumOutputs = 1;
    unit.mOutBuf = outputs;
    unit.mBufLength = 4;
    const auto cleared = [&](int samples) {
        std::fill(output.begin(), output.end(), 1.f);
        scs::interface_table()->fClearUnitOutputs(&unit, samples);
        return std::count(output.begin(), output.end(), 0.f);
    };
    CHECK(cleared(1) == 1);
    CHECK(cleared(4) == 4);
    CHECK(cleared(64) == 4);
    CHECK(cleared(INT_MAX) == 4);
    CHECK(cleared(-1) == 0);
}
