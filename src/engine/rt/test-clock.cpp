// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/clock.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <random>

using namespace scs;

constexpr int64_t distance = 1'700'000'000'123'456'789;
constexpr int64_t msec = 1'000'000;
constexpr uint64_t start = 5'000'000'000;

static double sec(int64_t nsec) {
    return double(nsec) * 1e-9;
}

TEST_CASE("a cycle's time is the sum of clock, distance and latency") {
    CycleClock clock;
    CHECK(clock.begin_cycle(start, distance, 0) == ntp_from_unix(1'700'000'005, 123'456'789));
    CHECK(clock.begin_cycle(start + 7, distance, 0.25) == ntp_from_unix(1'700'000'005, 373'456'796));
}

TEST_CASE("a cycle before 1970 is no trouble") {
    CycleClock clock;
    CHECK(clock.begin_cycle(0, -1, 0) == ntp_from_unix(-1, 999'999'999));
}

TEST_CASE("jitter of the readings is smoothed") {
    CycleClock clock;
    std::mt19937 random(1);
    std::uniform_int_distribution<int64_t> jitter(-msec, msec);
    clock.begin_cycle(start, distance, 0);
    double worst = 0;
    for (uint64_t now = start; now < start + 20'000'000'000; now += 5'333'333) {
        const NtpTime heard = clock.begin_cycle(now, distance + jitter(random), 0);
        const auto nsec = int64_t(now) + 123'456'789;
        const NtpTime exact = ntp_from_unix(1'700'000'000 + nsec / 1'000'000'000, uint32_t(nsec % 1'000'000'000));
        worst = std::max(worst, std::abs(ntp_seconds_between(exact, heard)));
    }
    CHECK(worst < 150e-6);
    CHECK(worst > 1e-6);
}

TEST_CASE("a small step is followed with the documented time constant") {
    for (const uint64_t cycle : {333'333, 21'333'333}) {
        CAPTURE(cycle);
        CycleClock clock;
        clock.begin_cycle(start, distance, 0);
        const auto remaining = [&](double after) {
            NtpTime smoothed = 0;
            NtpTime exact = 0;
            const auto end = start + uint64_t(after * 1e9);
            CycleClock run = clock;
            for (uint64_t now = start + cycle; now <= end; now += cycle) {
                smoothed = run.begin_cycle(now, distance + 8 * msec, 0);
                exact = CycleClock().begin_cycle(now, distance + 8 * msec, 0);
            }
            return ntp_seconds_between(smoothed, exact);
        };
        const double tau = CycleClock::smoothing_sec;
        CHECK(remaining(tau) == doctest::Approx(sec(8 * msec) * std::exp(-1)).epsilon(0.03));
        CHECK(remaining(3 * tau) == doctest::Approx(sec(8 * msec) * std::exp(-3)).epsilon(0.06));
        CHECK(std::abs(remaining(20 * tau)) < 2e-9);
    }
}

TEST_CASE("a step over 10 ms is followed at once, either way") {
    for (const int64_t step : {11 * msec, -11 * msec, 3'600'000 * msec, INT64_MIN / 2}) {
        CAPTURE(step);
        CycleClock clock;
        clock.begin_cycle(start, distance, 0);
        CHECK(clock.begin_cycle(start + 1'000, distance + step, 0) ==
              CycleClock().begin_cycle(start + 1'000, distance + step, 0));
    }
    CycleClock clock;
    clock.begin_cycle(start, distance, 0);
    CHECK(clock.begin_cycle(start + 1'000, distance + 9 * msec, 0) !=
          CycleClock().begin_cycle(start + 1'000, distance + 9 * msec, 0));
}

TEST_CASE("the step is counted from the smoothed distance, not from the last reading") {
    CycleClock clock;
    clock.begin_cycle(start, distance, 0);
    clock.begin_cycle(start + 1'000, distance + 6 * msec, 0);
    CHECK(clock.begin_cycle(start + 2'000, distance + 12 * msec, 0) ==
          CycleClock().begin_cycle(start + 2'000, distance + 12 * msec, 0));
}

TEST_CASE("a clock that goes back changes nothing but the time") {
    CycleClock clock;
    clock.begin_cycle(start, distance, 0);
    CHECK(clock.begin_cycle(start - 1'000'000, distance + 5 * msec, 0) ==
          CycleClock().begin_cycle(start - 1'000'000, distance, 0));
}

TEST_CASE("a reading during which the thread stood still changes nothing") {
    CycleClock clock;
    clock.begin_cycle(start, distance, 0, 50);
    const NtpTime undisturbed = clock.begin_cycle(start + 5 * msec, distance, 0, 50);
    for (const int64_t late : {4 * msec, 20 * msec, int64_t(0)}) { // between the first two clocks or after them
        CAPTURE(late);
        CHECK(clock.begin_cycle(start + 5 * msec, distance + late, 0, 20 * msec) == undisturbed);
    }
    CHECK(clock.begin_cycle(start + 5 * msec, distance, 0, 50) == undisturbed);
}

TEST_CASE("a disturbed reading that contradicts what is known counts by how much it does") {
    CycleClock clock;
    clock.begin_cycle(start, distance, 0, 50);
    CHECK(clock.begin_cycle(start + 5 * msec, distance + 40 * msec, 0, 20 * msec) ==
          CycleClock().begin_cycle(start + 5 * msec, distance + 40 * msec, 0));
    CHECK(clock.begin_cycle(start + 10 * msec, distance - msec, 0, 0) ==
          CycleClock().begin_cycle(start + 10 * msec, distance - msec, 0));
}

TEST_CASE("what began with a disturbed reading is replaced by a quick one") {
    CycleClock clock;
    clock.begin_cycle(start, distance + 4 * msec, 0, 5 * msec);
    clock.begin_cycle(start + 5 * msec, distance + msec, 0, 2 * msec);
    CHECK(clock.begin_cycle(start + 10 * msec, distance, 0, 50) ==
          CycleClock().begin_cycle(start + 10 * msec, distance, 0));
    CHECK(clock.begin_cycle(start + 10 * msec, distance + 5 * msec, 0, 40) ==
          CycleClock().begin_cycle(start + 10 * msec, distance, 0)); // no time has passed
}

TEST_CASE("reset forgets") {
    CycleClock clock;
    clock.begin_cycle(start, distance, 0);
    clock.reset();
    CHECK(clock.begin_cycle(start, distance + 5 * msec, 0) == CycleClock().begin_cycle(start, distance + 5 * msec, 0));
}

TEST_CASE("events fall on the nearest frame of their block") {
    const NtpTime block = ntp_from_unix(1'700'000'000, 987'654'321);
    for (const double rate : {44'100.0, 48'000.0, 192'000.0}) {
        for (int frame = 0; frame < 64; ++frame) {
            CAPTURE(frame);
            float subsample = -1;
            CHECK(frame_in_block(ntp_advance(block, frame, rate), block, rate, 64, &subsample) == frame);
            CHECK(subsample == doctest::Approx(0.5).epsilon(0.001));
        }
    }
    const auto after = [&](double frames) {
        return block + static_cast<NtpTime>(std::llround(frames / 48'000 * 0x1p32));
    };
    float subsample = -1;
    CHECK(frame_in_block(after(3.25), block, 48'000, 64, &subsample) == 3);
    CHECK(subsample == doctest::Approx(0.75).epsilon(0.001));
    CHECK(frame_in_block(after(3.75), block, 48'000, 64, &subsample) == 4);
    CHECK(subsample == doctest::Approx(0.25).epsilon(0.001));
    CHECK(frame_in_block(after(3.75), block, 48'000, 64, nullptr) == 4);
}

TEST_CASE("events outside of the block go to its edges") {
    const NtpTime block = ntp_from_unix(1'700'000'000, 0);
    const NtpTime second = NtpTime{1} << 32;
    float subsample = -1;
    CHECK(frame_in_block(block - 1, block, 48'000, 64, &subsample) == 0);
    CHECK(frame_in_block(block - second, block, 48'000, 64, &subsample) == 0);
    CHECK(frame_in_block(ntp_advance(block, 64, 48'000), block, 48'000, 64, &subsample) == 63);
    CHECK(frame_in_block(block + second, block, 48'000, 64, &subsample) == 63);
    CHECK(frame_in_block(block + INT64_MAX, block, 192'000, 1, &subsample) == 0);
    CHECK(frame_in_block(block - INT64_MAX, block, 192'000, 64, &subsample) == 0);
    for (int i = -1000; i < 1000; ++i) { // never 1, however close the rounding
        frame_in_block(block + static_cast<NtpTime>(i), block, 44'100, 64, &subsample);
        CHECK(subsample >= 0.0f);
        CHECK(subsample < 1.0f);
    }
}
