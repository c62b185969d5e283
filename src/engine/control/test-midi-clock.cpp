// SPDX-License-Identifier: GPL-3.0-or-later
// MIDI clock: tempo and beats from clocks that come with jitter, late or not at all, and what says where they count
// from.
#include "engine/control/midi-clock.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace scs;
using doctest::Approx;

namespace {

/// Clocks of a machine that plays.
struct Machine {
    explicit Machine(double beats_a_minute = 120) { set(beats_a_minute); }
    void set(double beats_a_minute) { period = 60 / beats_a_minute / MidiClock::clocks_per_beat; }
    /// The next ones; returns when the last was due.
    double send(int count) {
        for (int i = 0; i < count; ++i) {
            due = next;
            clock.clock(due + jitter * std::uniform_real_distribution(-1.0, 1.0)(random));
            next += period;
        }
        return due;
    }
    MidiClock clock;
    double period = 0, next = 1, due = 0;
    double jitter = 0; ///< seconds at most
    std::mt19937 random{1};
};

} // namespace

TEST_CASE("beats count from start on, between clocks, too") {
    Machine m;
    CHECK(m.clock.tempo(0) == 0);
    m.send(10);
    CHECK(m.clock.tempo(m.due) == Approx(2));
    CHECK_FALSE(m.clock.playing());
    CHECK(m.clock.beat(m.due) == 0);
    m.clock.start();
    CHECK(m.clock.playing());
    CHECK(m.clock.beat(m.due + 0.01) == 0); // until the next clock, which is beat 0
    const double first = m.next;
    m.send(1);
    CHECK(m.clock.beat(first) == Approx(0));
    m.send(480);
    for (const double since : {0.0, 0.25, 0.5, 0.99})
        CHECK(m.clock.beat(m.due + since * m.period) == Approx(20 + since / 24).epsilon(1e-12));
    CHECK(m.due - first == Approx(10));
}

TEST_CASE("the second clock gives the tempo") {
    Machine m(90);
    m.clock.start();
    m.send(1);
    CHECK(m.clock.tempo(m.due) == 0);
    CHECK(m.clock.beat(m.due + 1) == 0);
    m.send(1);
    CHECK(m.clock.tempo(m.due) == Approx(1.5));
}

TEST_CASE("stop, continue and song position") {
    Machine m;
    m.send(1);
    m.clock.start();
    m.send(49);
    const double stopped = m.due + 0.5 * m.period;
    m.clock.stop(stopped);
    CHECK_FALSE(m.clock.playing());
    const double there = 2 + 0.5 / 24;
    CHECK(m.clock.beat(stopped) == Approx(there));
    m.send(24); // they go on, and are not counted
    CHECK(m.clock.beat(m.due) == Approx(there));
    CHECK(m.clock.tempo(m.due) == Approx(2));
    m.clock.go_on();
    CHECK(m.clock.playing());
    CHECK(m.clock.beat(m.due) == Approx(there)); // until the next clock
    m.send(1);
    CHECK(m.clock.beat(m.due) == Approx(2 + 1 / 24.0));
    m.clock.stop(m.due);
    m.clock.locate(16383);
    CHECK(m.clock.beat(m.due) == 16383 / 4.0);
    m.clock.go_on();
    m.send(25);
    CHECK(m.clock.beat(m.due) == Approx(16383 / 4.0 + 1));
    m.clock.locate(2); // while it plays
    CHECK(m.clock.beat(m.due) == 0.5);
    m.send(1);
    CHECK(m.clock.beat(m.due) == Approx(0.5));
    m.clock.start();
    m.send(1);
    CHECK(m.clock.beat(m.due) == Approx(0));
}

