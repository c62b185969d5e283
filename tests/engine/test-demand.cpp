// SPDX-License-Identifier: GPL-3.0-or-later
// Native units at demand rate: what they may ask in a block, and that what draws does so in the order of the voices.
#include "test-timed.hpp"

#include "engine/plugins/plugin-world.hpp"

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace scs;
using namespace scs::test;

namespace {

/// A Demand at 24 kHz of a sequence that is doubled `depth` times: each value asks twice for that before it.
SynthDef doubled(int depth) {
    SynthDef def;
    def.name = "doubled";
    def.constants = {0.f, 24000.f, 1e9f, 1.f};
    def.units = {
        unit("Impulse", Rate::audio, {{-1, 1}, {-1, 0}}, {Rate::audio}),
        unit("Dseq", Rate::demand, {{-1, 2}, {-1, 3}}, {Rate::demand}),
    };
    for (int i = 0; i < depth; ++i) {
        const auto last = uint32_t(def.units.size()) - 1;
        def.units.push_back(
            unit("BinaryOpUGen", Rate::demand, {{int32_t(last), 0}, {int32_t(last), 0}}, {Rate::demand}));
    }
    const auto last = int32_t(def.units.size()) - 1;
    def.units.push_back(unit("Demand", Rate::audio, {{0, 0}, {-1, 0}, {last, 0}}, {Rate::audio}));
    def.units.push_back(unit("Out", Rate::audio, {{-1, 0}, {last + 1, 0}}, {}));
    return def;
}

/// The same of a unit that draws, on the bus that a control says.
SynthDef drawing(int units) {
    SynthDef def;
    def.name = "draws";
    def.constants = {0.f, 3000.f, 1e9f, 1.f};
    def.units = {
        unit("Impulse", Rate::audio, {{-1, 1}, {-1, 0}}, {Rate::audio}),
        unit("Dwhite", Rate::demand, {{-1, 2}, {-1, 0}, {-1, 3}}, {Rate::demand}),
        unit("Drand", Rate::demand, {{-1, 2}, {-1, 3}, {1, 0}}, {Rate::demand}),
    };
    for (int i = 0; i < units; ++i) {
        def.units.push_back(unit("Demand", Rate::audio, {{0, 0}, {-1, 0}, {2, 0}}, {Rate::audio}));
        def.units.push_back(unit("Out", Rate::audio, {{-1, 0}, {3 + 2 * i, 0}}, {}));
    }
    return def;
}

/// How many numbers are drawn in what is done, or more than `most`.
template <class Done>
uint32_t draws_in(Fixture& f, uint32_t most, Done&& done) {
    RandomState state = *f.engine->world().random();
    done();
    const RandomState end = *f.engine->world().random();
    uint32_t draws = 0;
    for (; draws <= most && std::memcmp(&state, &end, sizeof end) != 0; ++draws)
        state = state.next();
    return draws;
}

} // namespace

TEST_CASE("a value that takes few others comes, one that takes too many ends what asks for it") {
    for (const int depth : {0, 3, 5}) {
        CAPTURE(depth);
        Fixture f;
        Definition* const definition = f.define(doubled(depth));
        REQUIRE(definition->code);
        f.play(*definition, 1);
        CHECK(f.render(64).back() == float(1 << depth));
    }
    for (const int depth : {14, 40, 60}) { // 2^60 of them would never end
        CAPTURE(depth);
        Fixture f;
        Definition* const definition = f.define(doubled(depth));
        REQUIRE(definition->code);
        f.play(*definition, 1);
        CHECK(f.render(256).back() == 0.f);
    }
}

TEST_CASE("orders of many inputs aren't drawn more often in a block than there is time for") {
    constexpr uint32_t inputs = 1000, most = 8 * 32 * 64 + inputs; // draws
    SynthDef def = doubled(0);
    std::vector<InputRef> shuffled{{-1, 0}}; // no repeats: it has ended as soon as it begins
    shuffled.resize(1 + inputs, {-1, 3});
    def.units[1] = unit("Dshuf", Rate::demand, shuffled, {Rate::demand});
    def.units.insert(def.units.begin() + 2, unit("Dser", Rate::demand, {{-1, 2}, {1, 0}}, {Rate::demand}));
    def.units[3].inputs.back() = {2, 0};
    def.units[4].inputs.back() = {3, 0};
    Fixture f;
    Definition* const definition = f.define(def);
    REQUIRE(definition->code);
    f.play(*definition, 1);
    (void)f.render(64);
    const uint32_t draws = draws_in(f, most, [&] { (void)f.render(64); });
    CHECK(draws > inputs);
    CHECK(draws <= most);
}

TEST_CASE("where units may take long the deadline is asked after each of them") {
    constexpr uint32_t most = 1000; // draws
    Settings settings;
    settings.batching = false;
    Timed t(settings);
    Definition* const definition = t.define(drawing(6));
    REQUIRE(definition->code);
    t.play(*definition, 1);
    for (int i = 0; i < 20; ++i)
        (void)t.cycle();
    const uint32_t all = draws_in(t, most, [&] { (void)t.cycle(); });
    CHECK(all >= 6);
    CHECK(t.engine->status().cuts == 0);
    t.each_look = 1000;
    const uint32_t some = draws_in(t, most, [&] { (void)t.cycle(6 * t.each_look); });
    CHECK(t.engine->status().cuts == 1);
    CHECK(some > 0);
    CHECK(some < all);
}

