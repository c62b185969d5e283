// SPDX-License-Identifier: GPL-3.0-or-later
#include "test-support.hpp"

#include "engine/tree/controls.hpp"
#include "engine/units/done-action.hpp"

#include <doctest/doctest.h>

using namespace scs;
using namespace scs::test;

namespace {

struct TreeFixture : Fixture {
    explicit TreeFixture(Settings settings = {}) : Fixture(settings) { def = define(counting_def()); }

    Synth& synth(int32_t id, int32_t target = 0, AddAction action = AddAction::tail) {
        Synth* made = nullptr;
        REQUIRE(engine->tree().new_synth(*def, nullptr, id, action, target, made).ok());
        return *made;
    }
    Group& group(int32_t id, int32_t target = 0, AddAction action = AddAction::tail) {
        Group* made = nullptr;
        REQUIRE(engine->tree().new_group(id, action, target, made).ok());
        return *made;
    }
    /// "1 2(3 4)": IDs in tree order, groups with their children.
    std::string shape(const Group& g) const {
        std::string text;
        const Node* previous = nullptr;
        for (const Node* n = g.head; n; n = n->next) {
            CHECK(n->previous == previous);
            CHECK(n->parent == &g);
            previous = n;
            text += (text.empty() ? "" : " ") + std::to_string(n->id);
            if (n->is_group)
                text += "(" + shape(static_cast<const Group&>(*n)) + ")";
        }
        CHECK(g.tail == previous);
        return text;
    }
    std::string shape() { return shape(engine->tree().root()); }

    Definition* def;
};

/// 1 2(20 21) 3 4(40 41) 5, with synth 3 about to be done.
struct Neighbours : TreeFixture {
    Neighbours() {
        synth(1);
        group(2);
        synth(20, 2);
        group(21, 2);
        synth(210, 21);
        three = &synth(3);
        group(4);
        synth(40, 4);
        group(41, 4);
        synth(410, 41);
        synth(5);
        render(64);
        events();
    }
    std::string after(int action) {
        engine->tree().done_action(action, *three);
        render(64);
        return shape();
    }
    Synth* three;
};

} // namespace

TEST_CASE("all five add actions") {
    TreeFixture f;
    f.synth(1);
    f.synth(2, 0, AddAction::head);
    f.synth(3, 1, AddAction::before);
    f.synth(4, 2, AddAction::after);
    CHECK(f.shape() == "2 4 3 1");
    f.synth(5, 3, AddAction::replace);
    CHECK(f.shape() == "2 4 5 1");
    f.group(6, 5, AddAction::replace);
    f.synth(7, 6);
    CHECK(f.shape() == "2 4 6(7) 1");
    f.synth(6, 6, AddAction::replace); // a synth may replace one with the same ID
    CHECK(f.shape() == "2 4 6 1");
    CHECK(f.engine->tree().counts().synths() == 4);
    CHECK(f.engine->tree().counts().groups() == 1);
}

TEST_CASE("what cannot be added says why and changes nothing") {
    TreeFixture f;
    f.synth(1);
    Synth* made;
    Tree& tree = f.engine->tree();
    const auto code = [&](int32_t id, AddAction action, int32_t target) {
        return tree.new_synth(*f.def, nullptr, id, action, target, made).code;
    };
    CHECK(code(1, AddAction::tail, 0) == Code::duplicate_node_id);
    CHECK(code(-5, AddAction::tail, 0) == Code::reserved_node_id);
    CHECK(code(2, AddAction::tail, 1) == Code::group_not_found);
    CHECK(code(2, AddAction::head, 77) == Code::group_not_found);
    CHECK(code(2, AddAction::before, 77) == Code::node_not_found);
    CHECK(code(2, AddAction::after, 0) == Code::node_not_found);
    CHECK(code(2, AddAction::replace, 0) == Code::cannot_replace_root);
    CHECK(code(2, AddAction(9), 0) == Code::failed);
    CHECK(f.shape() == "1");
    CHECK(f.events() == "g1");
}

TEST_CASE("ID -1 makes up a negative one that is found as -1 and isn't told") {
    TreeFixture f;
    CHECK(f.engine->tree().find(-1) == &f.engine->tree().root());
    f.synth(-1);
    Node* node = f.engine->tree().find(-1);
    REQUIRE(node);
    CHECK(node->id < -1);
    CHECK(f.events() == "");
    f.synth(8);
    CHECK(f.engine->tree().find(-1)->id == 8);
}

