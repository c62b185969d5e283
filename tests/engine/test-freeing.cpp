// SPDX-License-Identifier: GPL-3.0-or-later
// What is freed in pieces, as it would take longer than a cycle has. The clock is the test's.
#include "test-timed.hpp"

#include <doctest/doctest.h>
#include <tuple>

using namespace scs;
using namespace scs::test;

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
        return tree.freeing().free_in_time(*tree.find(1)) ? Outcome::done : Outcome::again;
    }));
    REQUIRE(t.engine->submit(bundle));
    for (int i = 0; i < 2000 && tree.find(1); ++i)
        (void)t.cycle(100'000);
    CHECK(pieces > 10);
    CHECK_FALSE(tree.find(1));
    CHECK(tree.counts().groups() == 1);
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
        CHECK(t.engine->tree().counts().synths() == 0);
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
        CHECK(tree.counts().synths() == 201);
        t.each_look = 20'000;
        int cycles = 0, synths = -1;
        REQUIRE(t.engine->submit(bundle_of([&](Engine&) {
            // The ID is free again, and what comes now stays.
            synths = tree.counts().synths();
            REQUIRE(tree.new_synth(*t.sine, nullptr, 1000, AddAction::tail, neighbour, synth).ok());
        })));
        for (; synths < 0 && cycles < 100; ++cycles)
            (void)t.cycle(100'000);
        CHECK(cycles > 3);
        CHECK(synths >= 0);
        CHECK(synths <= 1); // which may only have been marked as ending
        t.each_look = 0;
        (void)t.cycle();
        CHECK(tree.counts().synths() == 1);
        CHECK(tree.find(1000));
        CHECK(tree.counts().groups() == left);
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
    CHECK(tree.counts().synths() == 0);
    CHECK(tree.counts().groups() == 2);
    // In the middle of it, too.
    t.fill(2, 20);
    Synth& next = t.play(*t.sine, 3);
    tree.done_action(11, next);
    t.each_look = 20'000;
    (void)t.cycle(50'000);
    CHECK(tree.counts().synths() > 1);
    t.each_look = 0;
    tree.free(*second);
    (void)t.cycle();
    (void)t.cycle();
    CHECK(tree.counts().synths() == 0);
    CHECK(tree.counts().groups() == 1);
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
        synths = tree.counts().synths();
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
    CHECK(tree.counts().groups() == 1);
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
            tree.runs().end(reference);
        else if (way == Way::is_freed_first)
            tree.freeing().free_first(reference);
        else
            REQUIRE(t.engine->submit(bundle_of(
                [&](Engine&) { REQUIRE(tree.new_synth(*t.sine, nullptr, 3, AddAction::replace, 1, made).ok()); })));
        CHECK(tree.counts().synths() == (way == Way::is_freed_first ? 201 : 202));
        const int left = way == Way::is_replaced ? 2 : 1;
        int cycles = 0;
        for (; tree.counts().synths() > left && cycles < 100; ++cycles)
            (void)t.cycle(100'000);
        CHECK(cycles > 3);
        t.each_look = 0;
        (void)t.cycle();
        CHECK(tree.counts().synths() == left);
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
    CHECK(tree.counts().synths() > 1);
}
