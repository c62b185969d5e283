// SPDX-License-Identifier: GPL-3.0-or-later
// Keys and controllers of control ports: synths at their frame, their ends, pedals and voices.
#include "engine/control/bindings.hpp"
#include "engine/control/controller-binding.hpp"
#include "engine/control/key-binding.hpp"

#include "test-timed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace scs;
using namespace scs::test;
using Kind = ControlEvent::Kind;
using Mode = KeySettings::Mode;

namespace {

/// An impulse of `amp` in the frame where the synth begins, and then `freq` as a constant, both by OffsetOut on buses 0
/// and 1. Ends with its gate, at once.
SynthDef tone_def(const char* name = "tone", bool gated = true) {
    SynthDef def;
    def.name = name;
    def.constants = {0.f, 1.f, 2.f, -99.f};
    def.controls = {0.f, 0.f, 1.f, 0.f};
    def.control_names = {{"freq", 0}, {"amp", 1}, {gated ? "gate" : "other", 2}, {"bend", 3}};
    def.units = {
        unit("Control", Rate::control, {}, {Rate::control, Rate::control, Rate::control, Rate::control}),
        unit("Impulse", Rate::audio, {{-1, 0}, {-1, 0}}, {Rate::audio}),
        unit("BinaryOpUGen", Rate::audio, {{1, 0}, {0, 1}}, {Rate::audio}, 2),
        unit("OffsetOut", Rate::audio, {{-1, 0}, {2, 0}}, {}),
        unit("Linen", Rate::control, {{0, 2}, {-1, 0}, {-1, 1}, {-1, 0}, {-1, 2}}, {Rate::control}),
    };
    if (!gated)
        def.units.pop_back();
    return def;
}

struct Keyboard : Fixture {
    explicit Keyboard(KeySettings s = {}, bool gated = true) {
        define(tone_def("tone", gated));
        s.synthdef = "tone";
        bind(s);
    }
    void bind(KeySettings s, int32_t id = 1) {
        std::unique_ptr<Binding> made = std::make_unique<KeyBinding>(id, std::move(s));
        REQUIRE(engine->bindings().put(made));
    }
    void on(int note, float velocity = 1, int frame = 0, int channel = 0) {
        next.push_back({Kind::note_on, 0, uint8_t(channel), uint8_t(note), frame, velocity});
    }
    void off(int note, int frame = 0, int channel = 0) {
        next.push_back({Kind::note_off, 0, uint8_t(channel), uint8_t(note), frame, 0});
    }
    void controller(int number, float value, int channel = 0) {
        next.push_back({Kind::controller, 0, uint8_t(channel), uint8_t(number), 0, value});
    }
    /// Renders output 0.
    std::vector<float> cycle(int frames = 64) {
        std::vector<std::vector<float>> ports(2, std::vector<float>(size_t(frames)));
        float* out[] = {ports[0].data(), ports[1].data()};
        const float* in[] = {nullptr, nullptr};
        engine->process(frames, ntp_advance(start, position, 48000), 48000, in, out, {}, next);
        position += frames;
        next.clear();
        pump();
        return ports[0];
    }
    /// Lets what is ending end.
    void settle() {
        for (int i = 0; i < 10; ++i)
            cycle();
    }
    int playing() { return engine->tree().counts().synths(); }
    /// The control of each synth in the root group, sorted.
    std::vector<float> values(const char* name) {
        std::vector<float> found;
        for (Node* node = engine->tree().root().head; node; node = node->next)
            if (!node->is_group) {
                auto& synth = static_cast<Synth&>(*node);
                found.push_back(control(synth, int(controls_named(synth, name).first)));
            }
        std::sort(found.begin(), found.end());
        return found;
    }
    std::vector<ControlEvent> next;
};

float hertz(int note) {
    return float(440 * std::exp2((note - 69) / 12.0));
}

} // namespace

