// SPDX-License-Identifier: GPL-3.0-or-later
// Multiples of a division of beats: at their frame, each once.
#include "engine/control/beats.hpp"
#include "engine/control/bindings.hpp"

#include "test-support.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

using namespace scs;
using namespace scs::test;
using Kind = ControlEvent::Kind;

namespace {

/// An impulse in the frame where it begins.
SynthDef click_def() {
    SynthDef def;
    def.name = "click";
    def.constants = {0.f};
    def.units = {
        unit("Impulse", Rate::audio, {{-1, 0}, {-1, 0}}, {Rate::audio}),
        unit("OffsetOut", Rate::audio, {{-1, 0}, {0, 0}}, {}),
    };
    return def;
}

/// Plays a click at each multiple, and notes its beat and block.
class Clicks final : public Binding {
public:
    Clicks(Fixture& f, const BeatOrigin& from, double division, double offset)
        : Binding(1, {}), f_(f), def_(f.define(click_def())), follower_(from), division_(division, offset) {}
    void handle(const ControlEvent& event, BindingTargets& targets) noexcept override {
        follower_.handle(event, targets.seconds);
    }
    void end(BindingTargets&) noexcept override {}
    int64_t cost() const noexcept override { return 1; }
    bool in_each_block() const noexcept override { return true; }
    int act(const BlockStart& block, int until, BindingTargets& targets) noexcept override {
        const int at = division_.next(follower_, block, targets.block, until, targets.refused);
        if (at >= 0) {
            beats.push_back(division_.found().beat);
            frames.push_back(int64_t(targets.block) * block.frames + at);
            due_ = true;
        }
        return at;
    }
    bool go_on() noexcept override {
        if (!std::exchange(due_, false) || !plays)
            return true;
        Synth* made = nullptr;
        if (Node* const last = f_.engine->tree().find(1000))
            f_.engine->tree().free(*last);
        CHECK(f_.engine->tree().new_synth(*def_, nullptr, 1000, AddAction::head, 0, made).ok());
        return true;
    }
    std::vector<double> beats;
    std::vector<int64_t> frames;
    bool plays = true;

private:
    Fixture& f_;
    Definition* def_;
    BeatFollower follower_;
    BeatDivision division_;
    bool due_ = false;
};

struct Beaten : Fixture {
    explicit Beaten(double division = 0.25, double offset = 0, const BeatOrigin& from = {}) {
        auto made = std::make_unique<Clicks>(*this, from, division, offset);
        clicks = made.get();
        std::unique_ptr<Binding> binding = std::move(made);
        REQUIRE(engine->bindings().put(binding));
    }
    void cycle(int frames, std::span<const Transport> transports = {}) {
        std::vector<float> left(size_t(frames), 0.f);
        float* out[] = {left.data(), nullptr};
        const float* in[] = {nullptr, nullptr};
        engine->process(frames, ntp_advance(start, position, 48000), 48000, in, out, {}, next, transports);
        for (int i = 0; i < frames; ++i)
            if (left[size_t(i)] != 0)
                heard.push_back(position + i);
        position += frames;
        next.clear();
        pump();
    }
    /// A cycle of a transport that goes on by itself.
    void roll(int frames) {
        now.beats_per_frame = now.playing ? now.tempo / 48000 : 0;
        cycle(frames, std::span(&now, 1));
        now.beat = now.beat_at(frames);
    }
    void locate(double beat) {
        now.beat = beat;
        ++now.leaps;
    }
    /// The beats since the last call.
    std::vector<double> since() { return std::exchange(clicks->beats, {}); }

    Transport now{.playing = true, .tempo = 2, .beats_per_bar = 4};
    Clicks* clicks;
    std::vector<int64_t> heard; ///< frames
    std::vector<ControlEvent> next;
};

using List = std::vector<double>;

} // namespace

TEST_CASE("a thousand sixteenths sound at their frames, whatever the quantum and the tempo") {
    for (const int quantum : {16, 64, 256, 441, 1000})
        for (const double apart : {600.0, 613.7}) {
            CAPTURE(quantum);
            CAPTURE(apart);
            Beaten b;
            b.now.tempo = 48000 / (4 * apart);
            std::vector<int64_t> expected;
            const int delay = quantum % 64 ? 64 - std::gcd(64, quantum) : 0;
            for (int i = 0; i < 1000; ++i)
                expected.push_back(int64_t(std::ceil(i * apart - 1e-3)) + delay);
            while (b.position < expected.back() + 64)
                b.roll(quantum);
            b.heard.resize(std::min(b.heard.size(), expected.size()));
            CHECK(b.heard == expected);
            CHECK(b.engine->status().refused_control == 0);
        }
}

