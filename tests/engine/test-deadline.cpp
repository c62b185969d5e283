// SPDX-License-Identifier: GPL-3.0-or-later
// Cycles that have no time for everything: what is left out, and what waits. The clock is the test's.
#include "test-timed.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <tuple>

using namespace scs;
using namespace scs::test;

TEST_CASE("a block that is cut is silent but for a fade, and the next one fades in") {
    for (const bool native : {true, false}) {
        Settings settings;
        settings.native_ugens = native;
        Timed t(settings);
        t.play(*t.sine, 1000);
        std::vector<float> sound;
        const auto add = [&](const std::vector<float>& part) { sound.insert(sound.end(), part.begin(), part.end()); };
        for (int i = 0; i < 20; ++i)
            add(t.cycle());
        CHECK(t.engine->status().cuts == 0);
        add(t.cycle(0));
        CHECK(t.engine->status().cuts == 1);
        CHECK(sound.back() == 0.f);
        const auto missing = t.cycle(0);
        CHECK(silent(missing));
        add(missing);
        for (int i = 0; i < 3; ++i)
            add(t.cycle());
        CHECK(t.engine->status().cuts == 2);
        // No step is larger than the sine's own, and a little for the fades.
        float step = 0;
        for (size_t i = 1; i < sound.size(); ++i)
            step = std::max(step, std::abs(sound[i] - sound[i - 1]));
        CHECK(step < 0.5f * 2 * float(M_PI) * 440 / 48000 + 0.5f / 64);
        CHECK(*std::max_element(sound.end() - 64, sound.end()) > 0.4f);
    }
}