TEST_CASE("a note sounds from its frame on, whatever the quantum") {
    for (const int quantum : {16, 64, 256, 441, 1000, 1024}) {
        CAPTURE(quantum);
        Keyboard k;
        std::vector<int> asked, heard;
        std::vector<float> sound;
        for (int i = 0; i < 40; ++i) {
            const int frame = (i * 37) % quantum;
            k.on(60, 0.5f, frame);
            asked.push_back(int(k.position) + frame);
            const std::vector<float> more = k.cycle(quantum);
            sound.insert(sound.end(), more.begin(), more.end());
        }
        for (int i = 0; i < 8; ++i) {
            const std::vector<float> rest = k.cycle(quantum);
            sound.insert(sound.end(), rest.begin(), rest.end());
        }
        for (size_t i = 0; i < sound.size(); ++i)
            if (sound[i] != 0)
                heard.push_back(int(i));
        const int delay = k.engine->input_delay();
        CHECK(delay == (quantum % 64 ? 64 - std::gcd(64, quantum) : 0));
        for (int& frame : asked)
            frame += delay;
        CHECK(heard == asked);
        CHECK(sound[size_t(asked[0])] == 0.5f);
    }
}

TEST_CASE("key up ends a note, by its gate or without one") {
    for (const bool gated : {true, false}) {
        CAPTURE(gated);
        Keyboard k({}, gated);
        k.on(60);
        k.on(64);
        k.cycle();
        CHECK(k.playing() == 2);
        CHECK(k.values("freq") == std::vector{hertz(60), hertz(64)});
        k.off(60);
        k.settle();
        CHECK(k.values("freq") == std::vector{hertz(64)});
        k.off(61);
        k.off(64, 0, 1);
        k.cycle();
        CHECK(k.playing() == 1);
    }
}

TEST_CASE("a key is heard on its port and channel, and in its range") {
    Keyboard k({.source = {1, 2}, .lowest = 60, .highest = 61});
    for (const int port : {0, 1})
        for (const int channel : {1, 2})
            for (const int note : {59, 60, 61, 62})
                k.next.push_back({Kind::note_on, uint8_t(port), uint8_t(channel), uint8_t(note), 0, 1.f});
    k.cycle();
    CHECK(k.values("freq") == std::vector{hertz(60), hertz(61)});
}

TEST_CASE("values of a synth: velocity's curve, tuning, bend, and what is asked for") {
    Keyboard k({.curve = 2, .bend_range = 12, .values = {{"bend", 7.f}, {"nothing", 1.f}}});
    k.on(69, 0.5f);
    k.cycle();
    CHECK(k.values("amp") == std::vector{0.25f});
    CHECK(k.values("bend") == std::vector{7.f});
    k.next.push_back({Kind::bend, 0, 0, 0, 0, 1.f});
    k.cycle();
    CHECK(k.values("freq") == std::vector{880.f});
    k.on(57);
    k.cycle();
    CHECK(k.values("freq") == std::vector{440.f, 880.f});
    k.next.push_back({Kind::bend, 0, 1, 0, 0, -1.f}); // another channel
    k.cycle();
    CHECK(k.values("freq") == std::vector{440.f, 880.f});

    Keyboard bends({.bend = "bend"});
    bends.on(69);
    bends.next.push_back({Kind::bend, 0, 0, 0, 0, 0.5f});
    bends.cycle();
    CHECK(bends.values("freq") == std::vector{440.f});
    CHECK(bends.values("bend") == std::vector{1.f});
}

TEST_CASE("in an MPE zone each channel has its bend, and the manager bends all") {
    Keyboard k({.zone = KeySettings::Zone::lower, .bend_range = 48});
    k.on(69, 1, 0, 1);
    k.on(69, 1, 0, 2);
    k.next.push_back({Kind::bend, 0, 1, 0, 0, 0.25f});
    k.cycle();
    CHECK(k.values("freq") == std::vector{440.f, 880.f});
    k.next.push_back({Kind::bend, 0, 0, 0, 0, -1.f});
    k.cycle();
    CHECK(k.values("freq") == std::vector{hertz(67), hertz(79)});
    k.controller(64, 1);
    k.off(69, 0, 1);
    k.settle();
    CHECK(k.playing() == 2);
}

