// SPDX-License-Identifier: GPL-3.0-or-later
#include "restarts.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace scs::module;
using namespace std::chrono_literals;

namespace {

/// When a process starts that always runs for `life`.
std::vector<Restarts::Duration> starts(Restarts::Duration life, int count) {
    Restarts restarts;
    std::vector<Restarts::Duration> times;
    const Restarts::Time begin{1000h};
    for (Restarts::Time now = begin; int(times.size()) < count;) {
        restarts.started(now);
        times.push_back(now - begin);
        now += life;
        now += restarts.pause(now);
    }
    return times;
}

} // namespace

TEST_CASE("a process that keeps ending is started ever later, at most five times a minute") {
    const auto times = starts(0s, 50);
    CHECK(times[1] == 500ms);
    CHECK(times[2] == 1500ms);
    CHECK(times[3] == 3500ms);
    for (size_t i = 5; i < times.size(); ++i)
        CHECK(times[i] - times[i - 5] >= 60s);
    CHECK(times.back() < 30min);
}

TEST_CASE("one that runs for long is started at once") {
    const auto times = starts(60s, 20);
    for (size_t i = 1; i < times.size(); ++i)
        CHECK(times[i] - times[i - 1] == 60s + 500ms);
}
