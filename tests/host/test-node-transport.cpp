// SPDX-License-Identifier: GPL-3.0-or-later
// The graph's transport, as the driver and a transport master write it: what of it reaches the engine.
#include "fixture.hpp"
#include "transport-reader.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <memory>
#include <random>

using namespace scs;
using namespace scs::test;
using doctest::Approx;
using scs::spa::TransportReader;

namespace {

constexpr double error = 1e-9; ///< beats

/// When a frame that is due then by the monotonic clock is heard.
NtpTime heard_at(uint64_t monotonic_nsec) {
    timespec wall, monotonic;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_MONOTONIC, &monotonic);
    const int64_t ahead = int64_t(monotonic_nsec) - monotonic.tv_sec * 1'000'000'000 - monotonic.tv_nsec;
    return ntp_advance(ntp_from_unix(wall.tv_sec, uint32_t(wall.tv_nsec)), ahead, 1e9);
}

/// A node in a graph whose driver does what PipeWire's do.
struct Graph {
    FakeHost host;
    std::unique_ptr<HostNode> node;
    spa_io_position& position = host.position();
    spa_io_segment& segment = position.segments[0];

    explicit Graph(Host::Dict info = {}) : node(host.create(info)) {
        REQUIRE(node);
        node->link(SPA_DIRECTION_OUTPUT, 0);
        node->start();
        position.n_segments = 1;
        segment.rate = 1;
        position.clock.position = 1'000'000;
        position.offset = int64_t(position.clock.position);
    }
    const Transport& cycle(uint32_t frames = 256) {
        if (position.state != SPA_IO_POSITION_STATE_RUNNING)
            position.offset += frames;
        host.cycle(frames);
        return host.fake.transport;
    }
    void say(double beat, double bpm, float beats_per_bar = 4) {
        segment.bar.flags = SPA_IO_SEGMENT_BAR_FLAG_VALID;
        segment.bar.beat = beat;
        segment.bar.bpm = bpm;
        segment.bar.signature_num = beats_per_bar;
        segment.bar.signature_denom = 4;
    }
    void locate(uint64_t frame) {
        segment.start = uint64_t(int64_t(position.clock.position) - position.offset);
        segment.position = frame;
        if (position.state == SPA_IO_POSITION_STATE_RUNNING)
            position.state = SPA_IO_POSITION_STATE_STARTING;
    }
    void run() { position.state = SPA_IO_POSITION_STATE_RUNNING; }
};

/// A transport master: what it says at the end of a cycle is what others see in the next one.
struct Master : Graph {
    using Graph::Graph;
    double bpm = 120;
    double ticks = 0; ///< a beat; 0: it doesn't round
    double frame = 0; ///< of the transport in the last cycle
    double beat() const { return frame * bpm / 60 / 48000; }
    const Transport& cycle(uint32_t frames = 256) {
        const Transport& seen = Graph::cycle(frames);
        const double since = double(position.clock.position - frames) - double(position.offset) - double(segment.start);
        frame = double(segment.position) + std::max(since, 0.0);
        say(ticks > 0 ? std::floor(beat() * ticks) / ticks : beat(), bpm);
        return seen;
    }
};

} // namespace

TEST_CASE("without a transport nothing plays") {
    Graph g;
    g.position.n_segments = 0;
    CHECK_FALSE(g.cycle().playing);
    CHECK(g.host.fake.transport.tempo == 0);
    g.run();
    CHECK(g.cycle().playing);
    g.node->give_position(false);
    CHECK_FALSE(g.cycle().playing);
}

TEST_CASE("without a master it plays, but there are no beats") {
    Graph g;
    g.run();
    for (int i = 0; i < 3; ++i) {
        const Transport& seen = g.cycle();
        CHECK(seen.playing);
        CHECK(seen.tempo == 0);
        CHECK(seen.beat == 0);
        CHECK(seen.beats_per_frame == 0);
        CHECK(seen.beats_per_bar == 0);
    }
}