TEST_CASE("all that a note says reaches the controls that are named") {
    SynthDef def = tone_def("all", false);
    def.controls.assign(6, 0.f);
    def.control_names = {{"freq", 0}, {"n", 1}, {"v", 2}, {"p", 3}, {"t", 4}, {"b", 5}};
    def.units[0].outputs.assign(6, Rate::control);
    Keyboard k;
    k.define(def);
    k.bind({.synthdef = "all", .amp = "", .note = "n", .velocity = "v", .bend = "b", .pressure = "p", .timbre = "t"});
    k.on(60, 0.25f);
    k.cycle();
    CHECK(k.values("n") == std::vector{60.f});
    CHECK(k.values("v") == std::vector{0.25f});
    const auto send = [&](Kind kind, int number, float value) {
        k.next.push_back({kind, 0, 0, uint8_t(number), 0, value});
        k.cycle();
    };
    send(Kind::pressure, 0, 0.5f);
    CHECK(k.values("p") == std::vector{0.5f});
    send(Kind::note_pressure, 61, 0.75f);
    CHECK(k.values("p") == std::vector{0.5f});
    send(Kind::note_pressure, 60, 0.75f);
    CHECK(k.values("p") == std::vector{0.75f});
    send(Kind::controller, 74, 0.125f);
    CHECK(k.values("t") == std::vector{0.125f});
    k.next.push_back({Kind::note_controller, 0, 0, 60, 0, 0.25f, {}, 74});
    k.next.push_back({Kind::note_controller, 0, 0, 61, 0, 0.75f, {}, 74});
    k.cycle();
    CHECK(k.values("t") == std::vector{0.25f});
    send(Kind::controller, 74, 0.125f);
    send(Kind::note_bend, 60, 0.5f);
    CHECK(k.values("b") == std::vector{24.f});
    send(Kind::note_bend, 60, 0);
    send(Kind::bend, 0, 1.f);
    CHECK(k.values("b") == std::vector{2.f});
    send(Kind::controller, 121, 0.f); // resets all but the timbre
    CHECK(k.values("p") == std::vector{0.f});
    CHECK(k.values("b") == std::vector{0.f});
    CHECK(k.values("t") == std::vector{0.125f});
    k.on(62);
    k.cycle();
    CHECK(k.values("t") == std::vector{0.125f, 0.125f});
}

TEST_CASE("MIDI 2.0 bends and tunes single notes, and says their timbre") {
    Keyboard k;
    const auto send = [&](Kind kind, int number, float value, uint8_t controller = 0) {
        k.next.push_back({kind, 0, 0, uint16_t(number), 0, value, {}, controller});
        k.cycle();
    };
    k.on(60);
    k.on(69);
    send(Kind::note_bend, 69, 0.25f);
    CHECK(k.values("freq") == std::vector{hertz(60), 880.f});
    send(Kind::bend, 0, -1); // of the channel: beside the note's own
    CHECK(k.values("freq") == std::vector{hertz(58), hertz(79)});
    send(Kind::bend, 0, 0);
    send(Kind::note_controller, 60, 57 / 128.f, 3); // pitch
    CHECK(k.values("freq") == std::vector{220.f, 880.f});
    send(Kind::note_controller, 60, 1, 200); // nothing that a synth has
    CHECK(k.values("freq") == std::vector{220.f, 880.f});
    k.on(60); // anew: bent no more
    k.cycle();
    CHECK(k.values("freq").back() == 880.f);
    CHECK(k.values("freq")[1] == hertz(60));
}

TEST_CASE("a reset takes back the pitch of what sounds, and lets go of pedals") {
    Keyboard k;
    k.on(69);
    k.next.push_back({Kind::bend, 0, 0, 0, 0, 1.f});
    k.cycle();
    CHECK(k.values("freq") == std::vector{hertz(71)});
    k.controller(64, 1);
    k.off(69);
    k.settle();
    CHECK(k.playing() == 1);
    k.controller(121, 0);
    k.cycle();
    CHECK(k.values("freq") == std::vector{440.f});
    k.settle();
    CHECK(k.playing() == 0);
}

TEST_CASE("a tuning buffer has the frequencies of notes; without it, or beyond its end, they are equal") {
    std::vector<float> tuning(70, 100.f);
    Keyboard k({.tuning = 3});
    k.on(60);
    k.cycle();
    CHECK(k.values("freq") == std::vector{hertz(60)});
    k.engine->buffers().install(3, {.data = tuning.data(), .frames = int32_t(tuning.size()), .channels = 1});
    k.on(62);
    k.on(70);
    k.next.push_back({Kind::bend, 0, 0, 0, 0, 0.f});
    k.cycle();
    CHECK(k.values("freq") == std::vector{100.f, 100.f, hertz(70)});
    k.engine->buffers().install(3, {});
}

