// SPDX-License-Identifier: GPL-3.0-or-later
#include "test-support.hpp"

#include "engine/plugins/plugin-world.hpp"
#include "engine/tree/controls.hpp"
#include "engine/voices/batch.hpp"
#include "engine/voices/voice.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace scs;
using namespace scs::test;

namespace {

/// A sawtooth with an envelope on bus `out`, freed at the envelope's end. Controls: freq, amp, gate.
SynthDef saw_def(const char* name = "saw") {
    SynthDef def;
    def.name = name;
    def.constants = {0.f, 0.3f, 0.01f, 1.f, 2.f};
    def.controls = {440.f, 0.125f, 1.f, 0.f};
    def.control_names = {{"freq", 0}, {"amp", 1}, {"gate", 2}, {"out", 3}};
    def.units = {
        unit("Control", Rate::control, {}, {Rate::control, Rate::control, Rate::control, Rate::control}),
        unit("VarSaw", Rate::audio, {{0, 0}, {-1, 0}, {-1, 1}}, {Rate::audio}),
        unit("BinaryOpUGen", Rate::audio, {{1, 0}, {0, 1}}, {Rate::audio}, 2),
        unit("Linen", Rate::control, {{0, 2}, {-1, 2}, {-1, 3}, {-1, 2}, {-1, 4}}, {Rate::control}),
        unit("BinaryOpUGen", Rate::audio, {{2, 0}, {3, 0}}, {Rate::audio}, 2),
        unit("Out", Rate::audio, {{0, 3}, {4, 0}}, {}),
    };
    return def;
}

/// The same with noise, which draws a random number each frame.
SynthDef hiss_def(const char* name = "hiss") {
    SynthDef def = saw_def(name);
    def.units[1] = unit("WhiteNoise", Rate::audio, {}, {Rate::audio});
    return def;
}

Settings native(bool batching = true) {
    Settings settings;
    settings.native_ugens = true;
    settings.batching = batching;
    settings.simd = "sse2"; // four lanes on every x86-64
    return settings;
}

struct Voices : Fixture {
    explicit Voices(Settings settings = native()) : Fixture(settings) { def = define(saw_def()); }

    Synth& synth(int32_t id, AddAction action = AddAction::tail, int32_t target = 0, Definition* of = nullptr) {
        Synth* made = nullptr;
        REQUIRE(engine->tree().new_synth(of ? *of : *def, nullptr, id, action, target, made).ok());
        engine->tree().controls().set(*made, 0, 100.f + float(id));
        return *made;
    }
    void blocks(int count) { render(count * 64); }
    Synth* find(int32_t id) { return engine->tree().find_synth(id); }
    /// IDs in tree order, batches in brackets.
    std::string shape() {
        std::string text;
        const Batch* open = nullptr;
        for (const Node* n = engine->tree().root().head; n; n = n->next) {
            const Batch* batch = n->is_group ? nullptr : static_cast<const Synth*>(n)->voice->batch;
            if (open && batch != open)
                text += "]";
            text += text.empty() ? "" : " ";
            if (batch && batch != open)
                text += "[";
            open = batch;
            text += std::to_string(n->id);
        }
        return text + (open ? "]" : "");
    }

    Definition* def;
};

} // namespace

TEST_CASE("three neighbours become a batch, more join it at either end, full ones stay") {
    Voices f;
    f.synth(1);
    f.synth(2);
    f.blocks(2);
    CHECK(f.shape() == "1 2");
    f.synth(3);
    f.blocks(2);
    CHECK(f.shape() == "[1 2 3]");
    f.synth(4, AddAction::head);
    f.blocks(2);
    CHECK(f.shape() == "[4 1 2 3]");
    for (int id = 5; id < 8; ++id)
        f.synth(id);
    f.blocks(3);
    CHECK(f.shape() == "[4 1 2 3] [5 6 7]");
    for (int id = 8; id < 12; ++id)
        f.synth(id, AddAction::head);
    f.blocks(3);
    CHECK(f.shape() == "[11 10 9 8] [4 1 2 3] [5 6 7]");
}