TEST_CASE("other tempi, pauses and locates, also within a cycle: each multiple once, and none is left out") {
    for (const int quantum : {16, 64, 256, 441, 1000}) {
        CAPTURE(quantum);
        Beaten b;
        b.cycle(quantum); // nothing plays
        const int delay = b.engine->input_delay();
        std::vector<int64_t> expected;
        List beats;
        double next = 0, beat = 0;
        uint32_t state = 7;
        const auto random = [&](uint32_t below) { return (state = state * 1664525 + 1013904223) / 65536 % below; };
        Transport now = b.now;
        int stays = 0;
        while (expected.size() < 1000) {
            std::vector<Transport> given;
            for (int frame = 0; frame < quantum; ++frame) {
                if (--stays < 0) {
                    stays = int(random(3000)) + (random(9) == 0 ? 0 : 2000);
                    now.playing = random(4) > 0;
                    now.tempo = 20 + random(400) / 10.0;
                    if (random(5) == 0) {
                        beat = next = random(4000) / 4.0; // onto a multiple
                        ++now.leaps;
                    }
                    now.frame = frame;
                    now.beat = beat;
                    now.beats_per_frame = now.playing ? now.tempo / 48000 : 0;
                    given.push_back(now);
                }
                if (now.playing && beat + 1e-9 >= next) {
                    expected.push_back(b.position + frame + delay);
                    beats.push_back(next);
                    next += 0.25;
                }
                beat += now.beats_per_frame;
            }
            b.cycle(quantum, given);
        }
        for (int i = 0; i < 10; ++i)
            b.cycle(quantum, std::span(&(now = {.leaps = now.leaps}), 1));
        CHECK(b.clicks->frames == expected);
        CHECK(b.clicks->beats == beats);
        std::vector<int64_t> audible; // another one in the same block takes the click's place
        for (size_t i = 0; i < expected.size(); ++i)
            if (i + 1 == expected.size() || expected[i] / 64 != expected[i + 1] / 64)
                audible.push_back(expected[i]);
        CHECK(b.heard == audible);
    }
}

TEST_CASE("a place that is left and come back to counts again, a tempo's correction doesn't") {
    Beaten b(1);
    b.now.beat = 0.999;
    b.roll(64);
    CHECK(b.since() == List{1});
    b.now.beat = 0.99; // what the tempo was was told late
    b.roll(1024);
    CHECK(b.since().empty());
    b.now.beat = 2.1; // the same, ahead
    b.roll(64);
    CHECK(b.since() == List{2});
    b.locate(4);
    b.roll(64);
    CHECK(b.since() == List{4});
    b.locate(4);
    b.roll(64);
    CHECK(b.since() == List{4});
    b.locate(3.5);
    b.roll(64);
    CHECK(b.since().empty());
    b.now.playing = false;
    b.locate(8);
    for (int i = 0; i < 10; ++i)
        b.roll(64);
    CHECK(b.since().empty());
    b.now.playing = true;
    b.roll(64);
    CHECK(b.since() == List{8});
}

TEST_CASE("divisions are moved by their offset, have places before the start, and may be long") {
    Beaten b(4, 1);
    b.now.beat = -4;
    for (int i = 0; i < 4000; ++i)
        b.roll(64);
    CHECK(b.since() == List{-3, 1, 5});
    CHECK(b.clicks->frames == std::vector<int64_t>{24000, 5 * 24000, 9 * 24000});
}

TEST_CASE("more multiples than a block may have are refused and counted") {
    Beaten b(1.0 / 64);
    b.clicks->plays = false;
    b.now.tempo = 48000.0 / 64; // one a frame
    for (int i = 0; i < 100; ++i)
        b.roll(64);
    CHECK(b.since().size() == 100 * BeatDivision::most);
    b.now.playing = false;
    b.roll(64);
    CHECK(b.engine->status().refused_control == 100 * (64 - BeatDivision::most));
    b.now.playing = true;
    b.now.tempo = 1e300;
    b.roll(64);
    b.roll(64);
    CHECK(b.since().size() <= 2 * BeatDivision::most);
}

TEST_CASE("without a master, backwards, or standing there are no multiples") {
    Beaten b;
    b.now.tempo = 0;
    b.roll(1024);
    CHECK(b.since().empty());
    b.now.tempo = -2;
    b.locate(8);
    b.roll(48000);
    CHECK(b.since().empty());
    b.now.tempo = 2;
    b.now.beat = 3.9;
    b.roll(4800);
    CHECK(b.since() == List{4});
}

