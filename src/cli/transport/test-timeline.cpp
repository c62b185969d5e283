// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/transport/timeline.hpp"

#include <doctest/doctest.h>

using scs::transport::Timeline;

namespace {

double beats(const Timeline& timeline, const Timeline::Place& place) {
    return (place.bar - 1) * timeline.beats_per_bar() + place.beat - 1 + place.tick / Timeline::ticks_per_beat;
}

} // namespace

TEST_CASE("another tempo turns the line where it is, a locate to a beat moves it") {
    Timeline t(2, 3, 48000);
    const auto at = [&](uint32_t frame, bool located = false) { return beats(t, t.at(frame, located)); };
    CHECK(at(0) == 0);
    CHECK(at(24000 * 7) == 7);
    t.set_tempo(1);
    CHECK(at(24000 * 8) == 8);
    CHECK(at(24000 * 10) == 9);
    CHECK(t.at(0, false).beats_per_minute == 60);
    CHECK(t.locate(5.5) == 264000);
    CHECK(t.locating());
    CHECK(at(24000 * 12, true) == 10); // another place
    t.set_tempo(4);
    CHECK(at(264000, true) == 5.5);
    CHECK_FALSE(t.locating());
    CHECK(at(264000 + 12000) == 6.5);
    CHECK(t.locate(1e9) == -1);
}

TEST_CASE("bars and beats count from 1, and a beat that is next to nothing before a bar is that bar's first") {
    Timeline t(48000 / 613.7, 4, 48000);
    CHECK(t.at(0, false).bar == 1);
    for (int i = 1; i < 1000; ++i) {
        const Timeline::Place place = t.at(uint32_t(i) * 6137, false); // ten beats
        CHECK(place.bar == i * 10 / 4 + 1);
        CHECK(place.beat == i * 10 % 4 + 1);
        CHECK(place.tick == 0);
        CHECK(place.bar_start_tick == (place.bar - 1) * 4 * Timeline::ticks_per_beat);
    }
}