TEST_CASE("a variant of a SynthDef has its own values") {
    SynthDef def = tone_def("bass");
    def.variants = {{"bass.low", {0.f, 0.f, 1.f, -12.f}}};
    Keyboard k;
    k.define(def);
    k.bind({.synthdef = "bass.low"});
    k.on(60);
    k.cycle();
    CHECK(k.values("bend") == std::vector{-12.f});
}

TEST_CASE("pedals hold what their turn says") {
    Keyboard k;
    k.on(60);
    k.controller(64, 1);
    k.off(60);
    k.on(62);
    k.off(62);
    k.settle();
    CHECK(k.playing() == 2);
    k.controller(64, 0);
    k.settle();
    CHECK(k.playing() == 0);
    k.on(60);
    k.controller(66, 1); // holds 60 alone
    k.on(62);
    k.off(60);
    k.off(62);
    k.settle();
    CHECK(k.values("freq") == std::vector{hertz(60)});
    k.controller(66, 0);
    k.settle();
    CHECK(k.playing() == 0);
}

TEST_CASE("all notes off obeys the pedal, all sound off doesn't") {
    Keyboard k;
    k.on(60);
    k.on(62);
    k.controller(64, 1);
    k.controller(123, 0);
    k.settle();
    CHECK(k.playing() == 2);
    k.controller(120, 0);
    k.settle();
    CHECK(k.playing() == 0);
}

TEST_CASE("with all voices sounding the oldest ends, or the newest, first those whose keys are up") {
    for (const auto steal : {KeySettings::Steal::oldest, KeySettings::Steal::newest}) {
        CAPTURE(int(steal));
        Keyboard k({.voices = 3, .steal = steal});
        for (const int note : {60, 62, 64, 66})
            k.on(note);
        k.settle();
        CHECK(k.values("freq") == (steal == KeySettings::Steal::oldest ? std::vector{hertz(62), hertz(64), hertz(66)}
                                                                       : std::vector{hertz(60), hertz(62), hertz(66)}));
        k.controller(64, 1);
        k.off(66);
        k.on(70);
        k.settle();
        CHECK(k.values("freq").back() == hertz(70));
        CHECK(k.playing() == 3);
        const auto values = k.values("freq");
        CHECK(std::count(values.begin(), values.end(), hertz(66)) == 0);
    }
}

TEST_CASE("a key pressed again takes the place of its own note") {
    Keyboard k;
    k.on(60);
    k.cycle();
    k.on(60, 0.25f);
    k.settle();
    CHECK(k.values("amp") == std::vector{0.25f});
}

TEST_CASE("one voice: the last key that is down sounds") {
    for (const Mode mode : {Mode::mono, Mode::legato}) {
        CAPTURE(int(mode));
        Keyboard k({.mode = mode});
        const auto settle = [&] {
            k.settle();
            return k.values("freq");
        };
        k.on(60);
        k.settle();
        const int32_t first = k.engine->tree().root().head->id;
        k.on(64);
        CHECK(settle() == std::vector{hertz(64)});
        CHECK((k.engine->tree().root().head->id == first) == (mode == Mode::legato));
        k.on(67);
        k.off(64);
        CHECK(settle() == std::vector{hertz(67)});
        k.off(67);
        CHECK(settle() == std::vector{hertz(60)});
        k.off(60);
        CHECK(settle().empty());
    }
}

TEST_CASE("all notes off on one channel leaves the keys of others") {
    Keyboard k({.mode = Mode::legato});
    k.on(60);
    k.on(64, 1, 0, 1);
    k.controller(123, 0, 2);
    k.off(64, 0, 1);
    k.settle();
    CHECK(k.values("freq") == std::vector{hertz(60)});
}

TEST_CASE("all notes off on the channel that sounds goes back to a key of another one") {
    for (const Mode mode : {Mode::legato, Mode::mono}) {
        Keyboard k({.mode = mode});
        k.on(60);
        k.on(64, 1, 0, 1);
        k.controller(123, 0, 1);
        k.settle();
        CHECK(k.values("freq") == std::vector{hertz(60)});
        k.controller(123, 0, 0);
        k.settle();
        CHECK(k.playing() == 0);
    }
}

