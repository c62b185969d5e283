// SPDX-License-Identifier: GPL-3.0-or-later
#include "test-support.hpp"

#include <cmath>
#include <doctest/doctest.h>

using namespace scs;
using namespace scs::test;

namespace {

/// Largest difference from 0.5·sin(2π·440·n/48000 + phase). The phase comes from the first sample that determines it.
double distance_from_sine(const std::vector<float>& samples, double amplitude) {
    const double step = 2 * M_PI * 440 / 48000;
    double worst = 0;
    for (size_t n = 0; n < samples.size(); ++n)
        worst = std::max(worst, std::abs(samples[n] - amplitude * std::sin(step * double(n))));
    return worst;
}

} // namespace

TEST_CASE("a sine from SuperCollider's own plugins, at its level and continuous over quanta of any size") {
    Fixture f(plugins_alone());
    Definition* sine = f.define(sine_def());
    Synth* synth;
    REQUIRE(f.engine->tree().new_synth(*sine, nullptr, 1000, AddAction::tail, 0, synth).ok());
    std::vector<float> all;
    for (const int quantum : {64, 16, 100, 441, 1024, 8192, 17, 64}) {
        const auto part = f.render(quantum, quantum);
        all.insert(all.end(), part.begin(), part.end());
    }
    CHECK(distance_from_sine(all, 0.5) < 1e-4);
    CHECK(f.engine->status().synths == 1);
    CHECK(f.engine->status().units == 4);
}

TEST_CASE("a bundle runs at its sample, in the order of times") {
    Fixture f;
    std::string order;
    const auto at = [&](int64_t frame) { return ntp_advance(f.start, frame, 48000); };
    REQUIRE(f.engine->submit(bundle_of([&](Engine&) { order += 'c'; }, at(300))));
    REQUIRE(f.engine->submit(bundle_of([&](Engine&) { order += 'a'; }, at(100))));
    REQUIRE(f.engine->submit(bundle_of([&](Engine&) { order += 'b'; }, at(100))));
    REQUIRE(f.engine->submit(bundle_of([&](Engine&) { order += '0'; })));
    f.render(64);
    CHECK(order == "0");
    f.render(64);
    CHECK(order == "0ab");
    f.render(256);
    CHECK(order == "0abc");
    CHECK(f.late == 0);
    CHECK(f.freed == 4);
    REQUIRE(f.engine->submit(bundle_of([&](Engine&) { order += 'l'; }, at(10))));
    f.render(64);
    CHECK(order == "0abcl");
    CHECK(f.late == 1);
}

TEST_CASE("clear_schedule drops what waits and hands it back") {
    Fixture f;
    bool ran = false;
    REQUIRE(f.engine->submit(bundle_of([&](Engine&) { ran = true; }, ntp_advance(f.start, 1000, 48000))));
    f.render(64);
    REQUIRE(f.engine->submit(bundle_of([](Engine& e) { e.clear_schedule(); })));
    f.render(2048);
    CHECK_FALSE(ran);
    CHECK(f.freed == 2);
}

TEST_CASE("a job goes to the worker and back, then its completion runs, then the reply, then the bundle ends") {
    Fixture f;
    std::string order;
    auto* bundle = new CommandBundle;
    auto* job = new Call([&](Engine&) {
        order += 'r';
        return Outcome::job;
    });
    job->on_work = [&] { order += 'w'; };
    job->on_apply = [&](Engine&) {
        order += 'a';
        return Outcome::reply;
    };
    job->completion = bundle_of([&](Engine&) { order += 'c'; });
    auto* nested = new Call([&](Engine&) {
        order += 'R';
        return Outcome::job;
    });
    nested->on_work = [&] { order += 'W'; };
    job->completion->append(nested);
    bundle->append(job);
    REQUIRE(f.engine->submit(bundle));
    f.render(64);
    CHECK(order == "rw");
    f.render(64);
    CHECK(order == "rwacRW");
    CHECK(f.freed == 0);
    f.render(64);
    CHECK(f.replies == 2);
    CHECK(f.freed == 1);
}

TEST_CASE("idle, commands run and time stands still") {
    Fixture f;
    f.render(64);
    int ran = 0;
    for (int i = 0; i < 100; ++i)
        REQUIRE(f.engine->submit(bundle_of([&](Engine&) { ++ran; })));
    REQUIRE(f.engine->submit(bundle_of([&](Engine&) { ran += 1000; }, ntp_advance(f.start, 2000, 48000))));
    int calls = 1; // one takes a millisecond at most, which a busy machine may take away from it
    while (f.engine->run_idle())
        REQUIRE(++calls <= 100);
    CHECK(ran == 100);
    f.position = 48000;
    f.render(64);
    CHECK(ran == 1100);
}

