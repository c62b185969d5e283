// SPDX-License-Identifier: GPL-3.0-or-later
#include "test-support.hpp"

#include "engine/compile/unit-kernels.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/rt/pool.hpp"
#include "engine/tree/controls.hpp"
#include "engine/ugens/native-ugens.hpp"
#include "engine/units/unit-facts.hpp"
#include "engine/world/buffers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <vector>

using namespace scs;
using namespace scs::test;

namespace {

Settings native(bool on = true) {
    Settings settings;
    settings.native_ugens = on;
    return settings;
}

/// A plugin's chaotic generator, a native oscillator with a native envelope, and a plugin's unit that ends the synth
/// with the envelope.
SynthDef mixed_def() {
    SynthDef def;
    def.name = "mixed";
    def.constants = {0.f, 1.f, 0.01f, 300.f, 0.5f, 0.1f, 1.9f};
    def.units = {
        unit("CuspN", Rate::audio, {{-1, 3}, {-1, 1}, {-1, 6}, {-1, 0}}, {Rate::audio}),
        unit("VarSaw", Rate::audio, {{-1, 3}, {-1, 0}, {-1, 4}}, {Rate::audio}),
        unit("Line", Rate::control, {{-1, 1}, {-1, 5}, {-1, 2}, {-1, 0}}, {Rate::control}),
        unit("BinaryOpUGen", Rate::audio, {{1, 0}, {2, 0}}, {Rate::audio}, 2),
        unit("BinaryOpUGen", Rate::audio, {{3, 0}, {0, 0}}, {Rate::audio}, 0),
        unit("FreeSelfWhenDone", Rate::control, {{2, 0}}, {Rate::control}),
        unit("Out", Rate::audio, {{-1, 0}, {4, 0}}, {}),
    };
    return def;
}

std::string natives(const Definition& definition) {
    std::string names;
    for (size_t i = 0; i < definition.kernels.size(); ++i)
        if (definition.kernels[i])
            names += (names.empty() ? "" : " ") + definition.program->units[i].ugen->name;
    return names;
}

struct Units : Fixture {
    Units() : Fixture(native()) {}

    Synth& synth(int32_t id, Definition& of) {
        Synth* made = nullptr;
        REQUIRE(engine->tree().new_synth(of, nullptr, id, AddAction::tail, 0, made).ok());
        return *made;
    }
};

/// A definition with one unit, whose inputs are these constants, but for its done action and for gates, at -1: these
/// are the control "gate". NaN: an input at demand rate that has ended.
SynthDef done_def(const UnitFacts& facts, Rate rate, std::span<const float> inputs, float action) {
    SynthDef def;
    def.name = "done";
    def.controls = {1.f};
    def.control_names = {{"gate", 0}};
    std::vector<InputRef> refs;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const bool is_action = int(i) == facts.done_action_input;
        if (std::isnan(inputs[i])) {
            refs.push_back({rate == Rate::audio ? 2 : 1, 0});
            continue;
        }
        if (!is_action && inputs[i] == -1.f) {
            refs.push_back({rate == Rate::audio ? 1 : 0, 0});
            continue;
        }
        refs.push_back({-1, uint32_t(def.constants.size())});
        def.constants.push_back(is_action ? action : inputs[i]);
    }
    const std::string name(facts.name);
    def.units = {unit("Control", Rate::control, {}, {Rate::control})};
    if (rate == Rate::audio)
        def.units.push_back(unit("K2A", Rate::audio, {{0, 0}}, {Rate::audio}));
    if (std::any_of(inputs.begin(), inputs.end(), [](float x) { return std::isnan(x); }))
        def.units.push_back(unit("Dseq", Rate::demand, {{-1, 0}, {-1, 0}}, {Rate::demand}));
    def.units.push_back(unit(name.c_str(), rate, refs, {rate}));
    return def;
}

} // namespace