TEST_CASE("what ends a note by itself, or frees it, leaves its voice to others") {
    Keyboard k({.voices = 2});
    k.on(60);
    k.on(62);
    k.cycle();
    k.engine->tree().free(*k.engine->tree().root().head);
    k.on(64);
    k.settle();
    CHECK(k.playing() == 2);
    k.off(60);
    k.off(62);
    k.off(64);
    k.settle();
    CHECK(k.playing() == 0);
}

TEST_CASE("a binding that is taken away, or replaced, ends its notes") {
    Keyboard k;
    k.on(60);
    k.cycle();
    CHECK(k.engine->bindings().take(2) == nullptr);
    CHECK(k.engine->bindings().take(1) != nullptr);
    k.settle();
    CHECK(k.playing() == 0);
    k.on(60);
    k.cycle();
    CHECK(k.playing() == 0);
    k.bind({.synthdef = "tone"});
    k.on(60);
    k.cycle();
    k.bind({.lowest = 100, .synthdef = "tone"});
    k.on(60);
    k.settle();
    CHECK(k.playing() == 0);
}

TEST_CASE("keys that make no synth say so once") {
    Keyboard k;
    k.bind({.synthdef = "missing"}, 2);
    k.bind({.synthdef = "tone", .target = 77}, 3);
    for (int i = 0; i < 3; ++i) {
        k.on(60);
        k.cycle();
    }
    CHECK(k.printed == "binding 2: SynthDef missing not found\nbinding 3: node 77 not found\n");
}

TEST_CASE("a controller sets a bus or a control") {
    Keyboard k;
    const auto bind = [&](int32_t id, ControllerSettings s) {
        std::unique_ptr<Binding> made = std::make_unique<ControllerBinding>(id, std::move(s));
        REQUIRE(k.engine->bindings().put(made));
    };
    bind(2, {.number = 7, .bus = 5, .low = 100, .high = 200});
    bind(3, {.number = 8, .node = 1000, .control = "freq", .low = 20, .high = 20480, .exponential = true});
    bind(4, {.kind = Kind::bend, .bus = 6, .low = -1, .high = 1});
    bind(5, {.number = 9, .node = 1000, .index = 1});
    bind(6, {.kind = Kind::program, .bus = 7, .low = 0, .high = 127});
    bind(7, {.number = 10, .node = 1000, .control = "nothing"});
    k.play(*k.engine->definitions().find("tone"), 1000);
    k.controller(7, 0.5f);
    k.controller(8, 0.5f);
    k.controller(9, 0.75f);
    k.controller(10, 1.f);
    k.next.push_back({Kind::bend, 0, 0, 0, 0, -0.5f});
    k.next.push_back({Kind::program, 0, 0, 42, 0, 0});
    k.cycle();
    CHECK(k.engine->buses().control()[7] == 42.f);
    CHECK(k.engine->buses().control()[5] == 150.f);
    CHECK(k.engine->buses().control()[6] == -0.5f);
    CHECK(k.values("freq") == std::vector{640.f});
    CHECK(k.values("amp") == std::vector{0.75f});
}