TEST_CASE("what a master said in the last cycle is carried on to this one") {
    Master m;
    m.run();
    m.cycle();
    for (int i = 0; i < 1000; ++i) {
        const Transport seen = m.cycle(i % 3 ? 256 : 441);
        CHECK(seen.playing);
        CHECK(seen.tempo == 2);
        CHECK(seen.beats_per_bar == 4);
        CHECK(seen.beats_per_frame == Approx(2 / 48000.0));
        REQUIRE(std::abs(seen.beat - m.beat()) < error);
    }
}

TEST_CASE("a locate counts in its own cycle, and stands until the transport rolls") {
    Master m;
    m.run();
    for (int i = 0; i < 10; ++i)
        m.cycle();
    m.locate(48000 * 30);
    const Transport located = m.cycle();
    CHECK_FALSE(located.playing);
    CHECK(located.beats_per_frame == 0);
    CHECK(located.tempo == 2);
    CHECK(std::abs(located.beat - 60) < error);
    m.run();
    for (int i = 0; i < 10; ++i) {
        const Transport seen = m.cycle();
        CHECK(seen.playing);
        CHECK(std::abs(seen.beat - 60 - i * 256 / 24000.0) < error);
    }
    m.position.state = SPA_IO_POSITION_STATE_STOPPED;
    const Transport stopped = m.cycle();
    CHECK_FALSE(stopped.playing);
    CHECK(stopped.tempo == 2);
    CHECK(std::abs(stopped.beat - m.beat()) < error);
}

TEST_CASE("another tempo counts in the cycle in which it is shown") {
    Master m;
    m.run();
    for (int i = 0; i < 10; ++i)
        m.cycle();
    m.bpm = 150;
    m.cycle(); // in which the master says so
    const double said = m.beat();
    const Transport seen = m.cycle();
    CHECK(seen.tempo == 2.5);
    CHECK(std::abs(seen.beat - said - 256 * 2.5 / 48000) < error);
}

TEST_CASE("a master that counts in ticks makes no steps") {
    Master m;
    m.ticks = 1920;
    m.bpm = 121.7;
    m.run();
    for (int i = 0; i < 200; ++i)
        m.cycle();
    double before = m.cycle().beat;
    for (int i = 0; i < 1000; ++i) {
        const Transport seen = m.cycle();
        CHECK(std::abs(seen.beat - m.beat()) < 1e-4);
        REQUIRE(seen.beat - before >= 256 * 121.7 / 60 / 48000 - error);
        before = seen.beat;
    }
    CHECK(std::abs(before - m.beat()) < 2e-5);
}

TEST_CASE("a beat some frames before the cycle; bars from 1 with their ticks") {
    Graph g;
    g.run();
    g.cycle();
    g.say(10, 60);
    g.segment.bar.offset = 4800;
    CHECK(std::abs(g.cycle().beat - 10.1 - 256 / 48000.0) < error);
    const double ticks = 1920; // as PipeWire 1.3.81 and later
    std::memcpy(reinterpret_cast<std::byte*>(&g.segment.bar) + 40, &ticks, sizeof ticks);
    CHECK(std::abs(g.cycle().beat - 6.1 - 256 / 48000.0) < error);
}

TEST_CASE("a master that is late or leaves: beats go on") {
    Master m;
    m.run();
    for (int i = 0; i < 10; ++i)
        m.cycle();
    const double before = m.beat();
    for (int i = 1; i < 100; ++i)
        CHECK(std::abs(m.Graph::cycle().beat - before - i * 256 / 24000.0) < error);
    m.segment.bar.flags = 0;
    CHECK(m.Graph::cycle().tempo == 0);
    CHECK(m.host.fake.transport.playing);
}