TEST_CASE("jitter is filtered, and beats never go back") {
    for (const double tempo : {40.0, 120.0, 250.0}) {
        CAPTURE(tempo);
        Machine m(tempo);
        m.jitter = 0.001;
        m.clock.start();
        const double first = m.next;
        m.send(240);
        double furthest = 0, uneven = 0, before = 0;
        for (int i = 0; i < 2400; ++i) {
            m.send(1);
            for (const double since : {0.2, 0.7}) {
                const double at = m.due + since * m.period, beat = m.clock.beat(at);
                CHECK(beat >= before);
                before = beat;
                furthest = std::max(furthest, std::abs(beat * 60 / tempo - (at - first)));
                uneven = std::max(uneven, std::abs(m.clock.tempo(at) * 60 / tempo - 1));
            }
        }
        CHECK(furthest < 0.0008); // seconds
        CHECK(uneven < 0.0025 * tempo / 120);
    }
}

TEST_CASE("another tempo is followed, near and far") {
    for (const double to : {110.0, 121.0, 130.0, 61.0, 240.0, 300.0}) {
        CAPTURE(to);
        Machine m(120);
        m.clock.start();
        m.send(241);
        m.set(to);
        m.next = m.due + m.period;
        double before = 0;
        for (int i = 0; i < 96; ++i) {
            m.send(1);
            const double beat = m.clock.beat(m.due);
            CHECK(beat >= before);
            CHECK(std::abs(beat * 24 - 241 - i) < 2);
            before = beat;
        }
        CHECK(m.clock.tempo(m.due) * 60 == Approx(to).epsilon(0.005));
        CHECK(before * 24 == Approx(336).epsilon(0.0005));
    }
}

TEST_CASE("in a gap the tempo stays, the beat stands after four clocks' time, and then the tempo is unknown") {
    Machine m;
    m.clock.start();
    m.send(241);
    const auto after = [&](double clocks) { return m.due + clocks * m.period; };
    CHECK(m.clock.beat(after(3)) == Approx(10 + 3 / 24.0));
    CHECK(m.clock.beat(after(20)) == Approx(10 + 4 / 24.0));
    CHECK(m.clock.tempo(after(47)) == Approx(2));
    CHECK(m.clock.tempo(after(49)) == 0);
    CHECK(m.clock.playing());
    SUBCASE("three clocks are missing") {
        m.next += 3 * m.period;
        m.send(1);
        CHECK(m.clock.beat(m.due) == Approx(10 + 4 / 24.0));
        CHECK(m.clock.tempo(m.due) == Approx(2));
        m.send(24);
        CHECK(m.clock.tempo(m.due) == Approx(2));
        CHECK(m.clock.beat(m.due) == Approx(10 + 25 / 24.0));
    }
    SUBCASE("they come late, all at once") {
        const double late = m.next + 6 * m.period;
        for (int i = 0; i < 7; ++i, m.next += m.period)
            m.clock.clock(late);
        CHECK(m.clock.tempo(late) == Approx(2));
        m.send(48);
        CHECK(m.clock.tempo(m.due) == Approx(2));
        CHECK(m.clock.beat(m.due) == Approx(10 + 55 / 24.0));
    }
    SUBCASE("the machine begins again, at another tempo") {
        m.next += 60;
        m.set(100);
        m.send(1);
        CHECK(m.clock.tempo(m.due) == 0);
        m.send(1);
        CHECK(m.clock.tempo(m.due) * 60 == Approx(100));
    }
}

TEST_CASE("times without sense leave numbers that are finite") {
    std::mt19937 random(1);
    MidiClock clock;
    double time = 0, before = 0;
    for (int i = 0; i < 100000; ++i) {
        switch (random() % 40) {
        case 0:
            clock.start();
            before = 0;
            break;
        case 1: clock.stop(time); break;
        case 2: clock.go_on(); break;
        case 3:
            clock.locate(int(random() % 16384));
            before = 0;
            break;
        case 4: time += 1e6; break;
        default: clock.clock(time);
        }
        time += random() % 3 ? 0 : double(random() % 1000) / (random() % 2 ? 1000 : 100000);
        const double tempo = clock.tempo(time), beat = clock.beat(time);
        REQUIRE(tempo >= 0);
        REQUIRE(tempo < 50);
        REQUIRE(beat >= before);
        REQUIRE(beat < 10000);
        before = beat;
    }
}
