// SPDX-License-Identifier: GPL-3.0-or-later
#include "test-support.hpp"

#include "engine/plugins/graph-instance.hpp"
#include "engine/voices/batch.hpp"
#include "engine/voices/voice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

using namespace scs;
using namespace scs::test;

namespace {

using scs::Node, scs::Rate; // not those of the plugins' interface

constexpr uint32_t chain = 150; ///< units, which fill more than two words of bits

/// What goes from units to units at control rate, to an oscillator's frequency. Controls: in, time, other, out. hosted:
/// with a plugin's unit. units: how many scalar ones are added.
SynthDef slides_def(bool hosted, size_t units = 0) {
    SynthDef def;
    def.name = "slides";
    def.constants = {0.f, 1.f, 0.02f, 0.5f, -99.f, 5.f, 0.3f, 2.f};
    def.controls = {1.f, 0.01f, 3.f, 0.f};
    def.control_names = {{"in", 0}, {"time", 1}, {"other", 2}, {"out", 3}};
    const std::vector<Rate> one = {Rate::control};
    def.units = {
        unit("Control", Rate::control, {}, {Rate::control, Rate::control, Rate::control, Rate::control}),
        unit("Lag", Rate::control, {{0, 2}, {-1, 2}}, one),
        unit("HPZ1", Rate::control, {{0, 0}}, one),
        unit("UnaryOpUGen", Rate::control, {{2, 0}}, one, 5),
        unit("BinaryOpUGen", Rate::control, {{3, 0}, {-1, 0}}, one, 9),
        // From level `in` to `in` in `time` whenever `in` changes, and at first.
        unit("Impulse", Rate::control, {{-1, 0}, {-1, 0}}, one),
        unit("BinaryOpUGen", Rate::control, {{4, 0}, {5, 0}}, one),
        unit("EnvGen", Rate::control,
             {{6, 0},
              {-1, 1},
              {-1, 0},
              {-1, 1},
              {-1, 0},
              {0, 0},
              {-1, 1},
              {-1, 4},
              {-1, 4},
              {0, 0},
              {0, 1},
              {-1, 1},
              {-1, 0}},
             one),
        unit("Line", Rate::control, {{0, 0}, {0, 2}, {-1, 6}, {-1, 0}}, one),
        unit("BinaryOpUGen", Rate::control, {{7, 0}, {8, 0}}, one),
        unit("BinaryOpUGen", Rate::control, {{9, 0}, {1, 0}}, one, 2),
        unit("Latch", Rate::control, {{10, 0}, {0, 2}}, one),
        unit("BinaryOpUGen", Rate::control, {{10, 0}, {11, 0}}, one),
        // At rest until the line has come so far, then going on while its input is at rest again.
        unit("BinaryOpUGen", Rate::control, {{8, 0}, {-1, 7}}, one, 9),
        unit("Lag", Rate::control, {{13, 0}, {-1, 6}}, one),
        unit("BinaryOpUGen", Rate::control, {{12, 0}, {14, 0}}, one),
    };
    for (uint32_t i = 0; i < chain; ++i)
        def.units.push_back(
            unit("BinaryOpUGen", Rate::control, {{int32_t(def.units.size() - 1), 0}, {0, i % 3}}, one, int16_t(i % 2)));
    const auto last = uint32_t(def.units.size() - 1);
    def.units.push_back(unit("SinOsc", Rate::audio, {{int32_t(last), 0}, {-1, 0}}, {Rate::audio}));
    def.units.push_back(unit("Out", Rate::audio, {{0, 3}, {int32_t(last + 1), 0}}, {}));
    if (hosted)
        def.units.push_back(unit("CuspN", Rate::audio, {{15, 0}, {-1, 1}, {-1, 7}, {-1, 0}}, {Rate::audio}));
    for (size_t i = 0; i < units; ++i)
        def.units.push_back(unit("UnaryOpUGen", Rate::scalar, {{-1, 0}}, {Rate::scalar}));
    return def;
}

Settings native(bool batching) {
    Settings settings;
    settings.native_ugens = true;
    settings.batching = batching;
    settings.simd = "sse2";
    return settings;
}

struct Slides : Fixture {
    explicit Slides(bool batching, bool hosted = false) : Fixture(native(batching)), def(define(slides_def(hosted))) {
        REQUIRE((def->code == nullptr) == hosted);
        if (hosted)
            REQUIRE(std::count(def->may_rest.begin(), def->may_rest.end(), true) > chain);
        else
            REQUIRE(def->code->resting.ops() > chain);
    }
    Synth& synth(int32_t id) { return play(*def, id); }
    /// How many operations of a synth are awake; among plugins' units: of its units.
    size_t awake(const Synth& synth) {
        if (synth.graph) {
            const Instance& instance = Instance::of(synth.graph);
            return instance.rest.all_awake ? instance.graph().mNumCalcUnits : instance.rest.count;
        }
        Voice& voice = *synth.voice;
        const Resting& resting = voice.code->resting;
        const std::byte* record = voice.batch ? voice.batch->record() : voice.record;
        const std::byte* words = record + resting.awake_at * (voice.batch ? size_t(voice.code->batch.lanes) : 1u);
        size_t count = 0;
        for (size_t i = 0; i < resting.words; ++i) {
            uint64_t word;
            std::memcpy(&word, words + Resting::head_bytes + i * 8, 8);
            count += size_t(std::popcount(word));
        }
        return count;
    }
    /// After a block, if no unit with a state is at rest; among plugins' units: no unit.
    size_t most_awake(int32_t id) {
        const Synth& synth = *engine->tree().find_synth(id);
        if (synth.graph)
            return Instance::of(synth.graph).graph().mNumCalcUnits;
        size_t count = 0;
        for (const uint64_t word : synth.voice->code->resting.with_state)
            count += size_t(std::popcount(word));
        return count;
    }
    size_t awake(int32_t id) { return awake(*engine->tree().find_synth(id)); }