TEST_CASE("everything that is under way when the engine goes is freed") {
    Fixture f;
    f.run_jobs = false;
    Definition* sine = f.define(sine_def());
    Synth* synth;
    REQUIRE(f.engine->tree().new_synth(*sine, nullptr, 1000, AddAction::tail, 0, synth).ok());
    f.render(64);
    auto* waits = new CommandBundle;
    waits->append(new Call([](Engine&) { return Outcome::job; }));
    REQUIRE(f.engine->submit(waits));
    f.engine->run_idle(); // its job is in the ring now
    REQUIRE(f.engine->submit(bundle_of([](Engine&) {}, ntp_advance(f.start, 1 << 20, 48000))));
    f.engine->run_idle();                                 // scheduled
    REQUIRE(f.engine->submit(bundle_of([](Engine&) {}))); // still in the queue
    Definition* unused;
    CHECK(f.engine->definitions().remove("sine", unused)); // held by its synth only
    CHECK(unused == nullptr);
}

TEST_CASE("more bundles than fit are refused") {
    Fixture f;
    size_t accepted = 0;
    CommandBundle* refused = nullptr;
    while (!refused) {
        CommandBundle* bundle = bundle_of([](Engine&) {});
        if (f.engine->submit(bundle))
            ++accepted;
        else
            refused = bundle;
    }
    delete refused;
    CHECK(accepted == Engine::most_bundles);
    f.render(64);
    CHECK(f.freed == int(Engine::most_bundles));
}

TEST_CASE("an input is heard in the same cycle") {
    Fixture f;
    SynthDef through;
    through.name = "through";
    through.constants = {0.f, 2.f};
    through.units = {unit("In", Rate::audio, {{-1, 1}}, {Rate::audio}),
                     unit("Out", Rate::audio, {{-1, 0}, {0, 0}}, {})};
    Definition* def = f.define(through);
    Synth* synth;
    REQUIRE(f.engine->tree().new_synth(*def, nullptr, 1, AddAction::tail, 0, synth).ok());
    std::vector<float> in(128), out(128);
    for (size_t i = 0; i < in.size(); ++i)
        in[i] = float(i + 1);
    const float* ins[] = {in.data(), nullptr};
    float* outs[] = {out.data(), nullptr};
    f.engine->process(128, f.start, 48000, ins, outs);
    CHECK(out == in);
    CHECK(f.engine->input_delay() == 0);
}

TEST_CASE("a new rate is for new synths; those that play keep theirs, and the log says so") {
    Fixture f;
    Definition* sine = f.define(sine_def());
    std::vector<float> out(4800);
    const auto run_at = [&](double rate) {
        const float* ins[] = {nullptr, nullptr};
        for (int at = 0; at < 4800; at += 480) {
            float* part[] = {out.data() + at, nullptr};
            f.engine->process(480, ntp_advance(f.start, f.position += 480, rate), rate, ins, part);
        }
    };
    const auto play_at = [&](double rate, int32_t id) {
        run_at(rate);
        Synth* synth;
        REQUIRE(f.engine->tree().new_synth(*sine, nullptr, id, AddAction::tail, 0, synth).ok());
        run_at(rate);
        int crossings = 0;
        for (size_t i = 1; i < out.size(); ++i)
            crossings += out[i - 1] < 0 && out[i] >= 0;
        return crossings;
    };
    CHECK(play_at(48000, 1) == 43); // a tenth of a second of 440 Hz: 44 periods, the first from zero
    f.engine->tree().freeing().free_all_in_time(f.engine->tree().root());
    f.pump();
    CHECK(f.printed.empty());
    CHECK(play_at(96000, 2) == 21);
    CHECK(f.engine->status().rate == 96000);
    f.pump();
    CHECK(f.printed.empty()); // nothing played when it changed
    play_at(44100, 3);
    f.pump();
    CHECK(f.printed.find("44100") != std::string::npos);
}