TEST_CASE("the longest block is known without a further look at the clock") {
    Timed t;
    t.play(*t.sine, 1000);
    for (int i = 0; i < 5; ++i)
        (void)t.cycle();
    const auto longest = [&] { return t.engine->status().longest_block.load(); };
    CHECK(longest() == 0); // this clock stands still
    const int before = t.looks;
    (void)t.cycle();
    // When the cycle, its commands and its block begin, when it ends, and when its load is measured.
    CHECK(t.looks - before == 5);
    REQUIRE(t.engine->submit(t.slow("a", 300'000, ntp_advance(t.start, t.position + 10, 48000))));
    (void)t.cycle();
    CHECK(longest() == 300'000);
    // What a cycle does before its block isn't the block's.
    REQUIRE(t.engine->submit(t.slow("b", 400'000)));
    (void)t.cycle();
    CHECK(t.order == "ab");
    CHECK(longest() == 300'000);
    for (int second = 0; second < 61; ++second)
        for (int i = 0; i < 751; ++i)
            (void)t.cycle(Deadline::never - t.now);
    CHECK(longest() == 0);
}

TEST_CASE("what a synth costs is followed, however little there is to do") {
    for (const bool native : {true, false}) {
        Settings settings;
        settings.native_ugens = native;
        Timed t(settings);
        t.each_look = 1000; // so long each turn seems to take that is measured
        t.play(*t.sine, 1000);
        for (int i = 0; i < 100; ++i)
            (void)t.cycle();
        CHECK(t.sine->cost >= 1000);
        t.each_look = 100;
        for (int i = 0; i < 2000; ++i)
            (void)t.cycle();
        CHECK(t.sine->cost < 110);
        const int before = t.looks;
        for (int i = 0; i < 800; ++i)
            (void)t.cycle();
        CHECK(t.looks - before <= 800 * 5 + 2 * 115); // twice in one of seven blocks
    }
}

TEST_CASE(
    "a turn in which the data loop was preempted hardly changes what a synth costs, a synth that gets dear does") {
    for (const bool native : {true, false}) {
        Settings settings;
        settings.native_ugens = native;
        Timed t(settings);
        t.play(*t.sine, 1000);
        t.each_look = 1000;
        for (int i = 0; i < 100; ++i)
            (void)t.cycle();
        const int64_t before = t.sine->cost;
        const auto cycle_of_dear_turns = [&] {
            t.each_look = 1'000'000;
            (void)t.cycle(1'000'000'000);
            t.each_look = 1000;
        };
        for (int i = 0; i < 100 && t.sine->last_cost < 1'000'000; ++i) // not each cycle has one that is measured
            cycle_of_dear_turns();
        CHECK(t.sine->last_cost >= 1'000'000);
        CHECK(t.sine->cost > before);
        CHECK(t.sine->cost < 2 * before);
        for (int i = 0; i < 100; ++i)
            (void)t.cycle();
        CHECK(t.sine->cost < before * 11 / 10);
        for (int i = 0; i < 100; ++i)
            cycle_of_dear_turns();
        CHECK(t.sine->cost > 900'000);
    }
}

TEST_CASE("commands that don't fit wait in their order, and no block is computed while a bundle is half done") {
    Timed t;
    t.play(*t.sine, 1000);
    for (int i = 0; i < 3; ++i)
        CHECK((i == 0 || !silent(t.cycle())));
    REQUIRE(t.engine->submit(t.slow("abcdef", 500'000)));
    REQUIRE(t.engine->submit(t.slow("g", 700'000)));
    REQUIRE(t.engine->submit(t.slow("h", 0)));
    (void)t.cycle(); // fades out
    CHECK(t.order == "abc");
    CHECK(silent(t.cycle()));
    CHECK(t.order == "abcdef");
    CHECK(t.freed == 1);
    REQUIRE(t.engine->submit(t.slow("i", 0)));
    // Bundles may take half of the cycle's time, and then there is a block. The one that was begun is finished.
    CHECK_FALSE(silent(t.cycle()));
    CHECK(t.order == "abcdefgh");
    CHECK_FALSE(silent(t.cycle()));
    CHECK(t.order == "abcdefghi");
    CHECK(t.freed == 4);
}

TEST_CASE("a scheduled bundle that doesn't fit cuts its block; those of lost blocks run late, in order") {
    Timed t;
    const auto at = [&](int64_t frame) { return ntp_advance(t.start, frame, 48000); };
    REQUIRE(t.engine->submit(t.slow("abc", 700'000, at(70))));
    REQUIRE(t.engine->submit(t.slow("d", 0, at(140))));
    REQUIRE(t.engine->submit(t.slow("e", 0, at(130))));
    (void)t.cycle();
    CHECK(t.order == "");
    (void)t.cycle();
    CHECK(t.order == "ab");
    (void)t.cycle(0);
    CHECK(t.order == "ab");
    (void)t.cycle(0);
    (void)t.cycle();
    CHECK(t.order == "abced");
}

TEST_CASE("a nest that is deeper than a cycle is long is freed in pieces") {
    Settings settings;
    settings.max_nodes = 6000;
    Timed t(settings);
    Tree& tree = t.engine->tree();
    constexpr int depth = 5000;
    Group* group = nullptr;
    for (int i = 1; i <= depth; ++i)
        REQUIRE(tree.new_group(i, AddAction::head, i - 1, group).ok());
    t.each_look = 2000;
    int pieces = 0;
    auto* bundle = new CommandBundle;
    bundle->append(new Call([&](Engine&) {
        ++pieces;
        return tree.free_in_time(*tree.find(1)) ? Outcome::done : Outcome::again;
    }));
    REQUIRE(t.engine->submit(bundle));
    for (int i = 0; i < 2000 && tree.find(1); ++i)
        (void)t.cycle(100'000);
    CHECK(pieces > 10);
    CHECK_FALSE(tree.find(1));
    CHECK(tree.group_count() == 1);
}

TEST_CASE("a synth of many plugins' units leaves at once, but is destroyed in pieces") {
    Timed t(plugins_alone());
    SynthDef def = sine_def();
    constexpr uint32_t more = 1000;
    for (uint32_t i = 0; i < more; ++i)
        def.units.push_back(unit("DelayN", Rate::control, {{0, 0}, {-1, 0}, {-1, 0}}, {Rate::control}));
    t.play(*t.define(def), 1);
    (void)t.cycle(Deadline::never / 2);
    Definition* unused = nullptr;
    REQUIRE(t.engine->definitions().remove(def.name, unused));
    CHECK_FALSE(unused); // the synth has it still
    t.each_look = 2000;
    REQUIRE(t.engine->submit(bundle_of([](Engine& engine) { engine.tree().free(*engine.tree().find(1)); })));
    int cycles = 0;
    for (t.freed = 0; t.freed < 2 && cycles < 1000; ++cycles) { // the command and the definition
        (void)t.cycle(10'000);
        CHECK_FALSE(t.engine->tree().find(1));
        CHECK(t.engine->tree().synth_count() == 0);
    }
    CHECK(cycles > 5);
    CHECK(cycles < 1000);
}

TEST_CASE("what a done action frees of a large group is freed in pieces, before the next command") {
    // Numbers of done actions, the neighbour whose contents they free, and how many groups are left.
    for (const auto& row : {std::tuple{5, 1, 3}, {6, 2, 3}, {11, 1, 4}, {12, 2, 4}}) {
        const int action = std::get<0>(row), neighbour = std::get<1>(row), left = std::get<2>(row);
        CAPTURE(action);
        Timed t;
        Tree& tree = t.engine->tree();
        Group* group = nullptr;
        Synth* synth = nullptr;
        REQUIRE(tree.new_group(1, AddAction::tail, 0, group).ok());
        Synth& middle = t.play(*t.sine, 3);
        REQUIRE(tree.new_group(2, AddAction::tail, 0, group).ok());
        REQUIRE(tree.new_group(4, AddAction::tail, neighbour, group).ok());
        t.fill(neighbour, 100);
        t.fill(4, 100, 1100);
        (void)t.cycle(Deadline::never - t.now);
        tree.done_action(action, middle);
        CHECK(tree.synth_count() == 201);
        t.each_look = 20'000;
        int cycles = 0, synths = -1;
        REQUIRE(t.engine->submit(bundle_of([&](Engine&) {
            // The ID is free again, and what comes now stays.
            synths = tree.synth_count();
            REQUIRE(tree.new_synth(*t.sine, nullptr, 1000, AddAction::tail, neighbour, synth).ok());
        })));
        for (; synths < 0 && cycles < 100; ++cycles)
            (void)t.cycle(100'000);
        CHECK(cycles > 3);
        CHECK(synths >= 0);
        CHECK(synths <= 1); // which may only have been marked as ending
        t.each_look = 0;
        (void)t.cycle();
        CHECK(tree.synth_count() == 1);
        CHECK(tree.find(1000));
        CHECK(tree.group_count() == left);
    }
}

TEST_CASE("a group that is to be emptied may be freed before") {
    Timed t;
    Tree& tree = t.engine->tree();
    Group *first, *second;
    REQUIRE(tree.new_group(1, AddAction::tail, 0, first).ok());
    Synth& middle = t.play(*t.sine, 3);
    REQUIRE(tree.new_group(2, AddAction::tail, 0, second).ok());
    t.fill(1, 10);
    t.fill(2, 10, 1010);
    tree.done_action(5, middle);
    tree.done_action(12, middle);
    tree.free(*first);
    (void)t.cycle();
    (void)t.cycle();
    CHECK(tree.synth_count() == 0);
    CHECK(tree.group_count() == 2);
    // In the middle of it, too.
    t.fill(2, 20);
    Synth& next = t.play(*t.sine, 3);
    tree.done_action(11, next);
    t.each_look = 20'000;
    (void)t.cycle(50'000);
    CHECK(tree.synth_count() > 1);
    t.each_look = 0;
    tree.free(*second);
    (void)t.cycle();
    (void)t.cycle();
    CHECK(tree.synth_count() == 0);
    CHECK(tree.group_count() == 1);
}

TEST_CASE("a large group is replaced in pieces") {
    Timed t;
    Tree& tree = t.engine->tree();
    Group* group = nullptr;
    Synth* synth = nullptr;
    REQUIRE(tree.new_group(1, AddAction::tail, 0, group).ok());
    t.fill(1, 100);
    (void)t.cycle(Deadline::never - t.now);
    auto* bundle = new CommandBundle;
    bundle->append(new Call([&](Engine&) {
        REQUIRE(tree.new_synth(*t.sine, nullptr, 1, AddAction::replace, 1, synth).ok());
        return Outcome::done;
    }));
    int synths = 0;
    bundle->append(new Call([&](Engine&) {
        synths = tree.synth_count();
        return Outcome::done;
    }));
    REQUIRE(t.engine->submit(bundle));
    t.each_look = 20'000;
    int cycles = 0;
    for (; !synths && cycles < 100; ++cycles)
        (void)t.cycle(100'000);
    CHECK(cycles > 3);
    CHECK(synths == 1);
    CHECK(tree.find(1) == synth);
    CHECK(tree.root().head == synth);
    CHECK(tree.group_count() == 1);
}

TEST_CASE("satellites are freed in pieces, whatever happens to their reference") {
    enum class Way { ends, is_freed_first, is_replaced };
    for (const Way way : {Way::ends, Way::is_freed_first, Way::is_replaced}) {
        CAPTURE(int(way));
        Timed t;
        Tree& tree = t.engine->tree();
        Synth *made, &reference = t.play(*t.sine, 1);
        t.play(*t.sine, 2);
        for (int i = 0; i < 200; ++i)
            REQUIRE(tree.new_synth(*t.sine, nullptr, 1000 + i, i % 2 ? AddAction::preceding : AddAction::succeeding, 1,
                                   made)
                        .ok());
        (void)t.cycle(Deadline::never - t.now);
        t.each_look = 20'000;
        if (way == Way::ends)
            tree.end(reference);
        else if (way == Way::is_freed_first)
            tree.free_first(reference);
        else
            REQUIRE(t.engine->submit(bundle_of(
                [&](Engine&) { REQUIRE(tree.new_synth(*t.sine, nullptr, 3, AddAction::replace, 1, made).ok()); })));
        CHECK(tree.synth_count() == (way == Way::is_freed_first ? 201 : 202));
        const int left = way == Way::is_replaced ? 2 : 1;
        int cycles = 0;
        for (; tree.synth_count() > left && cycles < 100; ++cycles)
            (void)t.cycle(100'000);
        CHECK(cycles > 3);
        t.each_look = 0;
        (void)t.cycle();
        CHECK(tree.synth_count() == left);
        CHECK(tree.root().children == left);
        CHECK(tree.root().tail == tree.find(2));
        CHECK(tree.root().head == (way == Way::is_replaced ? made : tree.find(2)));
    }
}

TEST_CASE("an engine ends cleanly while a group is being replaced") {
    Timed t(plugins_alone());
    Tree& tree = t.engine->tree();
    Group* group = nullptr;
    Synth* synth = nullptr;
    REQUIRE(tree.new_group(1, AddAction::tail, 0, group).ok());
    t.fill(1, 100);
    REQUIRE(t.engine->submit(
        bundle_of([&](Engine&) { REQUIRE(tree.new_synth(*t.sine, nullptr, 1, AddAction::replace, 1, synth).ok()); })));
    t.each_look = 20'000;
    (void)t.cycle(100'000);
    CHECK(tree.synth_count() > 1);
}

TEST_CASE("a native synth whose start is interrupted sounds as if it wasn't") {
    // A chain of lags, each of which starts at its input's first value: a constant comes out, if none of them is lost.
    const auto lags = [](float value, float bus) {
        SynthDef def;
        def.name = "lags" + std::to_string(bus);
        def.constants = {value, 1.f, bus};
        def.units = {unit("DC", Rate::audio, {{-1, 0}}, {Rate::audio})};
        for (int32_t i = 0; i < 200; ++i)
            def.units.push_back(unit("Lag", Rate::audio, {{i, 0}, {-1, 1}}, {Rate::audio}));
        def.units.push_back(unit("Out", Rate::audio, {{-1, 2}, {200, 0}}, {}));
        return def;
    };
    Settings settings;
    settings.overload = "none";
    Timed t(settings);
    Definition* const quarter = t.define(lags(0.25f, 1));
    Definition* const half = t.define(lags(0.5f, 0));
    t.play(*quarter, 1000);
    (void)t.cycle(Deadline::never - t.now);
    const Synth& started = t.play(*half, 1001);
    t.each_look = 20'000;
    int cycles = 0;
    for (; started.run != Run::on && cycles < 100; ++cycles)
        (void)t.cycle(300'000);
    CHECK(cycles > 1);
    CHECK(cycles < 100);
    t.each_look = 0;
    (void)t.cycle(); // fades in
    CHECK(t.cycle() == std::vector<float>(64, 0.5f));
}

TEST_CASE("a command may do its work in pieces") {
    Timed t;
    int calls = 0;
    auto* bundle = new CommandBundle;
    bundle->append(new Call([&](Engine& engine) {
        ++calls;
        for (int i = 0; i < 4; ++i) {
            if (engine.out_of_time(100'000))
                return Outcome::again;
            t.now += 200'000;
        }
        return Outcome::done;
    }));
    bundle->append(new Call([&](Engine&) {
        calls += 100;
        return Outcome::done;
    }));
    REQUIRE(t.engine->submit(bundle));
    (void)t.cycle(500'000);
    CHECK(calls < 100);
    for (int i = 0; i < 5; ++i)
        (void)t.cycle(500'000);
    CHECK(calls < 100); // each call begins anew, as this command doesn't keep its place
    (void)t.cycle(5'000'000);
    CHECK(calls > 100);
    CHECK(t.freed == 1);
}

TEST_CASE("an engine ends cleanly in the middle of a bundle") {
    Timed t;
    REQUIRE(t.engine->submit(t.slow("abcdef", 500'000)));
    (void)t.cycle();
    CHECK(t.order.size() < 6);
}

TEST_CASE("where nothing may be rendered, commands are carried out") {
    Timed t;
    t.play(*t.sine, 1000);
    (void)t.cycle();
    (void)t.cycle(cycle_nsec / 10, false);
    REQUIRE(t.engine->submit(t.slow("a", 0)));
    CHECK(silent(t.cycle(cycle_nsec / 10, false)));
    CHECK(t.order == "a");
}

TEST_CASE("the clock is read seldom where synths are cheap, and between all where they are dear") {
    Timed t;
    for (int i = 0; i < 200; ++i)
        t.play(*t.sine, 1000 + i);
    t.each_look = 20; // so cheap that 200 of them are no work at all
    for (int i = 0; i < 8; ++i)
        (void)t.cycle();
    t.looks = 0;
    CHECK_FALSE(silent(t.cycle()));
    CHECK(t.looks < 12);
}

TEST_CASE("a synth within which the clock is read costs what all of it does") {
    for (const bool native : {true, false}) {
        Settings settings;
        settings.native_ugens = native;
        Timed t(settings);
        SynthDef def = sine_def();
        for (int i = 0; i < (native ? 3000 : 300); ++i)
            def.units.push_back(unit("SinOsc", Rate::control, {{0, 0}, {-1, 0}}, {Rate::control}));
        Definition* definition = t.define(def);
        CHECK(bool(definition->code) == native);
        t.play(*definition, 1);
        t.cycle(10 * cycle_nsec);
        t.each_look = 2000;
        definition->cost = 0;
        definition->turn_cost = Deadline::unknown;
        t.looks = 0;
        t.cycle();
        CHECK(t.looks > 15);
        CHECK(definition->cost >= (t.looks - 6) * t.each_look); // all but those before and behind the synth
        CHECK(definition->turn_cost == Deadline::unknown);
    }
}