TEST_CASE("who ends, pauses, moves or is traced leaves; who is left finds each other again") {
    Voices f;
    Tree& tree = f.engine->tree();
    for (int id = 1; id <= 4; ++id)
        f.synth(id);
    f.blocks(2);
    REQUIRE(f.shape() == "[1 2 3 4]");

    tree.free(*f.find(2));
    f.blocks(1);
    CHECK(f.shape() == "[1 3 4]");

    tree.runs().set_run(*f.find(3), false);
    f.blocks(1);
    CHECK(f.shape() == "[1] 3 4");
    tree.runs().set_run(*f.find(3), true);
    f.blocks(2);
    CHECK(f.shape() == "[1 3 4]");

    f.synth(5);
    f.blocks(2);
    REQUIRE(move_now(tree, *f.find(1), AddAction::after, *f.find(4)).ok());
    f.blocks(2);
    CHECK(f.shape() == "[3 4 1 5]");

    Node* at = nullptr;
    REQUIRE(tree.trace(*f.find(4), at));
    f.printed.clear();
    f.blocks(1);
    CHECK(f.printed.find("TRACE 4  saw    #units: 6") != std::string::npos);
    CHECK(f.printed.find("  unit 1 VarSaw    in  104 0 0.3") != std::string::npos);
    f.blocks(2);
    CHECK(f.shape() == "[3 4 1 5]");

    set_named(tree, *f.find(4), "gate", 0, 0.f);
    f.blocks(30);
    CHECK(f.shape() == "[3 1 5]");
    tree.freeing().free_all_in_time(tree.root());
    CHECK(f.shape() == "");
    CHECK(tree.counts().synths() == 0);
}

TEST_CASE("what comes between parts a batch, and half-empty ones become one") {
    Voices f;
    Tree& tree = f.engine->tree();
    for (int id = 1; id <= 4; ++id)
        f.synth(id);
    f.blocks(2);
    Group* group = nullptr;
    REQUIRE(tree.new_group(9, AddAction::after, 2, group).ok());
    CHECK(f.shape() == "[1 2] 9 3 4");
    f.blocks(2);
    CHECK(f.shape() == "[1 2] 9 3 4");
    f.synth(5);
    f.blocks(2);
    CHECK(f.shape() == "[1 2] 9 [3 4 5]");
    tree.free(*group);
    tree.free(*f.find(4));
    f.blocks(2);
    CHECK(f.shape() == "[1 2 3 5]");
    // Equal SynthDefs of different names don't share a batch.
    Definition* other = f.define(saw_def("other"));
    for (int id = 20; id < 23; ++id)
        f.synth(id, AddAction::tail, 0, other);
    f.blocks(3);
    CHECK(f.shape() == "[1 2 3 5] [20 21 22]");
}

TEST_CASE("voices of several SynthDefs that take turns are batches, while what is between them only adds to buses") {
    Voices f;
    Tree& tree = f.engine->tree();
    SynthDef reading = saw_def("reading");
    reading.units[1] = unit("In", Rate::audio, {{-1, 0}}, {Rate::audio});
    Definition* other = f.define(saw_def("other"));
    Definition* reader = f.define(reading);
    REQUIRE((f.def->code->commutes && other->code->commutes && !reader->code->commutes));
    const auto batch = [&](int32_t id) { return f.find(id)->voice->batch; };
    for (int id = 1; id <= 8; ++id)
        f.synth(id, AddAction::tail, 0, id % 2 ? f.def : other);
    f.blocks(40);
    for (int id = 1; id <= 6; ++id)
        CHECK((batch(id) && batch(id) == batch(id + 2)));
    CHECK(batch(1) != batch(2));

    // No node is between them any more.
    for (int id = 2; id <= 8; id += 2)
        tree.free(*f.find(id));
    f.synth(9, AddAction::head);
    f.blocks(40);
    CHECK_FALSE(batch(1)->interleaved);
    tree.free(*f.find(9));

    // A synth that reads buses splits them.
    for (int id = 12; id <= 18; id += 2)
        f.synth(id, AddAction::after, id - 11, other);
    f.blocks(40);
    CHECK((batch(1) && batch(1)->interleaved && batch(1) == batch(7)));
    f.synth(20, AddAction::after, 14, reader);
    f.blocks(2);
    CHECK(batch(1) != batch(7));
    CHECK(batch(1) == batch(3));
    tree.free(*f.find(20));
    f.blocks(40);
    CHECK((batch(1) && batch(1) == batch(7)));
    map_named(tree, *f.find(14), "amp", 0, 0, true);
    f.blocks(2);
    CHECK(batch(1) != batch(7));
    // They are freed while others are between them.
    for (const int id : {1, 3, 5, 7})
        set_named(tree, *f.find(id), "gate", 0, 0.f);
    f.blocks(40);
    CHECK(tree.counts().synths() == 4);
}