TEST_CASE("native units among plugins' units sound as those would, and end as they do") {
    const auto play = [](bool on, int& ended) {
        Fixture f(native(on));
        Definition* def = f.define(mixed_def());
        CHECK_FALSE(def->code);
        CHECK(natives(*def) == (on ? "VarSaw Line BinaryOpUGen BinaryOpUGen Out" : "Out"));
        Synth* made = nullptr;
        REQUIRE(f.engine->tree().new_synth(*def, nullptr, 1, AddAction::head, 0, made).ok());
        std::vector<float> all;
        for (ended = 0; f.engine->tree().find(1) && ended < 100; ++ended) {
            const auto block = f.render(64);
            all.insert(all.end(), block.begin(), block.end());
        }
        return all;
    };
    int ours_ended, theirs_ended;
    const auto ours = play(true, ours_ended), theirs = play(false, theirs_ended);
    CHECK(ours_ended == theirs_ended);
    CHECK(ours_ended > 7);
    CHECK(ours_ended < 12);
    float most = 0.f, loudest = 0.f;
    for (size_t i = 0; i < ours.size(); ++i) {
        most = std::max(most, std::abs(ours[i] - theirs[i]));
        loudest = std::max(loudest, std::abs(theirs[i]));
    }
    CHECK(loudest > 0.5f);
    CHECK(most < 1e-5f);
    CHECK(ours != theirs); // native envelopes compute their ramps differently
}

TEST_CASE("native units read buffers that a synth has for itself") {
    Fixture f(native());
    SynthDef def;
    def.name = "own buffer";
    def.constants = {1.f, 64.f, 0.f, 3e9f}; // the last is the number of no buffer
    def.units = {
        unit("MaxLocalBufs", Rate::control, {{-1, 0}}, {Rate::control}),
        unit("LocalBuf", Rate::scalar, {{-1, 0}, {-1, 1}, {0, 0}}, {Rate::scalar}),
        unit("BufFrames", Rate::control, {{1, 0}}, {Rate::control}),
        unit("DC", Rate::control, {{-1, 1}}, {Rate::control}),
        unit("BinaryOpUGen", Rate::control, {{2, 0}, {3, 0}}, {Rate::control}, 0),
        unit("BufFrames", Rate::control, {{-1, 3}}, {Rate::control}),
        unit("BinaryOpUGen", Rate::control, {{4, 0}, {5, 0}}, {Rate::control}, 0),
        unit("Out", Rate::control, {{-1, 2}, {6, 0}}, {}),
    };
    Definition* definition = f.define(def);
    CHECK(natives(*definition) == "BufFrames DC BinaryOpUGen BufFrames BinaryOpUGen Out");
    Synth* made = nullptr;
    REQUIRE(f.engine->tree().new_synth(*definition, nullptr, 1, AddAction::head, 0, made).ok());
    f.render(128);
    CHECK(*f.engine->buses().control() == 128.f);
}

TEST_CASE("with a generator of its own a synth's units stay the plugins'") {
    Fixture f(native());
    SynthDef def;
    def.name = "own generator";
    def.constants = {1.f, 64.f, 0.f};
    def.units = {
        unit("RandID", Rate::scalar, {{-1, 0}}, {Rate::scalar}),
        unit("WhiteNoise", Rate::audio, {}, {Rate::audio}),
        unit("Out", Rate::audio, {{-1, 2}, {1, 0}}, {}),
    };
    CHECK(natives(*f.define(def)) == "");
}

