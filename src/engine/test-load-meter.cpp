// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/load-meter.hpp"

#include <doctest/doctest.h>

using namespace scs;

namespace {

constexpr double period = 0.01; // s

/// A hundredth of the period is 1 % of load.
int64_t nsec(double percent) {
    return int64_t(percent * period * 1e7);
}

} // namespace

TEST_CASE("the average follows the load within about a second") {
    EngineStatus status;
    LoadMeter meter(status);
    for (int i = 0; i < 100; ++i)
        meter.measure(nsec(50), period);
    CHECK(status.average_cpu == doctest::Approx(50 * (1 - 0.366)).epsilon(0.01)); // 0.99^100
    for (int i = 0; i < 500; ++i)
        meter.measure(nsec(50), period);
    CHECK(status.average_cpu == doctest::Approx(50).epsilon(0.01));
    meter.measure(nsec(20), 3); // longer than that second: nothing is left of the average before
    CHECK(status.average_cpu == doctest::Approx(20 * period / 3));
}

TEST_CASE("the peak is the highest load of the last second") {
    EngineStatus status;
    LoadMeter meter(status);
    meter.measure(nsec(80), period);
    for (int i = 0; i < 99; ++i)
        meter.measure(nsec(10), period);
    CHECK(status.peak_cpu == doctest::Approx(80));
    meter.measure(nsec(10), period);
    meter.measure(nsec(10), period);
    CHECK(status.peak_cpu == doctest::Approx(10));
    meter.measure(nsec(90), period);
    CHECK(status.peak_cpu == doctest::Approx(90));
}

TEST_CASE("a cycle without a duration counts nothing") {
    EngineStatus status;
    LoadMeter meter(status);
    for (const double none : {0., -1.})
        meter.measure(nsec(50), none);
    CHECK(status.average_cpu == 0);
    CHECK(status.peak_cpu == 0);
}
