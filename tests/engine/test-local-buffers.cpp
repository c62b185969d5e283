// SPDX-License-Identifier: GPL-3.0-or-later
// Buffers that only a voice has: when their memory is taken, by whom, and when it is given back.
#include "engine/compile/code.hpp"
#include "engine/rt/pool.hpp"
#include "engine/world/buffers.hpp"
#include "engine/world/buses.hpp"
#include "test-support.hpp"
#include "test-timed.hpp"

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

using namespace scs;
using namespace scs::test;

namespace {

constexpr uint32_t zero = 0, one = 1, most = 2, gate = 0;

InputRef constant(uint32_t index) {
    return {-1, index};
}

/// Writes ones to the first of as many own buffers of `frames` samples, and plays what it plays to control bus 0,
/// beside the frames of all that it could make: 0 of those that there was no room for.
SynthDef own_def(float frames, size_t buffers = 1, float room = 1) {
    SynthDef def;
    def.name = "own";
    def.constants = {0.f, 1.f, room};
    def.controls = {1.f, frames};
    def.control_names = {{"gate", 0}};
    const auto add = [&](UnitSpec spec) {
        def.units.push_back(std::move(spec));
        return int32_t(def.units.size() - 1);
    };
    add(unit("Control", Rate::control, {}, {Rate::control}));
    const int32_t size = add(unit("Control", Rate::scalar, {}, {Rate::scalar}, 1));
    const int32_t table = add(unit("MaxLocalBufs", Rate::scalar, {constant(most)}, {Rate::scalar}));
    int32_t sum = -1, first = -1;
    for (size_t i = 0; i < buffers; ++i) {
        const auto own =
            uint32_t(add(unit("LocalBuf", Rate::scalar, {constant(one), {size, 0}, {table, 0}}, {Rate::scalar})));
        if (first < 0)
            first = int32_t(own);
        const int32_t read = add(unit("BufFrames", Rate::control, {{int32_t(own), 0}}, {Rate::control}));
        sum = sum < 0 ? read : add(unit("BinaryOpUGen", Rate::control, {{sum, 0}, {read, 0}}, {Rate::control}, 0));
    }
    add(unit("ClearBuf", Rate::scalar, {{first, 0}}, {Rate::scalar}));
    add(unit("BufWr", Rate::control, {{first, 0}, constant(zero), constant(one), {0, gate}}, {Rate::control}));
    const int32_t played = add(unit("Index", Rate::control, {{first, 0}, constant(zero)}, {Rate::control}));
    add(unit("Out", Rate::control, {constant(zero), {sum, 0}, {played, 0}}, {}));
    return def;
}

struct Player : Fixture {
    using Fixture::Fixture;
    size_t used() { return engine->world().pool().used_blocks(); }
    float frames() { return engine->buses().control()[0]; }
    float played() { return engine->buses().control()[1]; }
    void end(int id) {
        Node* const node = engine->tree().find(id);
        REQUIRE(node);
        engine->tree().free(*node);
    }
};

} // namespace

TEST_CASE("own buffers are a voice's, and their memory is given back when it ends") {
    Player f;
    Definition* const own = f.define(own_def(64, 2, 2));
    REQUIRE(own->code);
    CHECK(own->code->batchable);
    const size_t before = f.used();
    SUBCASE("alone") {
        f.play(*own, 1);
        f.render(128);
        CHECK(f.frames() == 128);
        CHECK(f.played() == 1);
        CHECK(f.used() > before + 3);
        f.end(1);
    }
    SUBCASE("in batches, some of which end in between") {
        for (int id = 1; id <= 19; ++id)
            f.play(*own, id);
        f.render(256);
        CHECK(f.frames() == 19 * 128);
        CHECK(f.played() == 19);
        for (int id = 2; id <= 19; id += 3)
            f.end(id);
        f.render(128);
        CHECK(f.played() == 13);
        for (int id = 1; id <= 19; ++id)
            if (f.engine->tree().find(id))
                f.end(id);
    }
    SUBCASE("before it has started") {
        f.play(*own, 1);
        f.end(1);
    }
    f.render(128);
    CHECK(f.used() == before);
}

