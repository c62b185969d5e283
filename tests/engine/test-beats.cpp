// SPDX-License-Identifier: GPL-3.0-or-later
// Beats of the transport and of MIDI clock on control buses: each block has those of its first frame.
#include "engine/control/beat-binding.hpp"
#include "engine/control/bindings.hpp"

#include "test-support.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

using namespace scs;
using namespace scs::test;
using Kind = ControlEvent::Kind;

namespace {

/// What the four buses of a binding have in a block.
struct Heard {
    double beat, tempo, playing, bar;
    double all(double beats_per_bar) const { return bar * beats_per_bar + beat; }
};

/// Reads the buses as each block begins.
class Reader final : public Binding {
public:
    Reader(int bus, std::vector<Heard>& heard) : Binding(1000, {}), bus_(bus), heard_(heard) {}
    void handle(const ControlEvent&, BindingTargets&) noexcept override {}
    void end(BindingTargets&) noexcept override {}
    int64_t cost() const noexcept override { return 0; }
    bool in_each_block() const noexcept override { return true; }
    void begin_block(const BlockStart&, BindingTargets& targets) noexcept override {
        const float* bus = targets.buses.control() + bus_;
        heard_.push_back({bus[0], bus[1], bus[2], bus[3]});
    }

private:
    int bus_;
    std::vector<Heard>& heard_;
};

constexpr int bus = 20;

std::span<const Transport> one(const Transport* transport) {
    return {transport, size_t(transport != nullptr)};
}

struct Band : Fixture {
    void bind(const BeatOrigin& from = {}) {
        std::unique_ptr<Binding> made = std::make_unique<BeatBinding>(1, BeatSettings{from, bus});
        REQUIRE(engine->bindings().put(made));
        made = std::make_unique<Reader>(bus, heard);
        REQUIRE(engine->bindings().put(made));
    }
    void event(Kind kind, int frame = 0, float value = 0, int port = 0) {
        next.push_back({kind, uint8_t(port), 0, 0, frame, value});
    }
    void cycle(int frames, const Transport* transport = nullptr, double rate = 48000) {
        float* out[] = {nullptr, nullptr};
        const float* in[] = {nullptr, nullptr};
        engine->process(frames, ntp_advance(start, position, rate), rate, in, out, {}, next, one(transport));
        position += frames;
        next.clear();
    }
    /// A second of clocks at 120 beats a minute, the first at the present frame, which are 1000 frames apart.
    void clocks(int count, int quantum) {
        const int64_t first = position;
        for (int sent = 0; sent < count;) {
            for (; sent < count && first + sent * 1000 < position + quantum; ++sent)
                event(Kind::clock, int(first + sent * 1000 - position));
            cycle(quantum);
        }
    }
    /// What the block that begins at this frame, or last before it, has.
    const Heard& at(int64_t frame) { return heard.at(size_t(frame / 64)); }
    std::vector<Heard> heard;
    std::vector<ControlEvent> next;
};

Transport rolling(double beat, double beats_a_minute, double beats_per_bar = 4) {
    return {0, true, beat, beats_a_minute / 60, beats_a_minute / 60 / 48000, beats_per_bar};
}

constexpr double error = 1e-6; ///< beats

} // namespace