TEST_CASE("what draws random numbers lets others pass, and is a batch while nobody between its voices draws") {
    const auto play = [](bool batching) {
        Voices f(native(batching));
        *f.engine->world().random() = {1234, 5678, 9012};
        Tree& tree = f.engine->tree();
        SynthDef starting = saw_def("starting"); // draws when it starts
        starting.units[1] = unit("Rand", Rate::scalar, {{-1, 0}, {-1, 3}}, {Rate::scalar});
        starting.units.insert(starting.units.begin() + 2,
                              unit("VarSaw", Rate::audio, {{0, 0}, {1, 0}, {-1, 1}}, {Rate::audio}));
        starting.units[3].inputs[0] = {2, 0};
        starting.units[5].inputs = {{3, 0}, {4, 0}};
        starting.units[6].inputs[1] = {5, 0};
        Definition *hiss = f.define(hiss_def()), *other = f.define(hiss_def("other")), *start = f.define(starting);
        REQUIRE((hiss->code->draws && hiss->code->commutes && !f.def->code->draws && !start->code->draws));
        const auto batch = [&](int32_t id) { return f.find(id)->voice->batch; };
        const auto together = [&](int32_t one, int32_t two) {
            if (batching)
                CHECK((batch(one) && batch(one) == batch(two)));
        };
        const auto apart = [&](int32_t one, int32_t two) { CHECK((!batch(one) || batch(one) != batch(two))); };
        std::vector<float> all;
        const auto go = [&](int blocks) {
            const auto part = f.render(blocks * 64);
            all.insert(all.end(), part.begin(), part.end());
        };
        const auto add = [&](int32_t id, int32_t behind, Definition* of) { f.synth(id, AddAction::after, behind, of); };

        for (int id = 1; id <= 8; ++id)
            f.synth(id, AddAction::tail, 0, id % 2 ? hiss : f.def);
        go(40);
        together(1, 3);
        together(3, 7);
        together(2, 8);

        // Voices between them that draw: of another kind, of their own, or only when they start.
        add(10, 4, other);
        go(3);
        together(2, 8);
        apart(1, 7);
        go(40);
        apart(1, 7);
        tree.free(*f.find(10));
        go(40);
        add(11, 5, start);
        go(1);
        apart(1, 7);
        go(40);
        together(1, 7);
        add(12, 2, hiss);
        go(1);
        apart(1, 7);
        go(60);

        // Voices that are paused and resumed, traced, or moved.
        tree.runs().set_run(*f.find(3), false);
        go(40);
        tree.runs().set_run(*f.find(3), true);
        go(2);
        apart(1, 7);
        go(40);
        Node* at = nullptr;
        REQUIRE(tree.trace(*f.find(3), at));
        go(40);
        REQUIRE(move_now(tree, *f.find(7), AddAction::head, tree.root()).ok());
        go(40);
        tree.free(*f.find(1));
        f.synth(13, AddAction::head, 0, hiss);
        go(40);
        set_named(tree, *f.find(5), "gate", 0, 0.f);
        go(40);
        CHECK(tree.counts().synths() == 9);
        return all;
    };
    const auto alone = play(false), side_by_side = play(true);
    REQUIRE(alone.size() == side_by_side.size());
    CHECK(std::memcmp(alone.data(), side_by_side.data(), alone.size() * sizeof(float)) == 0);
    CHECK(alone != std::vector<float>(alone.size()));
}