TEST_CASE("divisions of MIDI clock: frames of its clocks, none before a start, and each once though clocks jitter") {
    for (const int quantum : {16, 64, 256, 441, 1000}) {
        CAPTURE(quantum);
        for (const int jitter : {0, 40}) {
            CAPTURE(jitter);
            Beaten b(0.25, 0, {.of = BeatSource::midi});
            b.cycle(quantum);
            const int delay = quantum % 64 ? 64 - std::gcd(64, quantum) : 0;
            constexpr int apart = 100, clocks = 6 * 1000 + 12, started = 6;
            const int64_t first = b.position + 1000;
            std::vector<int64_t> expected;
            for (int i = 0; i < 1000; ++i)
                expected.push_back(first + (started + i * 6) * apart + delay);
            for (int sent = 0; sent < clocks;) {
                for (; sent < clocks; ++sent) {
                    const int64_t frame = first + sent * apart + (jitter ? sent * 7919 % jitter : 0);
                    if (frame >= b.position + quantum)
                        break;
                    if (sent == started)
                        b.next.push_back({.kind = Kind::start, .frame = int32_t(frame - b.position)});
                    b.next.push_back({.kind = Kind::clock, .frame = int32_t(frame - b.position)});
                }
                b.cycle(quantum);
            }
            for (int i = 0; i < 20; ++i)
                b.cycle(quantum);
            REQUIRE(b.clicks->beats.size() >= 1000);
            for (int i = 0; i < 1000; ++i)
                REQUIRE(b.clicks->beats[size_t(i)] == i * 0.25);
            b.heard.resize(1000);
            if (jitter == 0)
                CHECK(b.heard == expected);
            for (size_t i = 0; i < 1000; ++i)
                REQUIRE(std::abs(b.heard[i] - expected[i]) <= 2 * jitter);
        }
    }
}

TEST_CASE("a locate, a stop and clocks that are missing: multiples of MIDI clock") {
    Beaten b(0.25, 0, {.of = BeatSource::midi});
    const auto send = [&](std::initializer_list<std::pair<Kind, float>> events) {
        for (const auto& [kind, value] : events)
            b.next.push_back({.kind = kind, .frame = 32, .value = value});
        b.cycle(1000);
    };
    const auto clocks = [&](int count) {
        for (int i = 0; i < count; ++i)
            send({{Kind::clock, 0}});
    };
    clocks(12);
    send({{Kind::start, 0}});
    CHECK(b.since().empty());
    clocks(7);
    CHECK(b.since() == List{0, 0.25});
    send({{Kind::stop, 0}});
    clocks(20);
    send({{Kind::go_on, 0}});
    clocks(6);
    CHECK(b.since() == List{0.5});
    send({{Kind::song_position, 16}, {Kind::clock, 0}});
    CHECK(b.since() == List{4});
    for (int i = 0; i < 40; ++i)
        b.cycle(1000); // four clocks' time beyond the last one
    CHECK(b.since().empty());
    clocks(6);
    CHECK(b.since() == List{4.25});
}

TEST_CASE("beats of Link: each multiple at its frame, also while its clock is corrected, and anew where it leaps") {
    for (const int quantum : {64, 441, 1000}) {
        CAPTURE(quantum);
        Beaten b(0.25, 0, {.of = BeatSource::link});
        b.cycle(quantum);
        CHECK(b.since().empty()); // no session
        LinkTimeline& link = b.engine->world().link();
        const auto tell = [&](double beat, double tempo) {
            link = link.followed_by({.time = ntp_advance(b.start, b.position, 48000), .beat = beat, .tempo = tempo});
            return b.position;
        };
        const int64_t began = tell(8, 2);
        List expected;
        for (int i = 0; i < 100; ++i)
            expected.push_back(8 + i * 0.25);
        while (b.clicks->beats.size() < 50)
            b.cycle(quantum);
        tell(link.beat_at(ntp_advance(b.start, b.position, 48000)) - 0.0001, 2); // a clock drifts
        while (b.clicks->beats.size() < 100)
            b.cycle(quantum);
        List beats = b.since();
        beats.resize(100);
        CHECK(beats == expected);
        REQUIRE(b.heard.size() >= 50);
        for (int i = 1; i < 50; ++i) // the session began within a block
            CHECK(std::abs(b.heard[size_t(i)] - began - i * 6000) <= 1);

        tell(3, 2.5); // a peer's jump
        b.clicks->beats.clear();
        while (b.clicks->beats.size() < 3)
            b.cycle(quantum);
        CHECK(b.since() == List{3, 3.25, 3.5});
        // Word that is ten seconds old: what came since then isn't made up for.
        link = link.followed_by({.time = ntp_advance(b.start, b.position - 480'000, 48000), .beat = 100, .tempo = 2});
        while (b.clicks->beats.size() < 2)
            b.cycle(quantum);
        CHECK(b.since() == List{120, 120.25});
        link = link.followed_by({});
        for (int i = 0; i < 200; ++i)
            b.cycle(64);
        CHECK(b.since().empty());
    }
}
