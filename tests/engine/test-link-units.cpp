// SPDX-License-Identifier: GPL-3.0-or-later
// LinkPhase, LinkTempo and LinkJump follow PluginWorld::link().
#include "test-support.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace scs;
using namespace scs::test;

namespace {

constexpr NtpTime origin = NtpTime(1000) << 32;
constexpr LinkTimeline session{.time = origin, .beat = 3, .tempo = 2, .playing = true, .client = {5, 6}};

struct Playing : Fixture {
    Playing(const char* name, const std::vector<float>& inputs, const LinkTimeline& link, Rate rate = Rate::control,
            Settings settings = {})
        : Fixture(settings) {
        engine->world().link() = link;
        synth = &play(*define(unit_def(name, inputs, rate)), 1);
    }
    /// Frames from `frame` after `origin` on, of output 0.
    std::vector<float> cycle(int64_t frame, int frames = 64) {
        std::vector<float> samples(size_t(frames), 0.f);
        float* out[] = {samples.data(), nullptr};
        const float* in[] = {nullptr, nullptr};
        engine->process(frames, ntp_advance(origin, frame, 48000), 48000, in, out);
        return samples;
    }
    float at(int64_t frame) {
        cycle(frame);
        return *engine->buses().control();
    }
    std::vector<LinkEvent> asked() {
        std::vector<LinkEvent> events;
        for (auto record = engine->events().peek(); !record.empty(); record = engine->events().peek()) {
            EventHeader header;
            std::memcpy(&header, record.data(), sizeof header);
            if (header.kind == EventKind::link)
                std::memcpy(&events.emplace_back(), record.data(), sizeof(LinkEvent));
            engine->events().pop();
        }
        return events;
    }
    Synth* synth;
};

} // namespace

TEST_CASE("without a session all give -1, and the log says once what makes one known") {
    for (const auto& unit : {std::pair<const char*, std::vector<float>>{"LinkPhase", {4}},
                             {"LinkTempo", {1, 2}},
                             {"LinkJump", {1, 0, 4, 0}}}) {
        const char* const name = unit.first;
        CAPTURE(name);
        Playing f(name, unit.second, {});
        CHECK(f.at(0) == -1.f);
        f.play(*f.define(unit_def("LinkPhase", {4})), 2);
        f.render(64);
        CHECK(f.printed == "LinkPhase, LinkTempo and LinkJump follow a Link session while `pw-scsynth link` runs\n");
        CHECK(f.asked().empty());
    }
    Playing told("LinkPhase", {4}, session);
    told.render(64);
    CHECK(told.printed == "");
}

TEST_CASE("LinkPhase is the phase of when the block is heard, whatever the quantum") {
    Playing f("LinkPhase", {4}, session);
    for (const float quantum : {4.f, 1.f, 0.3f, 7.f, 16.f})
        for (const int64_t frame : {0, 64, 24000, 47936, 480000, -240000}) {
            CAPTURE(quantum);
            CAPTURE(frame);
            f.engine->tree().controls().set(*f.synth, 0, quantum);
            const double beat = 3 + double(frame) / 24000, q = quantum;
            CHECK(f.at(frame) == doctest::Approx(beat - std::floor(beat / q + 1e-9) * q).epsilon(1e-6));
        }
    for (const float quantum : {0.f, -4.f}) {
        f.engine->tree().controls().set(*f.synth, 0, quantum);
        CHECK(f.at(10000) == 0.f);
    }
}

TEST_CASE("a phase is less than the quantum, also where a float can't tell") {
    LinkTimeline link = session;
    link.beat = std::nextafter(4.0, 0.0);
    Playing f("LinkPhase", {4}, link);
    CHECK(f.at(0) == std::nextafter(4.f, 0.f));
    link.beat = -1e-18;
    f.engine->world().link() = link;
    CHECK(f.at(0) == 0.f);
}

TEST_CASE("at audio rate LinkPhase moves with each frame, in every block of a cycle") {
    Settings settings;
    settings.threads = 2;
    Playing f("LinkPhase", {4}, session, Rate::audio, settings);
    for (int64_t frame = 0; frame < 48000; frame += 256) {
        const std::vector<float> samples = f.cycle(frame, 256);
        for (size_t i = 0; i < samples.size(); ++i)
            REQUIRE(std::abs(samples[i] - LinkTimeline::phase(3 + double(frame + int64_t(i)) / 24000, 4)) < 1e-5);
    }
}

TEST_CASE("at control rate each block of a cycle has its own phase, beside helper threads") {
    for (const int threads : {1, 3}) {
        Settings settings;
        settings.threads = threads;
        Playing f("LinkPhase", {4}, session, Rate::control, settings);
        for (int64_t frame = 0; frame < 20480; frame += 1024)
            CHECK(std::abs(double((f.cycle(frame, 1024), *f.engine->buses().control())) -
                           LinkTimeline::phase(3 + double(frame + 960) / 24000, 4)) < 1e-6);
    }
}

TEST_CASE("LinkTempo is the tempo, and asks for another one while its gate is open, not too often") {
    Playing f("LinkTempo", {0, 3}, session);
    CHECK(f.at(0) == 2.f);
    CHECK(f.asked().empty());
    f.engine->tree().controls().set(*f.synth, 0, 1);
    CHECK(f.at(64) == 2.f); // until the session has it
    auto asked = f.asked();
    REQUIRE(asked.size() == 1);
    CHECK((asked[0].what == LinkEvent::What::tempo && asked[0].value == 3 &&
           asked[0].time == ntp_advance(origin, 64, 48000)));
    CHECK((asked[0].to.outlet == 5 && asked[0].to.client == 6));
    CHECK(f.at(128) == 2.f);
    CHECK(f.asked().empty()); // the answer may be under way
    CHECK(f.at(4800) == 2.f);
    CHECK(f.asked().size() == 1);
    f.engine->world().link().tempo = 3;
    CHECK(f.at(9600) == 3.f);
    CHECK(f.asked().empty());
    for (const auto& [wanted, got] : {std::pair{0.f, 20 / 60.}, {-5.f, 20 / 60.}, {100.f, 999 / 60.}}) {
        f.engine->tree().controls().set(*f.synth, 1, wanted);
        static int64_t frame = 48000;
        f.at(frame += 48000);
        asked = f.asked();
        REQUIRE(asked.size() == 1);
        CHECK(asked[0].value == got);
    }
    f.engine->tree().controls().set(*f.synth, 1, NAN);
    f.at(480000);
    CHECK(f.asked().empty());
}

TEST_CASE("LinkJump asks for a beat") {
    Playing f("LinkJump", {0, 1, 3, 0}, session);
    CHECK(f.at(0) == 0.f);
    CHECK(f.asked().empty());
    f.engine->tree().controls().set(*f.synth, 0, 1);
    f.at(64);
    f.engine->tree().controls().set(*f.synth, 3, 1);
    f.at(48000);
    const auto asked = f.asked();
    REQUIRE(asked.size() == 2);
    CHECK((asked[0].what == LinkEvent::What::jump && asked[0].value == 1 && asked[0].quantum == 3));
    CHECK(asked[1].what == LinkEvent::What::force);
    for (const float bad : {0.f, -1.f, NAN, INFINITY}) {
        f.engine->tree().controls().set(*f.synth, 2, bad);
        f.at(480000);
        CHECK(f.asked().empty());
    }
}