TEST_CASE("the voices of a chord sound as each alone, wherever they are added and whatever ends or pauses at once") {
    const auto play = [](bool batching, int notes, AddAction action, int before) {
        Voices f(native(batching));
        Tree& tree = f.engine->tree();
        *f.engine->world().random() = {1234, 5678, 9012};
        Definition* const starts_by_chance = [&] {
            SynthDef def = saw_def("chance"); // VarSaw's frequency is drawn when it starts
            def.units.insert(def.units.begin() + 1, unit("Rand", Rate::scalar, {{0, 0}, {-1, 3}}, {Rate::scalar}));
            for (auto& each : def.units)
                for (auto& input : each.inputs)
                    input.unit += input.unit >= 1;
            def.units[2].inputs[0] = {1, 0};
            return f.define(def);
        }();
        const auto add = [&](int id) { return &f.synth(id, action, 0, id % 16 < 12 ? starts_by_chance : f.def); };
        for (int id = 1; id <= before; ++id)
            (void)add(id);
        f.blocks(2);
        std::vector<float> all;
        const auto go = [&](int blocks) {
            const auto part = f.render(blocks * 64);
            all.insert(all.end(), part.begin(), part.end());
        };
        for (int chord = 1; chord <= 4; ++chord) {
            for (int id = 16 * chord; id < 16 * chord + notes; ++id)
                (void)add(id);
            if (chord == 2)
                set_named(tree, *f.find(16 * chord + notes / 2), "gate", 0, 0.f);
            if (chord == 3)
                tree.runs().set_run(*f.find(16 * chord + notes / 2), false);
            if (chord == 4)
                map_named(tree, *f.find(16 * chord + notes / 2), "amp", 0, 0, true);
            go(3);
        }
        return all;
    };
    for (int notes = 1; notes <= 11; ++notes)
        for (const auto action : {AddAction::head, AddAction::tail})
            for (const int before : {0, 1, 2, 3, 5}) {
                CAPTURE(notes);
                CAPTURE(before);
                const auto alone = play(false, notes, action, before), together = play(true, notes, action, before);
                REQUIRE(alone.size() == together.size());
                CHECK(std::memcmp(alone.data(), together.data(), alone.size() * sizeof(float)) == 0);
                CHECK(alone != std::vector<float>(alone.size()));
            }
}

TEST_CASE("voices of a chord keep the rates at which they came") {
    const auto play = [](bool batching) {
        Voices f(native(batching));
        f.blocks(1);
        for (int id = 1; id <= 8; ++id) {
            (void)f.engine->run_idle(id <= 6 ? 48000 : 24000);
            (void)f.synth(id);
        }
        return f.render(64 * 4);
    };
    CHECK(play(true) == play(false));
}

