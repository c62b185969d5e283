// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/driver-time.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

using scs::DriverTime;

namespace {

constexpr uint64_t start = 1'000'000'000'000'000;
constexpr double rate = 48000;
constexpr double usec = 1000;

/// A driver that is that much too slow, and whose wake-ups come late by up to `jitter` ns.
class Woken {
public:
    Woken(double ppm, double jitter) : stretch_(1 + ppm * 1e-6), late_(0, jitter) {}

    /// How much later (ns) than even times what comes out is, in the cycles of that many seconds.
    struct Late {
        double least = 1e12, most = -1e12;
        double spread() const { return most - least; }
    };
    Late run(double seconds, uint32_t frames) {
        Late found;
        for (const double until = now_ + seconds * 1e9; now_ < until;) {
            const uint64_t begun =
                time_.begin_cycle(start + uint64_t(std::llround(now_ + late_(random_))), frames, rate);
            const double late = double(int64_t(begun - start)) - now_;
            found.least = std::min(found.least, late);
            found.most = std::max(found.most, late);
            now_ += frames / rate * 1e9 * stretch_;
        }
        return found;
    }
    DriverTime& time() { return time_; }
    void jump(double nsec) { now_ += nsec; }

private:
    DriverTime time_;
    double stretch_, now_ = 0;
    std::uniform_real_distribution<double> late_;
    std::mt19937 random_{1};
};

} // namespace

TEST_CASE("the first cycle is when the driver says") {
    DriverTime time;
    CHECK(time.begin_cycle(start, 256, rate) == start);
}

TEST_CASE("jitter is a small part of a frame in the end, whatever the crystal and the quantum") {
    for (const double ppm : {0.0, 100.0, -100.0})
        for (const uint32_t frames : {64u, 256u, 1024u}) {
            CAPTURE(ppm);
            CAPTURE(frames);
            Woken driver(ppm, 100 * usec);
            driver.run(40, frames);
            const auto found = driver.run(600, frames);
            CHECK(found.spread() < 20 * usec); // a frame
            CHECK(found.least > 0);
            CHECK(found.most < 100 * usec);
        }
}

TEST_CASE("without jitter a crystal that is off is followed from the first second on") {
    Woken driver(100, 0);
    CHECK(driver.run(2, 256).spread() < 20 * usec);
    driver.run(40, 256);
    const auto found = driver.run(10, 256);
    CHECK(found.least > -0.05 * usec);
    CHECK(found.most < 0.05 * usec);
}

TEST_CASE("cycles of other lengths in between change nothing") {
    Woken driver(50, 0);
    driver.run(60, 256);
    CHECK(driver.run(1, 64).spread() < 0.1 * usec);
    CHECK(driver.run(1, 1000).spread() < 0.1 * usec);
}

TEST_CASE("lost cycles are left out, and the rest stays even") {
    for (const int lost : {1, 8}) {
        CAPTURE(lost);
        Woken driver(100, 100 * usec);
        driver.run(60, 256);
        const auto before = driver.run(5, 256);
        driver.jump(lost * 256 / rate * 1e9);
        const auto after = driver.run(5, 256);
        CHECK(std::max(before.most, after.most) - std::min(before.least, after.least) < 20 * usec);
    }
}

TEST_CASE("a driver that was stopped begins anew") {
    Woken driver(0, 0);
    driver.run(5, 256);
    for (const double nsec : {1e9, 0.7 * 256 / rate * 1e9, 9 * 256 / rate * 1e9, -3e9, -256 / rate * 1e9}) {
        CAPTURE(nsec);
        driver.jump(nsec);
        CHECK(std::abs(driver.run(0.001, 256).most) < 1);
        driver.run(1, 256);
    }
}

TEST_CASE("another rate begins anew, and so does reset") {
    DriverTime time;
    time.begin_cycle(start, 256, rate);
    CHECK(time.begin_cycle(start + 7, 256, 44100) == start + 7);
    time.reset();
    CHECK(time.begin_cycle(start + 9, 256, 44100) == start + 9);
}