TEST_CASE("several segments, and one that repeats") {
    Graph g;
    g.run();
    g.position.n_segments = 3;
    for (uint32_t i = 0; i < 3; ++i) {
        spa_io_segment& segment = g.position.segments[i];
        segment = g.position.segments[0];
        segment.rate = 1;
        segment.start = i * 1024;
        segment.position = i * 48000;
        segment.bar = {};
        segment.bar.flags = SPA_IO_SEGMENT_BAR_FLAG_VALID;
        segment.bar.bpm = 60.0 * (i + 1);
        segment.bar.signature_num = 4;
    }
    g.position.segments[2].flags = SPA_IO_SEGMENT_FLAG_LOOPING;
    g.position.segments[2].duration = 512;
    std::vector<double> tempi, beats;
    for (int i = 0; i < 14; ++i) {
        const Transport& seen = g.cycle();
        tempi.push_back(seen.tempo);
        beats.push_back(seen.beat);
    }
    for (size_t i = 0; i < 14; ++i)
        CHECK(tempi[i] == double(std::min<size_t>(i / 4, 2) + 1));
    CHECK(beats[10] == Approx(beats[12]));
    CHECK(beats[11] == Approx(beats[13]));
    CHECK(beats[11] - beats[10] == Approx(256 * 3 / 48000.0));
    g.position.segments[2].flags = 0; // over
    const Transport seen = g.cycle();
    CHECK(seen.beats_per_frame == 0);
    CHECK(seen.tempo == 0);
}

TEST_CASE("segments that begin within a cycle do so at their frame") {
    Graph g;
    g.run();
    g.position.n_segments = 2;
    g.say(0, 60);
    g.position.segments[1] = g.segment;
    g.position.segments[1].start = 256 + 100;
    g.position.segments[1].position = 48000;
    g.position.segments[1].bar.beat = 7;
    g.position.segments[1].bar.bpm = 120;
    g.cycle();
    CHECK(g.host.fake.transports.size() == 1);
    const uint32_t leaps = g.cycle().leaps;
    REQUIRE(g.host.fake.transports.size() == 2);
    const Transport &first = g.host.fake.transports[0], second = g.host.fake.transports[1];
    CHECK(first.tempo == 1);
    CHECK(first.frame == 0);
    CHECK(second.tempo == 2);
    CHECK(second.frame == 100);
    CHECK(second.beat == 7);
    CHECK(second.leaps == leaps + 1);
    const Transport seen = g.cycle();
    CHECK(g.host.fake.transports.size() == 1);
    CHECK(seen.beat == Approx(7 + 156 / 24000.0));
    CHECK(seen.leaps == second.leaps);
    g.position.segments[1].flags = SPA_IO_SEGMENT_FLAG_LOOPING;
    g.position.segments[1].duration = 10;
    g.cycle();
    CHECK(g.host.fake.transports.size() == TransportReader::most);
    CHECK(g.host.fake.transports[2].frame - g.host.fake.transports[1].frame == 10);
    CHECK(g.host.fake.transports[2].beat == Approx(7));
}

TEST_CASE("a locate is a leap, another tempo isn't") {
    Master m;
    m.run();
    for (int i = 0; i < 10; ++i)
        m.cycle();
    const uint32_t before = m.cycle().leaps;
    m.bpm = 150;
    m.cycle();
    CHECK(m.cycle().leaps == before);
    m.locate(48000);
    CHECK(m.cycle().leaps == before + 1);
    m.run();
    m.cycle();
    CHECK(m.cycle().leaps == before + 1);
    m.position.state = SPA_IO_POSITION_STATE_STOPPED;
    m.locate(96000);
    CHECK(m.cycle().leaps == before + 2);
    CHECK(m.cycle().leaps == before + 2);
    m.bpm = 60; // of the song there: the master says so later
    m.cycle();
    CHECK(m.cycle().leaps == before + 3);
}

TEST_CASE("a segment that is over stays at its end, and one without a position says nothing") {
    Graph g;
    g.run();
    g.segment.duration = 4 * 256;
    g.say(2, 120);
    double last = 0;
    for (int i = 0; i < 4; ++i)
        last = g.cycle().beat;
    for (int i = 0; i < 3; ++i) {
        const Transport& seen = g.cycle();
        CHECK(seen.beat == Approx(last + 256 * 2 / 48000.0));
        CHECK(seen.beats_per_frame == 0);
    }
    g.segment.flags = SPA_IO_SEGMENT_FLAG_NO_POSITION;
    CHECK(g.cycle().beats_per_bar == 0);
}