TEST_CASE("controls are set and mapped in a batch as alone") {
    const auto play = [](bool batching) {
        Voices f(native(batching));
        Tree& tree = f.engine->tree();
        for (int id = 1; id <= 4; ++id)
            f.synth(id);
        f.blocks(3);
        CHECK((f.find(2)->voice->batch != nullptr) == batching);
        std::vector<float> all;
        const auto go = [&](int blocks) {
            const auto part = f.render(blocks * 64);
            all.insert(all.end(), part.begin(), part.end());
        };
        go(1);
        set_named(tree, *f.find(2), "freq", 0, 333.f);
        go(2);
        REQUIRE(f.engine->buses().set_control(5, 777.f, 0).ok());
        map_named(tree, *f.find(2), "freq", 0, 5, false);
        go(2);
        CHECK(control(*f.find(2), 0) == 333.f);
        int bus = -1;
        CHECK(mapping(*f.find(2), 0, bus) == Mapping::control);
        CHECK(bus == 5);
        REQUIRE(f.engine->buses().set_control(5, 555.f, 0).ok());
        go(2);
        map_named(tree, *f.find(2), "freq", 0, -1, false);
        go(2);
        map_named(tree, *f.find(3), "amp", 0, 0, true); // mapped to the output of those before it
        go(3);
        CHECK(mapping(*f.find(3), 1, bus) == Mapping::audio);
        CHECK(bus == 0);
        set_named(tree, *f.find(3), "amp", 0, 0.25f);
        go(3);
        set_named(tree, *f.find(4), "out", 0, -1.f);
        go(2);
        return all;
    };
    const auto alone = play(false), together = play(true);
    REQUIRE(alone.size() == together.size());
    CHECK(std::memcmp(alone.data(), together.data(), alone.size() * sizeof(float)) == 0);
    CHECK(alone != std::vector<float>(alone.size()));
}

TEST_CASE("synths keep their rate, however often the engine's changes") {
    struct Kind {
        std::string name;
        bool native, batching, mixed;
    };
    for (const Kind& kind : {Kind{"lone", true, false, false},
                             {"in a batch", true, true, false},
                             {"of plugins' units", false, false, false},
                             {"of both", true, true, true}}) {
        CAPTURE(kind.name);
        const auto play = [&](bool changes) {
            Settings settings = native(kind.batching);
            settings.native_ugens = kind.native;
            Voices f(settings);
            SynthDef def = saw_def("played");
            if (kind.mixed) { // a plugin's unit, which reads its rate in each block
                def.constants.insert(def.constants.end(), {300.f, 1.9f});
                def.units.push_back(unit("CuspN", Rate::audio, {{-1, 5}, {-1, 3}, {-1, 6}, {-1, 0}}, {Rate::audio}));
                def.units.push_back(unit("Out", Rate::audio, {{0, 3}, {6, 0}}, {}));
            }
            Definition* played = f.define(def);
            CHECK((played->code != nullptr) == (kind.native && !kind.mixed));
            CHECK(played->kernels.empty() == (played->code != nullptr));
            for (int id = 1; id <= 4; ++id)
                f.synth(id, AddAction::tail, 0, played);
            f.blocks(3);
            for (int i = 0; i < 40; ++i) {
                float part[2][64], *out[] = {part[0], part[1]};
                const float* in[] = {nullptr, nullptr};
                f.engine->process(64, ntp_advance(f.start, f.position += 64, 48000),
                                  changes ? 20000. + 1000. * i : 48000., in, out);
            }
            return f.render(1024);
        };
        const auto steady = play(false), changed = play(true);
        CHECK(steady != std::vector<float>(steady.size()));
        CHECK(steady == changed);
    }
}