TEST_CASE("native units start as those of the release that is followed") {
    // The first samples of a saw and of a line.
    const auto first = [](bool native_units, const char* release) {
        Settings settings = native(native_units);
        settings.supercollider = release;
        const auto sample = [&](const UnitSpec& source) {
            Fixture f(settings);
            SynthDef def;
            def.name = "first";
            def.constants = {0.f, 1.f, 3000.f};
            def.units = {source, unit("Out", Rate::audio, {{-1, 0}, {0, 0}}, {})};
            Definition* made = f.define(def);
            CHECK(bool(made->code) == native_units);
            Synth* synth = nullptr;
            REQUIRE(f.engine->tree().new_synth(*made, nullptr, 1, AddAction::head, 0, synth).ok());
            return f.render(64)[0];
        };
        return std::pair(sample(unit("LFSaw", Rate::audio, {{-1, 2}, {-1, 0}}, {Rate::audio})),
                         sample(unit("Line", Rate::audio, {{-1, 1}, {-1, 0}, {-1, 1}, {-1, 0}}, {Rate::audio})));
    };
    const std::pair older(0.125f, 1.f - 1.f / 48000), newer(0.f, 1.f);
    CHECK(first(true, "3.13") == older);
    CHECK(first(true, "3.14") == newer);
    const auto installed = first(false, "auto");
    CHECK((installed == older || installed == newer));
    CHECK(first(true, "auto") == installed);
    CHECK(first(false, "3.13") == installed); // plugins aren't changed by it
    CHECK(first(false, "3.14") == installed);
}

TEST_CASE("releases have names") {
    for (const Release release : {Release::v3_13, Release::v3_14})
        CHECK(release_named(name_of(release)) == release);
    CHECK_FALSE(release_named("auto"));
    CHECK_FALSE(release_named("3.12"));
}

TEST_CASE("a change at control rate hears no output but HPZ1's and abs's first one") {
    for (const uint32_t output : {0u, 1u})
        for (const int extra : {1, 2}) { // the unit with the second output, which is 0
            CAPTURE(output);
            CAPTURE(extra);
            Units f;
            SynthDef def;
            def.name = "change";
            def.constants = {0.1f, 7.f};
            def.controls = {0.f};
            def.units = {
                unit("Control", Rate::control, {}, {Rate::control}),
                unit("HPZ1", Rate::control, {{0, 0}}, {Rate::control}),
                unit("UnaryOpUGen", Rate::control, {{1, extra == 1 ? output : 0}}, {Rate::control}, 5),
                unit("BinaryOpUGen", Rate::control, {{2, extra == 2 ? output : 0}, {-1, 0}}, {Rate::control}, 9),
                unit("Out", Rate::control, {{-1, 1}, {3, 0}}, {}),
            };
            def.units[size_t(extra)].outputs.push_back(Rate::control);
            Definition* change = f.define(def);
            REQUIRE(change->code);
            Synth& made = f.synth(1, *change);
            f.render(3 * 64);
            f.engine->tree().controls().set(made, 0, 5.f);
            f.render(64);
            CHECK(f.engine->buses().control()[7] == (output == 0 ? 1.f : 0.f));
        }
}