TEST_CASE("a controller of 14 bits has all of them") {
    Keyboard k;
    const auto bind = [&](int32_t id, FineController::Kind kind, int number) {
        std::unique_ptr<Binding> made = std::make_unique<ControllerBinding>(
            id, ControllerSettings{.fine = FineController(kind, number), .bus = id, .high = 16383});
        REQUIRE(k.engine->bindings().put(made));
    };
    bind(2, FineController::Kind::pair, 7);
    bind(3, FineController::Kind::nrpn, 300); // 2, 44
    bind(4, FineController::Kind::rpn, 2);
    const auto send = [&](std::initializer_list<std::pair<int, int>> controllers, int channel = 0) {
        for (const auto& [number, value] : controllers)
            k.controller(number, float(value) / 127.f, channel);
        k.cycle();
        const float* const bus = k.engine->buses().control();
        return std::vector<float>{bus[2], bus[3], bus[4]};
    };
    CHECK(send({{7, 100}}) == std::vector<float>{12800, 0, 0});
    CHECK(send({{39, 5}}) == std::vector<float>{12805, 0, 0});
    CHECK(send({{7, 1}}) == std::vector<float>{128, 0, 0});          // the low half begins anew
    CHECK(send({{6, 9}, {38, 9}}) == std::vector<float>{128, 0, 0}); // for no parameter
    CHECK(send({{99, 2}, {98, 44}, {6, 127}}) == std::vector<float>{128, 16256, 0});
    CHECK(send({{38, 127}}) == std::vector<float>{128, 16383, 0});
    CHECK(send({{6, 3}}, 5) == std::vector<float>{128, 16383, 0}); // another channel
    CHECK(send({{101, 0}, {100, 2}, {6, 1}, {38, 1}}) == std::vector<float>{128, 16383, 129});
    CHECK(send({{6, 2}, {98, 44}, {6, 5}}) == std::vector<float>{128, 16383, 256}); // nrpn's high half is unknown
    CHECK(send({{99, 2}, {6, 5}}) == std::vector<float>{128, 640, 256});
    CHECK(send({{98, 43}, {6, 6}}) == std::vector<float>{128, 640, 256});
    CHECK(send({{101, 127}, {100, 127}, {6, 7}}) == std::vector<float>{128, 640, 256});
    k.next.push_back({Kind::parameter, 0, 0, 2, 0, 1}); // of MIDI 2.0
    k.next.push_back({Kind::parameter, 0, 0, 3, 0, 0.5f});
    k.next.push_back({Kind::own_parameter, 0, 0, 300, 0, 0.5f});
    CHECK(send({}) == std::vector<float>{128, 8191.5f, 16383});
}

TEST_CASE("more events than there is room for are counted, and the others come in their order") {
    Keyboard k({.voices = 128});
    for (size_t i = 0; i < EventQueue::most + 100; ++i)
        k.on(int(i % 128), 1, int(63 - i % 64)); // frames that go back count as the one in front
    k.cycle();
    CHECK(k.engine->status().refused_control == 100);
    CHECK(k.playing() >= 128);
}

TEST_CASE("ten thousand notes sound as those of a score, sample by sample") {
    constexpr int notes = 10'000, apart = 97, length = 2900, quantum = 256;
    Keyboard k, score;
    (void)score.engine->bindings().take(1);
    Definition& tone = *score.engine->definitions().find("tone");
    const auto number = [](int note) { return uint8_t(note * 7 % 128); };
    const auto velocity = [](int note) { return float(note % 127 + 1) / 127.f; };
    const auto bundle = [&](int64_t frame, std::function<void(Engine&)> f) {
        // A bundle for the first frame of a block is run in the block before, as in scsynth; one for a little later
        // isn't.
        constexpr auto quarter = NtpTime(0x1p32 / 48000 / 4);
        REQUIRE(score.engine->submit(bundle_of(std::move(f), ntp_advance(score.start, frame, 48000) + quarter)));
    };
    int on = 0, off = 0;
    bool equal = true;
    for (int64_t begin = 0; off < notes; begin += quantum) {
        for (int64_t frame = begin; frame < begin + quantum; ++frame) {
            if (off < on && frame == int64_t(off) * apart + length) {
                k.off(number(off), int(frame - begin), off % 16);
                bundle(frame, [&, id = 1000 + off](Engine& engine) {
                    set_named(engine.tree(), *engine.tree().find_synth(id), "gate", 0, 0.f);
                });
                ++off;
            }
            if (on < notes && frame == int64_t(on) * apart) {
                k.on(number(on), velocity(on), int(frame - begin), on % 16);
                bundle(frame, [&, id = 1000 + on, freq = hertz(number(on)), amp = velocity(on)](Engine& engine) {
                    Synth* made = nullptr;
                    REQUIRE(engine.tree().new_synth(tone, nullptr, id, AddAction::head, 0, made).ok());
                    set_named(engine.tree(), *made, "freq", 0, freq);
                    set_named(engine.tree(), *made, "amp", 0, amp);
                });
                ++on;
            }
        }
        equal &= k.cycle(quantum) == score.cycle(quantum);
        equal &= k.playing() == score.playing();
    }
    CHECK(equal);
    CHECK(k.engine->status().refused_control == 0);
}