TEST_CASE("inputs too many and outputs too few harm nobody") {
    for (const bool batching : {false, true}) {
        Voices f(native(batching));
        SynthDef def;
        def.name = "odd";
        def.constants = {0.f, 5.f, 7.f};
        def.controls = {0.f, 0.5f, 0.f, 0.25f};
        def.units = {
            unit("Control", Rate::control, {}, {Rate::control, Rate::control, Rate::control, Rate::control}),
            unit("VarSaw", Rate::audio, {{-1, 1}, {-1, 0}, {-1, 0}}, {Rate::audio}),
            // Its output would lie where the next unit reads its bus number.
            unit("PauseSelf", Rate::control, {{0, 2}}, {}),
            unit("ReplaceOut", Rate::control, {{-1, 1}, {0, 3}}, {}),
            unit("FreeSelf", Rate::control, {{0, 2}}, {}),
            unit("ReplaceOut", Rate::control, {{-1, 2}, {0, 1}}, {}),
            // An audio-rate second input doesn't make it an audio unit, whose first input would then be too short.
            unit("Delay1", Rate::control, {{0, 1}, {1, 0}}, {Rate::control}),
            unit("ReplaceOut", Rate::control, {{0, 0}, {6, 0}}, {}),
            unit("Delay2", Rate::control, {{0, 3}, {1, 0}, {1, 0}}, {Rate::control}), // since 3.14 none is too many
            unit("ReplaceOut", Rate::control, {{-1, 0}, {8, 0}}, {}),
        };
        Definition* odd = f.define(def);
        REQUIRE(odd->code);
        for (int id = 1; id <= 4; ++id)
            f.engine->tree().controls().set(f.synth(id, AddAction::tail, 0, odd), 0, 10.f + float(id));
        f.blocks(5);
        CHECK((f.find(2)->voice->batch != nullptr) == batching);
        const float* buses = f.engine->buses().control();
        CHECK(buses[0] == 0.25f);
        CHECK(buses[5] == 0.25f);
        CHECK(buses[7] == 0.5f);
        for (int id = 1; id <= 4; ++id)
            CHECK(buses[10 + id] == 0.5f);
    }
}

TEST_CASE("without memory for a batch voices stay alone, and sound") {
    Settings settings = native();
    settings.rt_memory_kib = 64;
    settings.max_nodes = 1024;
    Voices f(settings);
    Synth* made = nullptr;
    int32_t id = 1;
    while (f.engine->tree().new_synth(*f.def, nullptr, id, AddAction::tail, 0, made).ok())
        ++id;
    REQUIRE(id > 20);
    f.blocks(3);
    int lone = 0;
    for (const Node* n = f.engine->tree().root().head; n; n = n->next)
        lone += static_cast<const Synth*>(n)->voice->batch == nullptr;
    CHECK(lone > 0);
    const auto sound = f.render(64);
    CHECK(sound != std::vector<float>(64));
    f.engine->tree().freeing().free_all_in_time(f.engine->tree().root());
    REQUIRE(f.engine->tree().new_synth(*f.def, nullptr, 1, AddAction::tail, 0, made).ok());
}

TEST_CASE("a voice leaves its batch, and sounds as before, when there is no memory for its record") {
    const auto play = [](bool batching, int& fillers) {
        Settings settings = native(batching);
        settings.rt_memory_kib = batching ? 128 : 1024;
        Voices f(settings);
        Tree& tree = f.engine->tree();
        Synth* made = nullptr;
        const auto fill = [&](int id) {
            if (tree.new_synth(*f.def, nullptr, id, AddAction::head, 0, made).failed())
                return false;
            set_named(tree, *made, "out", 0, 9.f);
            tree.runs().set_run(*made, false);
            return true;
        };
        const auto room = [&] {
            int count = 0;
            for (; fill(1000 + count); ++count) {
            }
            tree.freeing().free_all_in_time(tree.root());
            return count;
        };
        const int room_at_start = batching ? room() : 0;
        for (int id = 1; id <= 8; ++id)
            f.synth(id);
        f.blocks(3);
        CHECK((f.find(2)->voice->batch != nullptr) == batching);
        if (batching)
            for (fillers = 0; fill(100 + fillers); ++fillers) {
            }
        else
            for (int i = 0; i < fillers; ++i)
                REQUIRE(fill(100 + i));
        auto all = f.render(128);
        const auto go = [&](int blocks) {
            const auto part = f.render(blocks * 64);
            all.insert(all.end(), part.begin(), part.end());
        };
        tree.runs().set_run(*f.find(2), false); // its batch is retired
        go(1);
        CHECK(f.find(1)->voice->batch == nullptr);
        CHECK((f.find(1)->voice->retired != nullptr) == batching);
        set_named(tree, *f.find(1), "freq", 0, 321.f);
        go(2);
        tree.runs().set_run(*f.find(2), true);
        tree.free(*f.find(3));
        for (const int id : {6, 7})
            set_named(tree, *f.find(id), "gate", 0, 0.f);
        go(20);
        for (int i = 0; i < fillers; ++i)
            tree.free(*f.find(100 + i));
        go(20);
        CHECK((f.find(1)->voice->batch != nullptr) == batching);
        CHECK(f.find(1)->voice->retired == nullptr);
        for (const int id : {1, 2, 4, 5, 8})
            tree.free(*f.find(id));
        go(2);
        if (batching)
            CHECK(room() == room_at_start);
        return all;
    };
    int fillers = 0;
    const auto together = play(true, fillers), alone = play(false, fillers);
    CHECK(fillers > 100);
    REQUIRE(alone.size() == together.size());
    CHECK(std::memcmp(alone.data(), together.data(), alone.size() * sizeof(float)) == 0);
}