TEST_CASE("kernels do the action that the table of units says") {
    const NativeUgens ugens = native_ugens("auto");
    // All inputs of a unit, with which it is done once a control has closed, or soon after its start. -1: the control.
    // What stands for the done action is replaced.
    const std::map<std::string_view, std::vector<float>> inputs = {
        {"DemandEnvGen", {NAN, 0.001f, 1, 0, 1, 0, 1, 0, 1, 0}},
        {"DetectSilence", {-1, 0.1f, 0.002f, 0}},
        {"Duty", {0, 0, 0, NAN}},
        {"EnvGen", {-1, 1, 0, 1, 0, 0, 1, -99, -99, 1, 0.002f, 1, 0}},
        {"LFGauss", {0.002f, 0.1f, 0, 0, 0}},
        {"Line", {0, 1, 0.002f, 0}},
        {"Linen", {-1, 0.002f, 1, 0.002f, 0}},
        {"PlayBuf", {0, 1, 1, 0, 0, 0}},
        {"TDuty", {NAN, 0, 0, 0, 0}},
        {"XLine", {1, 2, 0.002f, 0}},
    };
    size_t kernels = 0, actions = 0;
    for (const UnitFacts& facts : all_unit_facts())
        for (const Rate rate : {Rate::control, Rate::audio}) {
            CAPTURE(std::string(facts.name));
            const std::vector<Signature::Input> any(facts.min_inputs, {rate, false, 0.f, false});
            const Kernel* kernel =
                ugens.find(facts.name, {.rate = rate, .special_index = 0, .inputs = any, .outputs = facts.min_outputs});
            if (!kernel)
                continue;
            ++kernels;
            CHECK(kernel->acts_when_done == (facts.done_action_input >= 0));
            if (!kernel->acts_when_done)
                continue;
            ++actions;
            const auto found = inputs.find(facts.name);
            REQUIRE(found != inputs.end());
            for (const float action : {0.f, 1.f, 2.f}) {
                Units f;
                float samples[8] = {};
                f.engine->buffers().install(0, {.data = samples, .frames = 8, .channels = 1});
                Definition* definition = f.define(done_def(facts, rate, found->second, action));
                REQUIRE(definition->code);
                CHECK(definition->ends_itself == (action == 2.f));
                CHECK(definition->facts->ends == (action > 0.f));
                Synth& made = f.synth(1, *definition);
                f.render(4 * 64);
                if (f.engine->tree().find(1))
                    f.engine->tree().controls().set(made, 0, 0.f);
                f.render(16 * 64);
                const Node* left = f.engine->tree().find(1);
                CHECK((left != nullptr) == (action < 2.f));
                if (left)
                    CHECK(left->run == (action == 1.f ? Run::off : Run::on));
                f.engine->buffers().install(0, {});
            }
        }
    CHECK(kernels > 250);
    CHECK(actions >= 8);
}

TEST_CASE("the units that make, pass or read fine phases by the table of units are those with kernels for these") {
    const NativeUgens ugens = native_ugens("auto");
    const auto kernel = [&](const UnitFacts& facts, int special_index, size_t inputs, size_t outputs) {
        const std::vector<Signature::Input> audio(inputs, {Rate::audio, false, 0.f, false});
        return ugens.find(facts.name,
                          {.rate = Rate::audio, .special_index = special_index, .inputs = audio, .outputs = outputs});
    };
    int with_phases = 0;
    for (const UnitFacts& facts : all_unit_facts())
        for (int special_index = 0; special_index < (facts.name == "BinaryOpUGen" ? 50 : 1); ++special_index) {
            CAPTURE(std::string(facts.name));
            CAPTURE(special_index);
            const size_t inputs = facts.min_inputs, outputs = facts.min_outputs;
            const Kernel* const coarse = kernel(facts, special_index, inputs, outputs);
            const bool passes = facts.phase == Phase::passes &&
                                (!facts.phase_operators || has_operator(facts.phase_operators, special_index));
            const bool makes = facts.phase == Phase::makes, reads = facts.phase == Phase::reads;
            const Kernel* const fine = passes  ? kernel(facts, special_index, 2 * inputs, 2)
                                       : reads ? kernel(facts, special_index, inputs + 1, 1)
                                               : kernel(facts, special_index, inputs, outputs + 1);
            with_phases += makes || passes || reads;
            if (makes || passes)
                CHECK((coarse && fine && fine != coarse));
            else if (reads) // one kernel looks whether there is another input
                CHECK((coarse && fine));
            else
                CHECK((fine == coarse || !fine));
        }
    CHECK(with_phases >= 14);
}