TEST_CASE("a block has the transport's beat at its first frame, whatever the quantum, the tempo and the place") {
    for (const int quantum : {16, 64, 256, 441, 1000}) {
        CAPTURE(quantum);
        Band band;
        band.bind();
        std::vector<std::pair<int64_t, Transport>> given;
        double beat = 0;
        for (int i = 0; i < 80000 / quantum; ++i) {
            const double place = double(band.position) / 80000;
            Transport now = rolling(beat, place < 0.3 ? 120 : 97.3, place < 0.5 ? 4 : 7);
            if (place > 0.6 && place < 0.7) { // it is located, and begins to roll later
                now.playing = false;
                now.beats_per_frame = 0;
                now.beat = beat = 123456.75;
            }
            if (place > 0.9 && i % 50 == 0)
                now.beat = beat = 10000.0 * i;
            given.emplace_back(band.position, now);
            band.cycle(quantum, &now);
            beat = now.beat_at(quantum);
        }
        const int delay = band.engine->input_delay();
        CHECK(delay == (quantum % 64 ? 64 - std::gcd(64, quantum) : 0));
        size_t in_cycle = 0;
        for (size_t block = 0; block < band.heard.size(); ++block) {
            const int64_t frame = int64_t(block) * 64 - delay;
            while (in_cycle + 1 < given.size() && given[in_cycle + 1].first <= frame)
                ++in_cycle;
            const auto& [first, transport] = given[in_cycle];
            const Heard& heard = band.heard[block];
            if (frame < 0) {
                CHECK(heard.playing == 0);
                continue;
            }
            CAPTURE(frame);
            REQUIRE(std::abs(heard.all(transport.beats_per_bar) - transport.beat_at(double(frame - first))) < error);
            REQUIRE(heard.beat >= 0);
            REQUIRE(heard.beat < transport.beats_per_bar);
            REQUIRE(heard.bar == std::floor(heard.bar));
            REQUIRE(heard.tempo == float(transport.tempo));
            REQUIRE(heard.playing == transport.playing);
        }
    }
}

TEST_CASE("where nothing is told of a cycle the transport goes on; after a pause it stands") {
    Band band;
    band.bind();
    band.cycle(64);
    CHECK(band.at(0).playing == 0);
    const Transport now = rolling(1, 120);
    band.cycle(64, &now);
    for (int i = 0; i < 1000; ++i)
        band.cycle(64);
    CHECK(std::abs(band.at(64 * 1001).all(4) - 1 - 1000 * 64 / 24000.0) < error);
    band.engine->reset_carry();
    band.cycle(64);
    CHECK(band.heard.back().playing == 0);
}

TEST_CASE("bars begin with beat 0, and beats before the first are in bars before it") {
    Band band;
    band.bind();
    const auto place = [&](double beat, double beats_per_bar) {
        const Transport now = rolling(beat, 60, beats_per_bar);
        band.cycle(64, &now);
        return std::pair(band.heard.back().bar, band.heard.back().beat);
    };
    CHECK(place(8, 4) == std::pair(2.0, 0.0));
    CHECK(place(8 - 1e-12, 4) == std::pair(2.0, 0.0));
    CHECK(place(8 - 1e-8, 4) == std::pair(1.0, double(std::nextafter(4.f, 0.f))));
    CHECK(place(-1, 4) == std::pair(-1.0, 3.0));
    CHECK(place(7.5, 3.5) == std::pair(2.0, 0.5));
    CHECK(place(5, 0) == std::pair(0.0, 0.0));
}

TEST_CASE("more changes than there is room for: the last one counts") {
    Band band;
    band.bind();
    band.cycle(441); // delays what comes
    for (int i = 0; i < 1000; ++i) {
        const Transport now = rolling(i, 120);
        float* out[] = {nullptr, nullptr};
        const float* in[] = {nullptr, nullptr};
        band.engine->process(0, band.start, 48000, in, out, {}, {}, one(&now));
    }
    for (int i = 0; i < 3; ++i)
        band.cycle(441);
    CHECK(std::abs(band.at(64 * 8).all(4) - 999 - (64 * 8 - 441 - 63) / 24000.0) < error);
}

TEST_CASE("MIDI clock: the frames of its clocks are beats, whatever the quantum") {
    for (const int quantum : {16, 64, 256, 441, 1000}) {
        CAPTURE(quantum);
        Band band;
        band.bind({.of = BeatSource::midi, .beats_per_bar = 3});
        band.cycle(quantum);
        const int64_t first = band.position;
        band.event(Kind::start);
        band.clocks(200, quantum);
        const int delay = band.engine->input_delay();
        const auto blocks = int64_t(band.heard.size());
        for (int64_t block = (first + delay + 2000) / 64; block < blocks; ++block) {
            const Heard& heard = band.heard[size_t(block)];
            CAPTURE(block);
            REQUIRE(std::abs(heard.all(3) - double(block * 64 - first - delay) / 24000) < error);
            REQUIRE(heard.tempo == doctest::Approx(2));
            REQUIRE(heard.playing == 1);
        }
        CHECK(band.at(first + delay - 1).playing == 0);
        CHECK(band.at(first + delay + 63).playing == 1);
    }
}