TEST_CASE("settings out of range are refused by name") {
    Settings s;
    s.outputs = 1025;
    const auto engine = Engine::create(s, [](const std::string&) {});
    REQUIRE_FALSE(engine);
    CHECK(engine.error() == "outputs must be 0 to 1024, not 1025");
    const auto refused = [](const Settings& settings, const char* key) {
        const auto made = Engine::create(settings, [](const std::string&) {});
        return !made && made.error().starts_with(std::string(key) + " must be ");
    };
    for (const auto& row : engine_settings) {
        CAPTURE(row.setting.key);
        for (const bool above : {false, true}) {
            Settings beyond;
            if (const auto* number = std::get_if<int Settings::*>(&row.field)) {
                beyond.*(*number) = above ? row.setting.high + 1 : row.setting.low - 1;
                CHECK(refused(beyond, row.setting.key));
            }
        }
    }
    s = {};
    s.simd = "mmx";
    CHECK(refused(s, "simd"));
    s = {};
    s.max_quantum = 0;
    CHECK(refused(s, "max-quantum"));
}

TEST_CASE("what a UGen takes for a size or an index is kept within what it has") {
    Fixture f(plugins_alone());
    const auto play = [&](SynthDef def, std::initializer_list<float> values) {
        def.name = "guarded";
        Synth* synth;
        REQUIRE(f.engine->tree().new_synth(*f.define(def), nullptr, 1000, AddAction::tail, 0, synth).ok());
        for (const float value : values) {
            f.engine->tree().controls().set(*synth, 0, value);
            f.render(256);
            CAPTURE(f.printed);
            REQUIRE(f.engine->tree().find_synth(1000) == synth);
        }
        f.engine->tree().free(*synth);
        CHECK(f.printed.find("crashed") == std::string::npos);
    };
    SynthDef def;
    def.controls = {1.f};
    def.control_names = {{"n", 0}};
    const UnitSpec control = unit("Control", Rate::control, {}, {Rate::control});
    const float wild[] = {NAN, -1.f, -1e9f, 1e9f, INFINITY, -INFINITY, 1.f};

    SUBCASE("the stages of an envelope") {
        def.constants = {1.f, 0.f, 0.01f};
        def.units = {control, unit("EnvGen", Rate::control,
                                   {{-1, 0},
                                    {-1, 0},
                                    {-1, 1},
                                    {-1, 0},
                                    {-1, 1},
                                    {-1, 1},
                                    {0, 0},
                                    {0, 0},
                                    {0, 0},
                                    {-1, 0},
                                    {-1, 2},
                                    {-1, 0},
                                    {-1, 1}},
                                   {Rate::control})};
        CHECK(input_guards(def, 64).size() == 3);
        for (const float value : wild) {
            def.controls = {std::isnan(value) ? 0.f : value};
            play(def, {value, 1.f, value});
        }
    }
    SUBCASE("a bus") {
        def.constants = {1.f};
        def.units = {control, unit("DC", Rate::audio, {{-1, 0}}, {Rate::audio}),
                     unit("Out", Rate::audio, {{0, 0}, {1, 0}}, {}),
                     unit("InFeedback", Rate::audio, {{0, 0}}, {Rate::audio})};
        for (const float value : wild)
            play(def, {value, 2.f, value});
    }
    SUBCASE("a local buffer, and one that nobody announced") {
        def.constants = {-1.f, 1.f, -1e9f};
        const UnitSpec most = unit("MaxLocalBufs", Rate::scalar, {{-1, 1}}, {Rate::scalar});
        const UnitSpec buffer = unit("LocalBuf", Rate::scalar, {{-1, 0}, {-1, 2}}, {Rate::scalar});
        def.units = {control, most, buffer};
        CHECK(input_guards(def, 64).size() == 2);
        play(def, {0.f});
        def.units = {control, buffer};
        play(def, {0.f});
        play(def, {0.f});
    }
    SUBCASE("the length of a line, which only the constructor reads") {
        const struct {
            const char* ugen;
            std::vector<InputRef> inputs; // constant 0 is 1, 1 is 0; unit 0 is the control, unit 1 audio
        } lines[] = {
            {"Limiter", {{1, 0}, {-1, 0}, {0, 0}}},
            {"Normalizer", {{1, 0}, {-1, 0}, {0, 0}}},
            {"RunningSum", {{1, 0}, {0, 0}}},
            {"Median", {{0, 0}, {1, 0}}},
            {"CombC", {{1, 0}, {0, 0}, {0, 0}, {-1, 0}}},
            {"AllpassN", {{1, 0}, {0, 0}, {0, 0}, {-1, 0}}},
            {"DelayL", {{1, 0}, {0, 0}, {0, 0}}},
            {"Pluck", {{1, 0}, {-1, 0}, {0, 0}, {0, 0}, {-1, 0}, {-1, 0}}},
            {"PitchShift", {{1, 0}, {0, 0}, {-1, 0}, {-1, 0}, {-1, 0}}},
            {"Convolution", {{1, 0}, {1, 0}, {0, 0}}},
        };
        def.constants = {1.f, 0.f};
        for (const auto& line : lines) {
            CAPTURE(std::string(line.ugen));
            def.units = {control, unit("DC", Rate::audio, {{-1, 0}}, {Rate::audio}),
                         unit(line.ugen, Rate::audio, line.inputs, {Rate::audio})};
            REQUIRE(input_guards(def, 64).size() == 1);
            CHECK(input_guards(def, 64)[0].at_start == (std::string_view(line.ugen) != "PitchShift"));
            for (const float value : {0.f, -1.f, -1e9f, 48000.f, 1e9f, 3e38f, INFINITY, -INFINITY, 0.01f}) {
                CAPTURE(value);
                def.controls = {value};
                play(def, {value, 0.02f});
            }
        }
    }
    SUBCASE("what the constructor saw holds, whatever comes later") {
        // Its constructor sees 1: the sum of one sample is that sample.
        def.controls = {0.f};
        def.constants = {0.5f, 0.f};
        def.units = {control, unit("DC", Rate::audio, {{-1, 0}}, {Rate::audio}),
                     unit("RunningSum", Rate::audio, {{1, 0}, {0, 0}}, {Rate::audio}),
                     unit("Out", Rate::audio, {{-1, 1}, {2, 0}}, {})};
        def.name = "sum";
        Synth* synth;
        REQUIRE(f.engine->tree().new_synth(*f.define(def), nullptr, 1000, AddAction::tail, 0, synth).ok());
        (void)f.render(128);
        f.engine->tree().controls().set(*synth, 0, 4.f);
        const auto out = f.render(256);
        CHECK(std::all_of(out.begin(), out.end(), [](float sample) { return sample == 0.5f; }));
    }
    SUBCASE("a room is no larger than the largest") {
        def.controls = {1000.f, 10.f};
        def.control_names = {{"room", 0}, {"largest", 1}};
        def.constants = {0.f, 1.f, 300.f, 400.f};
        const UnitSpec controls = unit("Control", Rate::control, {}, {Rate::control, Rate::control});
        const auto verb = [](InputRef room, InputRef largest) {
            return unit("GVerb", Rate::audio,
                        {{1, 0}, room, {-1, 1}, {-1, 1}, {-1, 1}, {-1, 1}, {-1, 1}, {-1, 1}, {-1, 1}, largest},
                        {Rate::audio, Rate::audio});
        };
        const UnitSpec dc = unit("DC", Rate::audio, {{-1, 1}}, {Rate::audio});
        def.units = {controls, dc, verb({-1, 2}, {-1, 3})};
        CHECK(input_guards(def, 64).empty());
        def.units = {controls, dc, verb({-1, 3}, {-1, 2})};
        CHECK(input_guards(def, 64).size() == 1);
        def.units = {controls, dc, verb({0, 0}, {0, 1})};
        const auto guards = input_guards(def, 64);
        REQUIRE(guards.size() == 2);
        CHECK(guards[0].input == 9);
        CHECK(guards[1].high_input == 9);
        play(def, {5.f, 1000.f, 9.f});
    }
    SUBCASE("the time of a line, in what its counter holds at this rate") {
        def.constants = {1.f, 3600.f, 0.f};
        const auto line = [](InputRef seconds) {
            return unit("XLine", Rate::audio, {{-1, 0}, {-1, 0}, seconds, {-1, 2}}, {Rate::audio});
        };
        def.units = {control, line({-1, 1})};
        CHECK(input_guards(def, 64).size() == 1); // too long at 1 MHz
        play(def, {0.f});
        def.units = {control, line({0, 0})};
        for (const float value : {-1.f, -1e9f, 1e6f, 3e38f, INFINITY, -INFINITY, 3600.f}) {
            def.controls = {value};
            play(def, {value});
        }
        def.constants[1] = 2000.f;
        def.units = {control, line({-1, 1})};
        CHECK(input_guards(def, 64).empty());
    }
    SUBCASE("the frame of a trigger lies in the block") {
        def.constants = {0.f, 63.f, 64.f, 1.f};
        const auto trigger = [](uint32_t frame, Rate rate) { return unit("T2A", rate, {{0, 0}, {-1, frame}}, {rate}); };
        def.units = {control, trigger(1, Rate::audio)};
        CHECK(input_guards(def, 64).empty());
        CHECK(input_guards(def, 32).size() == 1);
        def.units = {control, trigger(2, Rate::audio)};
        CHECK(input_guards(def, 64).size() == 1);
        def.units = {control, trigger(3, Rate::control)};
        CHECK(input_guards(def, 64).size() == 1);
    }
    SUBCASE("constants in range need no guard") {
        def.constants = {0.f, 1.f};
        def.units = {unit("Out", Rate::audio, {{-1, 0}, {-1, 1}}, {})};
        CHECK(input_guards(def, 64).empty());
    }
}