TEST_CASE("an index is folded into a buffer of a billion samples, too") {
    constexpr int32_t samples = (1 << 30) + 3;
    constexpr size_t bytes = size_t(samples) * sizeof(float);
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    {
        Units f;
        static_cast<float*>(pages)[1] = 0.5f;
        f.engine->buffers().install(0, {.data = static_cast<float*>(pages), .frames = samples, .channels = 1});
        SynthDef def;
        def.name = "fold";
        def.constants = {0.f, -1.f, 3.f};
        def.units = {
            unit("FoldIndex", Rate::control, {{-1, 0}, {-1, 1}}, {Rate::control}),
            unit("Out", Rate::control, {{-1, 2}, {0, 0}}, {}),
        };
        Definition* fold = f.define(def);
        REQUIRE(fold->code);
        f.synth(1, *fold);
        f.render(2 * 64);
        CHECK(f.engine->buses().control()[3] == 0.5f);
        f.engine->buffers().install(0, {});
    }
    munmap(pages, bytes);
}

TEST_CASE("a delay that shrinks by a long way doesn't hear what its memory held before") {
    Units f;
    SynthDef def;
    def.name = "shrinks";
    def.constants = {0.f, 0.25f, 20.f, 0.01f};
    def.controls = {0.f};
    def.control_names = {{"time", 0}};
    def.units = {
        unit("Control", Rate::control, {}, {Rate::control}),
        unit("DC", Rate::audio, {{-1, 1}}, {Rate::audio}),
        unit("CombN", Rate::audio, {{1, 0}, {-1, 2}, {0, 0}, {-1, 3}}, {Rate::audio}),
        unit("Out", Rate::audio, {{-1, 0}, {2, 0}}, {}),
    };
    Definition* shrinks = f.define(def);
    REQUIRE(shrinks->code);
    for (int id = 1; id <= 20; ++id) {
        constexpr size_t floats = 1200000;
        auto* before = static_cast<float*>(f.engine->world().pool().allocate(floats * sizeof(float)));
        REQUIRE(before);
        std::fill_n(before, floats, 1e6f);
        f.engine->world().pool().free(before);
        Synth& made = f.synth(id, *shrinks);
        f.engine->tree().controls().set(made, 0, 19.f + float(id) * 0.037f);
        f.render(2 * 64);
        f.engine->tree().controls().set(made, 0, 0.f);
        for (const float sample : f.render(4 * 64))
            REQUIRE(std::abs(sample) < 1.f);
        f.engine->tree().free(made);
    }
}

TEST_CASE("what has too many wires, or a block of another size, stays with the plugins") {
    const auto is_native = [](int audio_wires, int control_wires, int block_size = 64) {
        Settings settings = native();
        settings.wire_buffers = 1024;
        settings.block_size = block_size;
        Fixture f(settings);
        SynthDef def;
        def.name = "wide";
        def.constants = {0.f, 100.f};
        for (int i = 0; i < control_wires; ++i)
            def.units.push_back(unit("BinaryOpUGen", Rate::control, {{-1, 0}, {-1, 1}}, {Rate::control}, 0));
        std::vector<InputRef> out = {{-1, 0}};
        for (int i = 0; i < audio_wires; ++i) {
            out.push_back({int32_t(def.units.size()), 0});
            def.units.push_back(unit("VarSaw", Rate::audio, {{-1, 1}, {-1, 0}, {-1, 0}}, {Rate::audio}));
        }
        def.units.push_back(unit("Out", Rate::audio, out, {}));
        return f.define(def)->code != nullptr;
    };
    CHECK(is_native(256, 4096));
    CHECK_FALSE(is_native(257, 0));
    CHECK_FALSE(is_native(1, 4097));
    CHECK(is_native(1, 0, 128));
    CHECK_FALSE(is_native(1, 0, 32));
}

TEST_CASE("a Linen at audio rate, which computes a sample a block, stays with the plugins") {
    Fixture f(native());
    for (const Rate rate : {Rate::control, Rate::audio}) {
        SynthDef def;
        def.name = "linen";
        def.constants = {0.f, 1.f};
        def.units = {unit("Linen", rate, {{-1, 1}, {-1, 1}, {-1, 1}, {-1, 1}, {-1, 0}}, {rate})};
        CHECK((f.define(def)->code != nullptr) == (rate == Rate::control));
    }
}