TEST_CASE("what one voice of a batch writes to its buffer no other one reads") {
    Player f;
    Definition* const own = f.define(own_def(8));
    for (int id = 1; id <= 16; ++id)
        f.play(*own, id);
    f.render(128);
    for (int id = 1; id <= 16; ++id)
        set_named(f.engine->tree(), *static_cast<Synth*>(f.engine->tree().find(id)), "gate", 0, float(id));
    f.render(128);
    CHECK(f.played() == 136);
}

TEST_CASE("a buffer that there is no room or no memory for has the number -1, and nothing is written to others") {
    Player f;
    float first[4] = {0.25f, 0.25f, 0.25f, 0.25f};
    f.engine->buffers().install(0, {.data = first, .frames = 4, .channels = 1, .sample_rate = 48000.});
    const size_t before = f.used();
    const auto play = [&](SynthDef def, float frames) {
        def.controls[1] = 0.f;
        Definition* const definition = f.define(def);
        REQUIRE(definition->code);
        f.printed.clear();
        f.engine->tree().controls().set(f.play(*definition, 1), 1, frames);
        f.render(128);
    };
    SUBCASE("no room") {
        play(own_def(64, 3, 2), 64);
        CHECK(f.printed.find("warning: LocalBuf tried to allocate too many local buffers.") != std::string::npos);
        CHECK(f.frames() == 64 + 64 + 4); // -1 is read as the first buffer
        CHECK(f.played() == 1);
    }
    SUBCASE("no memory") {
        play(own_def(1), 4194304);
        CHECK(f.printed.find("LocalBuf_Ctor: alloc failed") != std::string::npos);
        CHECK(f.played() == 0.25f);
    }
    SUBCASE("sizes that are none are 1 frame, or as many as there may be") {
        for (const float frames :
             {0.f, -1.f, std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
            play(own_def(1), frames);
            CHECK(f.frames() == 1);
            CHECK(f.played() == 1);
            f.end(1);
            f.render(64);
        }
        play(own_def(1), std::numeric_limits<float>::infinity());
        CHECK(f.printed.find("alloc failed") != std::string::npos);
    }
    CHECK(std::count(first, first + 4, 0.25f) == 4);
    f.end(1);
    f.render(64);
    CHECK(f.used() == before);
    f.engine->buffers().install(0, {});
}

TEST_CASE("what writes to buffers that others see is no kernel of a voice") {
    Player f;
    const SynthDef own = own_def(64);
    for (size_t i = 0; i < own.units.size(); ++i) {
        const std::string& name = own.units[i].name;
        if (name != "ClearBuf" && name != "BufWr")
            continue;
        SynthDef def = own;
        def.units[i].inputs[0] = constant(zero);
        CHECK(!f.define(def)->code);
    }
    SynthDef two = own;
    two.units.push_back(unit("MaxLocalBufs", Rate::scalar, {constant(one)}, {Rate::scalar}));
    CHECK(!f.define(two)->code);
    SynthDef none = own;
    none.units[2] = unit("DC", Rate::control, {constant(one)}, {Rate::control});
    CHECK(!f.define(none)->code);
}

TEST_CASE("a large buffer is cleared a piece after the other, and its synth starts once all of it is") {
    constexpr size_t samples = 1'000'000;
    Timed t;
    Pool& pool = t.engine->world().pool();
    void* const used_before = pool.allocate(samples * sizeof(float));
    REQUIRE(used_before);
    std::memset(used_before, 1, samples * sizeof(float));
    pool.free(used_before);
    SynthDef def = own_def(float(samples));
    UnitSpec& played = def.units[def.units.size() - 2];
    REQUIRE(played.name == "Index");
    played.inputs[1] = {1, 0}; // its last frame
    Definition* const own = t.define(def);
    REQUIRE(own->code);
    t.engine->buses().control()[1] = 9;
    t.play(*own, 1);
    t.each_look = 1000;
    (void)t.cycle(8 * t.each_look);
    CHECK(t.engine->status().cuts == 1);
    CHECK(t.engine->buses().control()[0] == 0);
    int cycles = 1;
    for (; t.engine->buses().control()[0] == 0 && cycles < 100; ++cycles)
        (void)t.cycle(8 * t.each_look);
    CHECK(cycles > 2);
    CHECK(t.engine->buses().control()[0] == samples);
    CHECK(t.engine->buses().control()[1] == 0);
}