TEST_CASE("an output to a negative bus doesn't hang on whatever lies before the locks") {
    Fixture f(plugins_alone());
    SynthDef def;
    def.name = "nowhere";
    def.constants = {-1.f, 1.f, -16000.f};
    def.units = {
        unit("DC", Rate::audio, {{-1, 1}}, {Rate::audio}),
        unit("Out", Rate::audio, {{-1, 0}, {0, 0}}, {}),
        unit("In", Rate::audio, {{-1, 2}}, {Rate::audio}),
        unit("ReplaceOut", Rate::audio, {{-1, 2}, {2, 0}}, {}),
    };
    Synth* synth;
    REQUIRE(f.engine->tree().new_synth(*f.define(def), nullptr, 1000, AddAction::tail, 0, synth).ok());
    CHECK(f.render(256).size() == 256);
}

TEST_CASE("plugins' local buffers beyond those that were announced") {
    // Each of them frees the array of all when the synth ends.
    Settings settings;
    settings.native_ugens = false;
    Fixture f(settings);
    SynthDef def;
    def.name = "too-many";
    def.constants = {1.f, 64.f};
    const UnitSpec buffer = unit("LocalBuf", Rate::scalar, {{-1, 0}, {-1, 1}, {0, 0}}, {Rate::scalar});
    def.units = {unit("MaxLocalBufs", Rate::scalar, {{-1, 0}}, {Rate::scalar}), buffer, buffer, buffer};
    Definition* const made = f.define(def);
    for (int32_t id = 1000; id < 1003; ++id) {
        Synth* synth;
        REQUIRE(f.engine->tree().new_synth(*made, nullptr, id, AddAction::tail, 0, synth).ok());
        f.render(64);
        f.engine->tree().free(*synth);
        f.render(64);
    }
}