TEST_CASE("half speed, backwards, and another rate of the graph") {
    Graph g;
    g.run();
    g.segment.rate = -0.5;
    g.segment.position = 96000;
    g.say(4, 120);
    Transport seen = g.cycle();
    CHECK(seen.tempo == -1);
    CHECK(seen.beats_per_frame == Approx(-1 / 48000.0));
    g.segment.rate = 1;
    g.position.clock.rate = {1, 96000};
    seen = g.cycle();
    CHECK(seen.tempo == 2);
    CHECK(seen.beats_per_frame == Approx(2 / 96000.0));
}

TEST_CASE("in an engine with a rate of its own, beats are delayed as the inputs, to a fraction of a frame") {
    Master m(Host::Dict{{"scsynth.sample-rate", "44100"}});
    m.run();
    for (int i = 0; i < 20; ++i)
        m.cycle();
    const Transport& seen = m.cycle();
    CHECK(seen.beats_per_frame == Approx(2 / 44100.0));
    m.host.main().expire_timers();
    const double delay = m.node->latency(SPA_DIRECTION_OUTPUT, 0, SPA_DIRECTION_OUTPUT).max_rate;
    CHECK(delay > 10);
    CHECK(std::abs(seen.beat - m.beat()) < error);
    // The cycle's last block has the beat of the frame that was heard `delay` frames earlier.
    double nearest = 1; // beats; others may have taken the processor while clocks were read
    for (int i = 0; i < 20; ++i) {
        const NtpTime start = heard_at(m.position.clock.nsec);
        m.cycle();
        const double since = ntp_seconds_between(start, m.host.fake.frame0) - delay / 48000;
        nearest = std::min(nearest, std::abs(m.host.fake.transport.beat_at(0) - m.beat() - 2 * since));
    }
    CHECK(nearest < 1e-3);
}

TEST_CASE("whatever a driver writes, numbers stay numbers") {
    std::mt19937 random(1);
    Graph g;
    const double numbers[] = {0,
                              -1,
                              1,
                              120,
                              1e300,
                              -1e300,
                              std::numeric_limits<double>::quiet_NaN(),
                              1e-300,
                              1.0e12,
                              -1e9,
                              1e-3,
                              1.5e5,
                              std::numeric_limits<double>::infinity(),
                              4};
    const auto number = [&] { return numbers[random() % std::size(numbers)]; };
    const auto count = [&]() -> uint64_t {
        switch (random() % 4) {
        case 0: return random() % 1000;
        case 1: return UINT64_MAX - random() % 3;
        case 2: return uint64_t(1) << 63;
        default: return uint64_t(random()) << 32 | random();
        }
    };
    int playing = 0, known = 0;
    for (int i = 0; i < 20000; ++i) {
        g.position.n_segments = random() % 12 ? random() % 10 : uint32_t(random());
        g.position.offset = int64_t(count());
        g.position.clock.position = count();
        g.position.state = random() % 5;
        for (spa_io_segment& segment : g.position.segments) {
            segment.flags = random() % 2 ? random() : random() % 2; // what isn't known, or whether it loops
            segment.start = random() % 2 ? 0 : count();
            segment.duration = random() % 2 ? 0 : count();
            segment.rate = random() % 2 ? 1 : number();
            segment.position = count();
            g.say(0, 0);
            segment.bar.flags = random() % 4 > 0;
            segment.bar.offset = uint32_t(count());
            segment.bar.signature_num = random() % 2 ? 4 : float(number());
            segment.bar.bpm = random() % 2 ? 120 : number();
            segment.bar.beat = random() % 2 ? 4 : number();
            const double ticks = number();
            std::memcpy(reinterpret_cast<std::byte*>(&segment.bar) + 40, &ticks, sizeof ticks);
        }
        g.host.cycle(64);
        const Transport& seen = g.host.fake.transport;
        for (const double value : {seen.frame, seen.beat, seen.tempo, seen.beats_per_frame, seen.beats_per_bar})
            REQUIRE(std::isfinite(value));
        REQUIRE(std::abs(seen.tempo) < 1.1e5);
        playing += seen.playing;
        known += seen.tempo != 0;
    }
    CHECK(playing > 1000);
    CHECK(known > 500);
}