TEST_CASE("where units may take long voices of long blocks aren't batched, as all lanes are computed at once") {
    for (const int frames : {64, 256, 512}) {
        CAPTURE(frames);
        Settings settings;
        settings.block_size = frames;
        Fixture f(settings);
        CHECK(f.define(drawing(1))->code->batchable == (frames <= 256));
    }
}

TEST_CASE("units that ask each other too deep stay the plugins'") {
    Fixture f;
    CHECK(f.define(doubled(63))->code);
    CHECK_FALSE(f.define(doubled(64))->code);
}

TEST_CASE("a unit that doesn't ask for values leaves a SynthDef with an input at demand rate to the plugins") {
    SynthDef def = doubled(0);
    def.units[2] = unit("LFSaw", Rate::audio, {{1, 0}, {-1, 0}}, {Rate::audio});
    Fixture f;
    CHECK_FALSE(f.define(def)->code);
}

TEST_CASE("what draws by demand draws in the order of the voices, in batches if one unit asks for it") {
    for (const int units : {1, 2}) {
        CAPTURE(units);
        const auto play = [units](bool batching) {
            Settings settings;
            settings.batching = batching;
            Fixture f(settings);
            Definition* const definition = f.define(drawing(units));
            REQUIRE(definition->code);
            CHECK(definition->code->batchable == (units == 1));
            CHECK(definition->code->draws);
            CHECK(definition->code->numbers == 0);
            *f.engine->world().random() = {1234, 5678, 9012};
            for (int32_t id = 1; id <= 9; ++id)
                f.play(*definition, id);
            return f.render(64 * 20);
        };
        CHECK(play(true) == play(false));
    }
}

TEST_CASE("a trace shows what asks, without asking") {
    Fixture f;
    Definition* const definition = f.define(doubled(2));
    Synth& synth = f.play(*definition, 1);
    f.render(64);
    Node* at = nullptr;
    (void)f.engine->tree().trace(synth, at);
    f.render(64);
    CHECK(f.printed.find("Demand") != std::string::npos);
    CHECK(f.printed.find("nan") == std::string::npos);
}

TEST_CASE("to tell of a value takes as long as to ask for many, so fewer are told of in a block") {
    SynthDef def = doubled(10);
    def.constants.push_back(65.f);
    def.units[1] = unit("Dpoll", Rate::demand, {{-1, 3}, {-1, 3}, {-1, 0}, {-1, 3}, {-1, 4}}, {Rate::demand});
    Fixture f;
    Definition* const definition = f.define(def);
    REQUIRE(definition->code);
    f.play(*definition, 1);
    f.render(64);
    f.triggers.clear();
    f.render(64);
    CHECK(!f.triggers.empty());
    CHECK(f.triggers.size() <= 32 * 64 / 32);
}

TEST_CASE("what asks a Dpoll sends, and what asks a Dbufrd reads buffers") {
    Fixture f;
    SynthDef def;
    def.name = "asks";
    def.constants = {0.f, 1.f, 3000.f, 65.f, -1.f};
    const UnitSpec polls = unit("Dpoll", Rate::demand, {{-1, 1}, {-1, 4}, {-1, 1}, {-1, 1}, {-1, 3}}, {Rate::demand});
    const UnitSpec asks = unit("Demand", Rate::audio, {{0, 0}, {-1, 0}, {1, 0}}, {Rate::audio});
    def.units = {unit("Impulse", Rate::audio, {{-1, 2}, {-1, 0}}, {Rate::audio}), polls, asks};
    const Definition* const one = f.define(def);
    REQUIRE(one->code);
    CHECK(one->code->sends);
    CHECK(one->code->batchable);
    CHECK(!one->code->reads_buffers);
    SUBCASE("in a batch in the order of the voices") {
        SynthDef by_control = def;
        by_control.controls = {0.f};
        by_control.units.push_back(unit("Control", Rate::control, {}, {Rate::control}));
        std::rotate(by_control.units.begin(), by_control.units.end() - 1, by_control.units.end());
        by_control.units[2].inputs = {{0, 0}, {-1, 1}, {-1, 0}, {-1, 1}, {-1, 3}};
        by_control.units[3].inputs = {{1, 0}, {-1, 0}, {2, 0}};
        Definition* const definition = f.define(by_control);
        for (int id = 1; id <= 8; ++id)
            f.engine->tree().controls().set(f.play(*definition, id), 0, float(id));
        f.render(64);
        f.triggers.clear();
        f.render(64);
        REQUIRE(f.triggers.size() >= 16);
        CHECK(std::is_sorted(f.triggers.begin(), f.triggers.end(),
                             [](const auto& a, const auto& b) { return a.node < b.node; }));
        for (const auto& trigger : f.triggers)
            CHECK(trigger.value == float(trigger.node));
    }
    SUBCASE("two that ask it are in no batch") {
        def.units.push_back(asks);
        CHECK(!f.define(def)->code->batchable);
    }
    SUBCASE("buffers") {
        def.units[1] = unit("Dbufrd", Rate::demand, {{-1, 0}, {-1, 1}, {-1, 1}}, {Rate::demand});
        const Definition* const reads = f.define(def);
        CHECK(reads->code->reads_buffers);
        CHECK(!reads->code->sends);
    }
}