TEST_CASE("a unit may write what its plugin didn't register") {
    // PV_SpectralEnhance writes a flag 17 bytes after its memory: sc3-plugins register it as a plain Unit.
    Fixture f;
    SynthDef def;
    def.name = "enhanced";
    def.constants = {0.f, 1.f, 512.f, 0.5f, 2.f, 440.f};
    const UnitSpec most = unit("MaxLocalBufs", Rate::scalar, {{-1, 1}}, {Rate::scalar});
    def.units = {most,
                 unit("LocalBuf", Rate::scalar, {{-1, 1}, {-1, 2}, {0, 0}}, {Rate::scalar}),
                 unit("SinOsc", Rate::audio, {{-1, 5}, {-1, 0}}, {Rate::audio}),
                 unit("FFT", Rate::control, {{1, 0}, {2, 0}, {-1, 3}, {-1, 0}, {-1, 1}, {-1, 0}}, {Rate::control}),
                 unit("PV_SpectralEnhance", Rate::control, {{3, 0}, {-1, 1}, {-1, 4}, {-1, 0}}, {Rate::control}),
                 unit("IFFT", Rate::audio, {{4, 0}, {-1, 0}, {-1, 0}}, {Rate::audio}),
                 unit("Out", Rate::audio, {{-1, 0}, {5, 0}}, {})};
    Synth* synth;
    REQUIRE(f.engine->tree().new_synth(*f.define(def), nullptr, 1000, AddAction::tail, 0, synth).ok());
    const auto out = f.render(4096);
    // With a strength of 0 it changes nothing.
    CHECK(*std::max_element(out.begin() + 2048, out.end()) == doctest::Approx(1.f).epsilon(0.01));
}