    Definition* def;
};

/// What is set, mapped, paused, added and freed at random, with all units computed in each block if `traced`.
/// `rested`: gets how often a synth had units at rest after a block.
std::vector<float> random_piece(unsigned seed, bool batching, bool traced, bool hosted, int& rested) {
    Slides f(batching, hosted);
    Tree& tree = f.engine->tree();
    std::mt19937 random(seed);
    const auto number = [&](unsigned below) { return random() % below; };
    std::vector<int32_t> ids;
    int32_t next = 1;
    std::vector<float> all;
    for (int step = 0; step < 300; ++step) {
        if (ids.size() < 4 || (ids.size() < 9 && number(12) == 0)) {
            ids.push_back(next);
            f.synth(next++);
        }
        const size_t which = number(unsigned(ids.size()));
        Synth& synth = *tree.find_synth(ids[which]);
        const unsigned choice = number(40);
        if (choice < 8)
            tree.controls().set(synth, int64_t(number(3)), 0.01f * float(number(400)));
        else if (choice < 10)
            tree.controls().map(synth, int64_t(number(3)), int64_t(number(4)), false);
        else if (choice < 12)
            REQUIRE(f.engine->buses().set_control(int(number(4)), 0.1f * float(number(30)), 0).ok());
        else if (choice < 14)
            tree.runs().set_run(synth, number(2) == 0);
        else if (choice == 14) {
            tree.free(synth);
            ids.erase(ids.begin() + int64_t(which));
        }
        Node* at = nullptr;
        if (traced)
            for (const int32_t id : ids)
                (void)tree.trace(*tree.find_synth(id), at);
        f.printed.clear();
        const auto part = f.render(64);
        all.insert(all.end(), part.begin(), part.end());
        for (const int32_t id : ids)
            rested += f.awake(id) < f.most_awake(id);
    }
    return all;
}

} // namespace

TEST_CASE("units come to rest, and wake where a control is set or a bus that it is mapped to changes") {
    for (const bool batching : {false, true}) {
        CAPTURE(batching);
        Slides f(batching);
        Tree& tree = f.engine->tree();
        for (int32_t id = 1; id <= 4; ++id)
            f.synth(id);
        f.render(64 * 8);
        CHECK((tree.find_synth(2)->voice->batch != nullptr) == batching);
        CHECK(f.awake(2) > 0);
        f.render(64 * 2000);
        CHECK(f.awake(2) == 0);

        Synth& synth = *tree.find_synth(2);
        tree.controls().set(synth, 3, 0.f); // which no unit at control rate reads
        CHECK(f.awake(2) == 0);
        tree.controls().set(synth, 0, 5.f);
        CHECK(f.awake(2) > 0);
        f.render(64 * 2000);
        CHECK(f.awake(2) == 0);

        tree.controls().map(synth, 2, 1, false);
        f.render(64 * 2000);
        REQUIRE(f.awake(2) == 0);
        REQUIRE(f.engine->buses().set_control(1, 8.f, 0).ok());
        f.render(64);
        CHECK(f.awake(2) > 0);

        // The lane of a voice that has gone doesn't keep the others from it.
        tree.controls().set(*tree.find_synth(3), 1, 100.f);
        tree.controls().set(*tree.find_synth(3), 0, 2.f);
        f.render(64 * 8);
        tree.free(*tree.find_synth(3));
        f.render(64 * 2000);
        CHECK(f.awake(2) == 0);
    }
}

TEST_CASE("what is at rest has the bits that it would have if it were computed") {
    for (const bool hosted : {false, true})
        for (unsigned seed = 1; seed <= 12; ++seed) {
            CAPTURE(hosted);
            CAPTURE(seed);
            int never = 0;
            const auto computed = random_piece(seed, false, true, hosted, never);
            CHECK(computed != std::vector<float>(computed.size()));
            for (const bool batching : {false, true}) {
                CAPTURE(batching);
                int rested = 0;
                const auto some = random_piece(seed, batching, false, hosted, rested);
                CHECK(rested > 50);
                REQUIRE(some.size() == computed.size());
                CHECK(std::memcmp(some.data(), computed.data(), computed.size() * sizeof(float)) == 0);
            }
        }
}

TEST_CASE("among plugins' units the others are computed alone once they have come to rest") {
    Slides f(false, true);
    Synth& synth = f.synth(1);
    f.render(64 * 2);
    const size_t all = f.awake(1);
    f.render(64 * 2000);
    CHECK(f.awake(1) < all - chain);
    f.engine->tree().controls().set(synth, 0, 5.f);
    CHECK(f.awake(1) == all);
}

TEST_CASE("of more units than plugins have numbers for none rests") {
    Settings settings = native(false);
    settings.rt_memory_kib = 64 << 10;
    Fixture f(settings);
    CHECK_FALSE(f.define(slides_def(true))->may_rest.empty());
    Definition* many = f.define(slides_def(true, 33'000));
    CHECK(many->may_rest.empty());
    f.play(*many, 1);
    f.render(64 * 4);
}