TEST_CASE("whatever happens to the tree, the bits are those of voices alone") {
    struct Player : Voices {
        explicit Player(bool batching, unsigned seed) : Voices(native(batching)), random(seed), mix(seed % 2 ? 8 : 2) {
            defs[0] = seed % 3 ? def : define(hiss_def());
            defs[1] = define(seed % 3 == 1 ? hiss_def("other") : saw_def("other"));
            *engine->world().random() = {1234, 5678, 9012};
        }
        int pick(int count) { return int(random() % unsigned(count)); }
        Synth* any() {
            std::vector<Synth*> all;
            for (int id = 1; id < next; ++id)
                if (Synth* s = find(id))
                    all.push_back(s);
            return all.empty() ? nullptr : all[size_t(pick(int(all.size())))];
        }
        void act() {
            Tree& tree = engine->tree();
            Synth* one = any();
            Synth* other = any();
            const int what = pick(12);
            if (what < 5 || !one) {
                Synth* made;
                const auto action = AddAction(one ? pick(5) : 0);
                const bool beside = action >= AddAction::before;
                REQUIRE(
                    tree.new_synth(*defs[pick(mix) == 0], nullptr, next++, action, beside ? one->id : 0, made).ok());
                tree.controls().set(*made, 0, 50.f + float(pick(900)));
                set_named(tree, *made, "out", 0, float(pick(3) / 2));
                return;
            }
            switch (what) {
            case 5: set_named(tree, *one, "gate", 0, 0.f); break;
            case 6: tree.free(*one); break;
            case 7: tree.runs().set_run(*one, pick(2)); break;
            case 8: tree.runs().set_run(*one, true); break;
            case 9: set_named(tree, *one, "amp", 0, float(pick(9)) / 16.f); break;
            case 10: map_named(tree, *one, "freq", 0, pick(3) - 1, pick(4) == 0); break;
            default:
                if (one != other)
                    REQUIRE(move_now(tree, *one, pick(2) ? AddAction::before : AddAction::after, *other).ok());
            }
        }
        std::vector<float> play() {
            std::vector<float> all;
            for (int i = 0; i < 400; ++i) {
                for (int n = pick(4); n > 0; --n)
                    act();
                if (engine->tree().counts().synths() > 60)
                    engine->tree().free(*any());
                const auto part = render(64);
                all.insert(all.end(), part.begin(), part.end());
                for (const Node* n = engine->tree().root().head; n; n = n->next)
                    batched += static_cast<const Synth*>(n)->voice->batch != nullptr;
            }
            return all;
        }
        std::mt19937 random;
        Definition* defs[2];
        int next = 1, batched = 0;
        int mix; ///< one in `mix` voices is of the other SynthDef
    };
    for (unsigned seed = 1; seed <= 48; ++seed) {
        CAPTURE(seed);
        Player alone(false, seed), together(true, seed);
        const auto expected = alone.play(), got = together.play();
        CHECK(alone.batched == 0);
        CHECK(together.batched > 1000);
        REQUIRE(expected.size() == got.size());
        const auto differs = std::mismatch(expected.begin(), expected.end(), got.begin(),
                                           [](float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; });
        CHECK(differs.first - expected.begin() == int(expected.size()));
    }
}