TEST_CASE("moves, and moves that would tie a knot") {
    TreeFixture f;
    f.group(1);
    f.group(2, 1);
    Synth& s = f.synth(3);
    f.synth(4);
    Tree& t = f.engine->tree();
    const auto move = [&](Node& node, AddAction action, Node& target) { return move_now(t, node, action, target); };
    CHECK(move(s, AddAction::head, *t.find(2)).ok());
    CHECK(f.shape() == "1(2(3)) 4");
    CHECK(move(*t.find(4), AddAction::before, *t.find(1)).ok());
    CHECK(f.shape() == "4 1(2(3))");
    CHECK(move(*t.find(1), AddAction::tail, *t.find(2)).code == Code::move_into_itself);
    CHECK(move(*t.find(1), AddAction::tail, *t.find(1)).code == Code::move_into_itself);
    CHECK(move(*t.find(4), AddAction::after, *t.find(4)).ok());
    CHECK(move(*t.find(4), AddAction::before, *t.find(4)).ok());
    CHECK(move(*t.find(1), AddAction::tail, t.root()).ok());
    CHECK(move(t.root(), AddAction::tail, *t.find(1)).failed());
    CHECK(f.shape() == "4 1(2(3))");
}

TEST_CASE("freeing: one, a group's contents, only the synths, the root's children") {
    TreeFixture f;
    f.group(1);
    f.group(2, 1);
    f.synth(3, 2);
    f.synth(4, 1);
    f.synth(5);
    Tree& t = f.engine->tree();
    f.events();
    NodeWalk walk;
    CHECK(t.freeing().deep_free_in_time(*t.find_group(1), walk));
    CHECK(f.shape() == "1(2()) 5");
    CHECK(f.events() == "e3 e4");
    f.synth(6, 2);
    f.events();
    t.free(*t.find(1));
    CHECK(f.shape() == "5");
    CHECK(f.events() == "e6 e2 e1");
    t.free(t.root());
    CHECK(f.shape() == "");
    CHECK(t.counts().synths() == 0);
    CHECK(t.counts().groups() == 1);
    t.runs().end(t.root());
    f.synth(9);
    f.render(64);
    CHECK(f.shape() == "9");
}