TEST_CASE("start, stop, continue and song position take effect in the first block after their frame") {
    Band band;
    band.bind({.of = BeatSource::midi});
    band.clocks(10, 256);
    CHECK(band.heard.back().playing == 0);
    CHECK(band.heard.back().tempo == doctest::Approx(2));
    const int64_t started = band.position;
    band.event(Kind::song_position, 0, 50);
    band.event(Kind::go_on, 1);
    band.cycle(256);
    CHECK(band.at(started).playing == 0);
    CHECK(band.at(started).all(4) == 12.5);
    CHECK(band.at(started + 64).playing == 1);
    CHECK(band.at(started + 64).all(4) == 12.5);
    band.clocks(25, 256);
    CHECK(band.heard.back().all(4) >= 13.5);
    const int64_t stopped = band.position;
    band.event(Kind::stop, 64);
    band.cycle(256);
    CHECK(band.at(stopped + 64).playing == 0);
    const double there = band.at(stopped + 64).all(4);
    CHECK(band.at(stopped + 192).all(4) == there);
    CHECK(there > 13.5);
}

TEST_CASE("of several ports the clock of one is heard, and channels don't matter") {
    Band band;
    band.bind({.of = BeatSource::midi, .source = {2, -1}});
    band.event(Kind::start, 0, 0, 1);
    band.cycle(64);
    band.cycle(64);
    CHECK(band.heard.back().playing == 0);
    band.event(Kind::start, 0, 0, 2);
    band.cycle(64);
    CHECK(band.heard.back().playing == 1);
}

TEST_CASE("of several clocks the first one is followed, until it has been silent for two beats") {
    Band band;
    band.bind({.of = BeatSource::midi});
    const auto play = [&](int cycles, bool first, bool second) {
        for (int i = 0; i < cycles; ++i) { // 1000 and 500 frames apart
            if (first)
                band.event(Kind::clock, 0, 0, 0);
            for (int half = 0; half < 2 * second; ++half)
                band.event(Kind::clock, 10 + half * 500, 0, 1);
            band.cycle(1000);
        }
    };
    band.event(Kind::start, 0, 0, 0);
    play(24, true, false);
    band.event(Kind::song_position, 0, 400, 1);
    play(24, true, true);
    CHECK(band.heard.back().tempo == doctest::Approx(2));
    CHECK(band.heard.back().all(4) == doctest::Approx(2).epsilon(0.02));
    play(60, false, true);
    CHECK(band.heard.back().tempo == doctest::Approx(4));
    CHECK(band.heard.back().playing == 0); // nobody has started that one
    band.event(Kind::start, 0, 0, 1);
    play(24, true, true);
    CHECK(band.heard.back().all(4) == doctest::Approx(2).epsilon(0.02));
}

TEST_CASE("clocks are no controllers") {
    Band band;
    band.event(Kind::clock);
    band.cycle(64);
    CHECK(band.engine->bindings().last_moved() == nullptr);
}

TEST_CASE("blocks that have beats are computed one by one, and freed bindings leave the others theirs") {
    Band band;
    CHECK_FALSE(band.engine->bindings().act_in_each_block());
    band.bind();
    band.bind(); // the same ID
    CHECK(band.engine->bindings().act_in_each_block());
    (void)band.engine->bindings().take(1000);
    CHECK(band.engine->bindings().act_in_each_block());
    (void)band.engine->bindings().take(1);
    CHECK_FALSE(band.engine->bindings().act_in_each_block());
}
