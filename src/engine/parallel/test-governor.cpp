// SPDX-License-Identifier: GPL-3.0-or-later
// When helpers are asked, by a clock that says what the test says.
#include "engine/parallel/governor.hpp"

#include <doctest/doctest.h>

using namespace scs;

namespace {

constexpr double block_nsec = 1e6;

struct Walks {
    explicit Walks(const Settings& settings)
        : governor(settings,
                   {[](void* self) { return ++static_cast<Walks*>(self)->readings, static_cast<Walks*>(self)->now; },
                    this}) {
        governor.set_block_nsec(block_nsec);
    }
    /// Cycles of four blocks, of whose time a walk takes this part; if helpers are asked, `helped` of that.
    void play(int cycles, double load, double helped = 1, bool urgent = true) {
        for (int cycle = 0; cycle < cycles; ++cycle) {
            for (int block = 0; block < 4; ++block) {
                governor.begin_walk();
                now += int64_t(load * (governor.asks() ? helped : 1) * block_nsec);
                governor.end_walk();
            }
            asked += governor.asks();
            told += governor.end_cycle(urgent);
        }
    }
    int asked_in(int cycles, double load, double helped = 1) {
        asked = 0;
        play(cycles, load, helped);
        return asked;
    }

    int64_t now = 0;
    int readings = 0, asked = 0, told = 0;
    Governor governor;
};

Settings settings(bool real_time, bool reluctant = false) {
    Settings made;
    made.threads = 2;
    made.real_time = real_time;
    made.reluctant = reluctant;
    return made;
}

} // namespace

TEST_CASE("helpers are asked from a load on, and no longer well below it") {
    for (const bool reluctant : {false, true}) {
        CAPTURE(reluctant);
        const double waking = reluctant ? HelpPolicy::usual.reluctant_load : HelpPolicy::usual.waking_load;
        Walks walks(settings(true, reluctant));
        CHECK(walks.asked_in(1000, 0.9 * waking) == 0);
        walks.play(200, 1.1 * waking);
        CHECK(walks.governor.asks());
        CHECK(walks.asked_in(1000, 0.5 * waking) == 1000);
        walks.play(200, 0.2 * waking);
        CHECK_FALSE(walks.governor.asks());
    }
}

TEST_CASE("threads that nobody has asked for are not asked without a priority") {
    Walks walks(settings(true, true));
    walks.play(1000, 0.9, 1, false);
    CHECK(walks.asked == 0);
    walks.play(1, 0.9);
    CHECK(walks.governor.asks());
    walks.play(1, 0.9, 1, false);
    CHECK_FALSE(walks.governor.asks());

    Walks wanted(settings(true));
    wanted.play(100, 0.9, 1, false);
    CHECK(wanted.governor.asks());
}

TEST_CASE("it is told once that threads which could have helped have no priority") {
    const auto cycles = int(HelpPolicy::usual.long_without_priority / (4 * block_nsec));
    Walks walks(settings(true, true));
    walks.play(2 * cycles, 0.4, 1, false); // one is enough
    walks.play(cycles - 10, 0.9, 1, false);
    walks.play(1, 0.9);                                  // they have it for a moment
    for (int left = cycles - 20; left > 0; left -= 20) { // as helpers would go on then, so does the time
        walks.play(10, 0.9, 1, false);
        walks.play(10, 0.3, 1, false);
    }
    CHECK(walks.told == 0);
    walks.play(40, 0.9, 1, false);
    CHECK(walks.told == 1);
    walks.play(2 * cycles, 0.9, 1, false);
    CHECK(walks.told == 1);

    Walks wanted(settings(true));
    wanted.play(2 * cycles, 0.9, 1, false);
    CHECK(wanted.told == 0);
    Walks offline(settings(false, true));
    offline.play(2 * cycles, 0.9, 1, false);
    CHECK(offline.told == 0);
}

TEST_CASE("a helper that was waited for long is left alone for a second of sound") {
    Walks walks(settings(true));
    walks.play(100, 0.9);
    CHECK(walks.governor.asks());
    walks.governor.note_wait(HelpPolicy::usual.longest_wait);
    walks.play(1, 0.9);
    CHECK(walks.governor.asks());
    walks.governor.note_wait(HelpPolicy::usual.longest_wait + 1);
    CHECK(walks.asked_in(250, 0.9) == 1); // the cycle in which that was
    CHECK(walks.asked_in(100, 0.9) >= 99);
}

TEST_CASE("a small piece is seldom measured") {
    Walks walks(settings(true));
    walks.play(325, 0.01); // 1300 walks
    CHECK(walks.readings == 200);
}

TEST_CASE("offline it is tried out whether helpers bring something, less and less often if it is always the same") {
    Walks gains(settings(false));
    gains.play(100, 0.01, 0.8);
    CHECK(gains.asked_in(900, 0.01, 0.8) == 900);                // to the end of the period
    CHECK(gains.asked_in(10'000, 0.01, 0.8) == 10'000 - 3 * 32); // trials of 128 blocks: after 4096, 8192, 16384

    Walks loses(settings(false));
    loses.play(100, 0.01, 1.01);
    CHECK(loses.asked_in(900, 0.01, 1.01) == 2 * 32);    // after 512, 1024, …
    CHECK(loses.asked_in(40'000, 0.01, 1.01) == 7 * 32); // … 2048, 4096, 8192, 16384, then 32768
    CHECK(loses.asked_in(8'000, 0.01, 0.8) < 8'000);
    CHECK(loses.asked_in(1'000, 0.01, 0.8) > 950); // it has seen that things have changed
}

TEST_CASE("helpers that have brought less once, by chance, are soon asked again") {
    Walks walks(settings(false));
    walks.play(32 + 32, 0.01, 1.01);
    CHECK(walks.asked_in(128, 0.01, 0.8) == 0);
    CHECK(walks.asked_in(200, 0.01, 0.8) == 200 - 32);
}

TEST_CASE("blocks without a walk count as others do") {
    Walks walks(settings(true));
    for (int i = 0; i < 100; ++i) {
        walks.governor.note_blocks(4, int64_t(4 * 0.9 * block_nsec));
        walks.governor.end_cycle(true);
    }
    CHECK(walks.governor.asks());
}