TEST_CASE("nesting of any depth is walked, rendered and freed without a stack") {
    Settings s;
    s.max_nodes = 200'000;
    s.rt_memory_kib = 256 * 1024;
    TreeFixture f(s);
    for (int32_t i = 1; i < 100'000; ++i)
        f.group(i, i - 1);
    f.synth(100'000, 99'999);
    f.render(64);
    CHECK(f.engine->buses().control()[0] == 1.f);
    f.engine->tree().freeing().free_all_in_time(f.engine->tree().root());
    CHECK(f.engine->tree().counts().groups() == 1);
}

TEST_CASE("done actions do what SuperCollider's do") {
    const std::pair<int, const char*> cases[] = {
        {0, "1 2(20 21(210)) 3 4(40 41(410)) 5"},
        {1, "1 2(20 21(210)) 3 4(40 41(410)) 5"},
        {2, "1 2(20 21(210)) 4(40 41(410)) 5"},
        {3, "1 4(40 41(410)) 5"},
        {4, "1 2(20 21(210)) 5"},
        {5, "1 2() 4(40 41(410)) 5"},
        {6, "1 2(20 21(210)) 4() 5"},
        {7, "4(40 41(410)) 5"},
        {8, "1 2(20 21(210))"},
        {9, "1 2(20 21(210)) 4(40 41(410)) 5"},
        {10, "1 2(20 21(210)) 4(40 41(410)) 5"},
        {11, "1 2(21()) 4(40 41(410)) 5"},
        {12, "1 2(20 21(210)) 4(41()) 5"},
        {13, ""},
        {14, "1 2(20 21(210)) 3 4(40 41(410)) 5"}, // the root stays
        {15, "1 2(20 21(210)) 4(40 41(410)) 5"},
    };
    REQUIRE(std::size(cases) == std::size(done_actions)); // each has its case
    for (const auto& each : cases) {
        const int action = each.first;
        const auto& expected = each.second;
        CAPTURE(action);
        Neighbours f;
        Tree& tree = f.engine->tree();
        if (action == 15)
            tree.runs().set_run(*tree.find(4), false);
        CHECK(f.after(action) == expected);
        if (action == 1)
            CHECK(tree.find(3)->run == Run::off);
        if (action == 9)
            CHECK(tree.find(2)->run == Run::off);
        if (action == 10)
            CHECK(tree.find(4)->run == Run::off);
        if (action == 15)
            CHECK(tree.find(4)->run == Run::on);
    }
    for (const int none : {-1, int(std::size(done_actions)), 1000000})
        CHECK(Neighbours().after(none) == cases[0].second);
    TreeFixture f;
    f.group(1);
    Synth& inner = f.synth(2, 1);
    f.synth(3);
    f.render(64);
    f.engine->tree().done_action(14, inner);
    f.render(64);
    CHECK(f.shape() == "3");
}

TEST_CASE("no choice of IDs makes a node hard to find") {
    // These all come to one place of a table of 8192 by Fibonacci hashing alone: multiples of its inverse.
    constexpr uint32_t golden = 2654435769u, count = 4096;
    uint32_t inverse = golden;
    for (int i = 0; i < 5; ++i)
        inverse *= 2 - golden * inverse;
    REQUIRE(golden * inverse == 1u);
    NodeIndex index(count);
    std::vector<Node> nodes(count);
    for (uint32_t i = 0; i < count; ++i) {
        nodes[i].id = int32_t(i * inverse);
        index.add(nodes[i]);
    }
    int longest = 0;
    for (const Node& node : nodes) {
        CHECK(index.find(node.id) == &node);
        int length = 0;
        for (const Node* at = &node; at; at = at->same_hash)
            ++length;
        longest = std::max(longest, length);
    }
    CHECK(longest < 20);
}

TEST_CASE("done actions that end more neighbours than are marked at once") {
    constexpr int many = 1500, each_side = many / 2;
    for (const int action : {7, 8, 13}) {
        CAPTURE(action);
        Settings s;
        s.max_nodes = 2048;
        TreeFixture f(s);
        for (int i = 0; i < many; ++i)
            f.synth(1 + i);
        f.render(64);
        Tree& tree = f.engine->tree();
        tree.done_action(action, *tree.find_synth(each_side));
        f.render(64);
        CHECK(tree.counts().synths() == (action == 7 ? many - each_side : action == 8 ? each_side - 1 : 0));
        CHECK(!tree.find(each_side));
        f.synth(9000); // a new neighbour isn't one of them
        f.render(64);
        CHECK(tree.find(9000));
    }
}

TEST_CASE("execution is strictly in tree order") {
    TreeFixture f;
    SynthDef tap;
    tap.name = "tap";
    tap.constants = {0.f, 1.f};
    tap.units = {unit("In", Rate::control, {{-1, 0}}, {Rate::control}),
                 unit("Out", Rate::control, {{-1, 1}, {0, 0}}, {})};
    Definition* reads = f.define(tap);
    f.synth(1);
    f.group(2);
    f.synth(3, 2);
    Synth* tapper;
    REQUIRE(f.engine->tree().new_synth(*reads, nullptr, 4, AddAction::tail, 2, tapper).ok());
    f.synth(5);
    f.render(64);
    f.render(64);
    CHECK(f.engine->buses().control()[0] == 3.f);
    CHECK(f.engine->buses().control()[1] == 2.f); // the synths that ran before it
}

TEST_CASE("pausing before the first block, and while it runs") {
    TreeFixture f;
    Synth& s = f.synth(1);
    Tree& t = f.engine->tree();
    t.runs().set_run(s, false);
    f.render(64);
    CHECK(f.engine->buses().control()[0] == 0.f);
    t.runs().set_run(s, true);
    f.render(64);
    CHECK(f.engine->buses().control()[0] == 1.f);
    t.runs().set_run(s, true);
    CHECK(f.events() == "g1 f1 n1");
}

TEST_CASE("running out of nodes or of memory is an answer") {
    Settings s;
    s.max_nodes = 4;
    TreeFixture few(s);
    few.synth(1);
    few.synth(2);
    few.synth(3);
    Synth* made;
    CHECK(few.engine->tree().new_synth(*few.def, nullptr, 4, AddAction::tail, 0, made).code == Code::too_many_nodes);
    few.synth(4, 3, AddAction::replace);
    CHECK(few.shape() == "1 2 4");

    s = {};
    s.rt_memory_kib = 64;
    TreeFixture small(s);
    Code code = Code::ok;
    int32_t id = 1;
    while (code == Code::ok)
        code = small.engine->tree().new_synth(*small.def, nullptr, id++, AddAction::tail, 0, made).code;
    CHECK(code == Code::out_of_memory);
    small.render(64);
    small.engine->tree().free(*small.engine->tree().find(1));
    small.synth(9999);
}

TEST_CASE("controls by index and name, out of range ignored; mapping and unmapping") {
    Fixture f;
    Definition* def = f.define(sine_def());
    Synth* s;
    Tree& t = f.engine->tree();
    REQUIRE(t.new_synth(*def, nullptr, 1, AddAction::tail, 0, s).ok());
    set_named(t, *s, "amp", 0, 0.25f);
    CHECK(control(*s, 1) == 0.25f);
    set_named(t, *s, "amp", 1, 9.f);
    set_named(t, *s, "none", 0, 9.f);
    t.controls().set(*s, 2, 9.f);
    t.controls().set(*s, -1, 9.f);
    CHECK(control(*s, 0) == 440.f);
    CHECK(control(*s, 1) == 0.25f);
    int bus = -1;
    map_named(t, *s, "freq", 0, 7, false);
    CHECK(mapping(*s, 0, bus) == Mapping::control);
    CHECK(bus == 7);
    t.controls().map(*s, 0, 16384, false);
    CHECK(mapping(*s, 0, bus) == Mapping::control);
    t.controls().map(*s, 0, 9, true);
    CHECK(mapping(*s, 0, bus) == Mapping::audio);
    CHECK(bus == 9);
    t.controls().map(*s, 0, -1, true);
    CHECK(mapping(*s, 0, bus) == Mapping::none);
}
