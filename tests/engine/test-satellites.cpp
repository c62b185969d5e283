// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/nodes/cluster.hpp"
#include "engine/rt/deadline.hpp"
#include "test-support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>

using namespace scs;
using namespace scs::test;

namespace {

constexpr float acting_time = 0.001f; // s, from a synth's start to its done action; less than two blocks
constexpr int acting_frames = 128;

/// Adds 1 to control bus 0, and has a done action soon. Control 0 is its number.
SynthDef acting_def() {
    SynthDef def;
    def.name = "act";
    def.constants = {0.f, 1.f, acting_time};
    def.controls = {0.f};
    def.control_names = {{"action", 0}};
    def.units = {
        unit("Control", Rate::control, {}, {Rate::control}),
        unit("Line", Rate::control, {{-1, 0}, {-1, 1}, {-1, 2}, {0, 0}}, {Rate::control}),
        unit("DC", Rate::control, {{-1, 1}}, {Rate::control}),
        unit("Out", Rate::control, {{-1, 0}, {2, 0}}, {}),
    };
    return def;
}

Settings settings_for(bool native) {
    Settings settings;
    settings.native_ugens = native;
    return settings;
}

struct SatelliteFixture : Fixture {
    explicit SatelliteFixture(const Settings& settings = {})
        : Fixture(settings), tree(engine->tree()), plain(define(counting_def())), acting(define(acting_def())) {}

    Status make(int32_t id, AddAction action, int32_t target, float done_action = 0) {
        Synth* made = nullptr;
        return tree.new_synth(done_action > 0 ? *acting : *plain, done_action > 0 ? &done_action : nullptr, id, action,
                              target, made);
    }
    Synth& synth(int32_t id, AddAction action = AddAction::tail, int32_t target = 0, float done_action = 0) {
        REQUIRE(make(id, action, target, done_action).ok());
        return *tree.find_synth(id);
    }
    Group& group(int32_t id, AddAction action = AddAction::tail, int32_t target = 0) {
        Group* made = nullptr;
        REQUIRE(tree.new_group(id, action, target, made).ok());
        return *made;
    }
    /// What clients see: "1 2'(3 4)" are a synth and a paused group of two. Checks that all ways through it agree.
    std::string shape(const Group& of) const {
        std::string text;
        const Node* previous = nullptr;
        int32_t count = 0;
        for (const Node* n = seen_head(of); n; previous = n, n = seen_next(*n), ++count) {
            CHECK(seen_previous(*n) == previous);
            CHECK(seen_parent(*n) == &of);
            CHECK(n->id != -1);
            const Cluster* cluster = cluster_of(*n);
            CHECK((!cluster || cluster->head != cluster->tail)); // it goes with its last satellite
            const bool paused = n->run == Run::off || n->run == Run::first_paused;
            text += (text.empty() ? "" : " ") + std::to_string(n->id) + (paused ? "'" : "");
            if (n->is_group)
                text += "(" + shape(static_cast<const Group&>(*n)) + ")";
        }
        CHECK(seen_tail(of) == previous);
        CHECK(of.children == count);
        return text;
    }
    std::string shape() const { return shape(tree.root()); }
    /// The shape and how many synths a block computes, two blocks later.
    std::string later() {
        render(acting_frames);
        return shape() + ": " + std::to_string(computed());
    }
    /// How many synths the next block computes.
    int computed() {
        engine->buses().control()[0] = 0;
        render(64);
        return int(engine->buses().control()[0]);
    }
    Node& node(int32_t id) {
        REQUIRE(tree.find(id));
        return *tree.find(id);
    }

    Tree& tree;
    Definition *plain, *acting;
};

/// 1 [10 11 2(20) 12 13] 3 [30 4 [40 5 41]]: 2 and 4 with satellites in front and behind, 5 is one of 4 and has its
/// own.
struct Clusters : SatelliteFixture {
    Clusters() {
        synth(1);
        group(2);
        synth(20, AddAction::tail, 2);
        synth(3);
        synth(4);
        synth(12, AddAction::succeeding, 2);
        synth(10, AddAction::preceding, 2);
        synth(13, AddAction::succeeding, 2);
        synth(11, AddAction::preceding, 2);
        synth(30, AddAction::preceding, 4);
        synth(5, AddAction::succeeding, 4);
        synth(41, AddAction::succeeding, 5);
        synth(40, AddAction::preceding, 5);
        render(64);
        events();
    }
    static constexpr const char* all = "1 10 11 2(20) 12 13 3 30 4 40 5 41";
};

} // namespace

TEST_CASE("satellites stand beside their reference in the order in which they were made") {
    Clusters f;
    CHECK(f.shape() == f.all);
    CHECK(f.later() == std::string(f.all) + ": 12");
    f.tree.notify(f.node(13), NodeChange::info);
    f.tree.notify(f.node(2), NodeChange::info);
    f.tree.notify(f.tree.root(), NodeChange::info);
    f.pump();
    REQUIRE(f.nodes.size() == 3);
    const NodeEvent &satellite = f.nodes[0], &reference = f.nodes[1], &root = f.nodes[2];
    CHECK(satellite.parent == 0);
    CHECK(satellite.previous == 12);
    CHECK(satellite.next == 3);
    CHECK(reference.parent == 0);
    CHECK(reference.previous == 11);
    CHECK(reference.next == 12);
    CHECK(reference.head == 20);
    CHECK(root.head == 1);
    CHECK(root.tail == 41);
}

TEST_CASE("who may have satellites, and how deep they are nested") {
    SatelliteFixture f;
    f.synth(1);
    CHECK(f.make(2, AddAction::preceding, 0).code == Code::satellite_of_root);
    CHECK(f.make(2, AddAction::succeeding, 77).code == Code::node_not_found);
    CHECK(f.make(1, AddAction::succeeding, 1).code == Code::duplicate_node_id);
    CHECK(f.make(-3, AddAction::succeeding, 1).code == Code::reserved_node_id);
    CHECK(f.make(2, AddAction(8), 1).code == Code::failed);
    Group* made = nullptr;
    CHECK(f.tree.new_group(2, AddAction::succeeding, 1, made).code == Code::satellite_no_group);
    CHECK_FALSE(cluster_of(f.node(1)));
    for (int32_t id = 2; id < 2 + most_nested; ++id)
        f.synth(id, id % 2 ? AddAction::preceding : AddAction::succeeding, id - 1);
    CHECK(f.make(100, AddAction::succeeding, 1 + most_nested).code == Code::satellites_too_deep);
    f.synth(100, AddAction::succeeding, most_nested);
    CHECK(f.later() == "1 3 5 7 9 11 13 15 17 16 100 14 12 10 8 6 4 2: 18");
    f.tree.free(f.node(1));
    CHECK(f.shape() == "");
    CHECK(f.tree.synth_count() == 0);
}

TEST_CASE("without memory for a satellite its reference stays as it was") {
    for (const bool native : {false, true}) {
        Settings settings = settings_for(native);
        settings.rt_memory_kib = 64;
        SatelliteFixture f(settings);
        SynthDef def = counting_def();
        def.name = "wide";
        def.units.resize(1);
        for (int i = 0; i < 100; ++i)
            def.units.push_back(unit("SinOsc", Rate::control, {{i, 0}, {-1, 0}}, {Rate::control}));
        def.units.push_back(unit("Out", Rate::control, {{-1, 0}, {100, 0}}, {}));
        Definition* wide = f.define(def);
        int32_t id = 1;
        while (f.make(id, AddAction::tail, 0, float(id % 2)).ok())
            ++id;
        CHECK(f.make(id, AddAction::succeeding, 1).code == Code::out_of_memory);
        CHECK_FALSE(cluster_of(f.node(1)));
        for (const int32_t freed : {2, 4, 6, 8}) {
            f.tree.free(f.node(freed));
            Synth* made = nullptr; // there is room for it, but not for its voice's record
            CHECK(f.tree.new_synth(*wide, nullptr, id, AddAction::succeeding, 1, made).code == Code::out_of_memory);
            CHECK_FALSE(cluster_of(f.node(1)));
        }
        const int32_t last = id;
        for (int32_t freed = last / 2; freed < last; ++freed) {
            f.tree.free(f.node(freed));
            // There comes to be room for a cluster, for a part of the synth, and for all.
            for (int32_t reference = 1; f.make(id, AddAction::succeeding, reference, float(id % 3)).ok(); ++reference)
                ++id;
            (void)f.shape();
        }
        CHECK(id > last + 5);
    }
}

TEST_CASE("they are freed with their reference, or alone") {
    Clusters f;
    f.tree.free(f.node(12));
    CHECK(f.shape() == "1 10 11 2(20) 13 3 30 4 40 5 41");
    f.tree.free(f.node(5));
    CHECK(f.shape() == "1 10 11 2(20) 13 3 30 4");
    CHECK(f.events() == "e12 e40 e41 e5");
    f.tree.free(f.node(2));
    CHECK(f.events() == "e20 e10 e11 e13 e2");
    f.tree.free(f.node(30));
    CHECK_FALSE(cluster_of(f.node(4)));
    CHECK(f.later() == "1 3 4: 3");
}

TEST_CASE("/n_end of a reference tells its place when its satellites are gone") {
    Clusters f;
    f.tree.free(f.node(2));
    f.pump();
    const NodeEvent& end = f.nodes.back();
    CHECK(end.id == 2);
    CHECK(end.previous == 1);
    CHECK(end.next == 3);
}

TEST_CASE("freeing the synths of a group, and all in it") {
    Clusters f;
    NodeWalk walk;
    CHECK(f.tree.deep_free_in_time(f.tree.root(), walk));
    CHECK(f.shape() == "2()");
    CHECK_FALSE(cluster_of(f.node(2)));
    f.synth(6, AddAction::succeeding, 2);
    f.group(7, AddAction::tail, 2);
    f.synth(8, AddAction::succeeding, 7);
    CHECK(f.tree.free_all_in_time(f.tree.root()));
    CHECK(f.later() == ": 0");
    CHECK(f.tree.group_count() == 1);
}

TEST_CASE("a reference is replaced with its satellites, a satellite by another") {
    Clusters f;
    f.synth(50, AddAction::replace, 2);
    CHECK(f.shape() == "1 50 3 30 4 40 5 41");
    f.synth(5, AddAction::replace, 5);
    CHECK(f.shape() == "1 50 3 30 4 5");
    f.synth(31, AddAction::replace, 30);
    Group* made = nullptr;
    CHECK(f.tree.new_group(6, AddAction::replace, 31, made).code == Code::satellite_no_group);
    CHECK(f.later() == "1 50 3 31 4 5: 6");
    f.tree.free(f.node(31));
    f.synth(6, AddAction::replace, 5); // it is the only one
    f.synth(7, AddAction::preceding, 4);
    CHECK(f.shape() == "1 50 3 7 4 6");
    f.tree.free(f.node(4));
    CHECK(f.shape() == "1 50 3");
}

TEST_CASE("nothing stands between a reference and its satellites, and they move together") {
    Clusters f;
    f.synth(60, AddAction::before, 2);
    f.synth(61, AddAction::after, 2);
    f.synth(62, AddAction::before, 41);
    f.synth(63, AddAction::after, 40);
    CHECK(f.shape() == "1 60 10 11 2(20) 12 13 61 3 62 30 4 40 5 41 63");
    f.events();
    CHECK(move_now(f.tree, f.node(4), AddAction::head, f.tree.root()).ok());
    CHECK(f.events() == "m4");
    CHECK(move_now(f.tree, f.node(4), AddAction::tail, f.node(2)).ok());
    CHECK(move_now(f.tree, f.node(1), AddAction::after, f.node(41)).ok());
    CHECK(f.shape() == "60 10 11 2(20 30 4 40 5 41 1) 12 13 61 3 62 63");
    CHECK(f.tree.root().children == 10);
    CHECK(move_now(f.tree, f.node(2), AddAction::after, f.node(13)).ok()); // its own satellite
    CHECK(move_now(f.tree, f.node(2), AddAction::before, f.node(10)).ok());
    CHECK(move_now(f.tree, f.node(2), AddAction::tail, f.tree.root()).ok());
    CHECK(move_now(f.tree, f.node(2), AddAction::after, f.node(41)).code == Code::move_into_itself);
    CHECK(move_now(f.tree, f.node(13), AddAction::head, f.tree.root()).code == Code::satellite_moved);
    CHECK(f.later() == "60 61 3 62 63 10 11 2(20 30 4 40 5 41 1) 12 13: 16");
}

TEST_CASE("they are paused with their reference, and run again with it") {
    Clusters f;
    f.tree.set_run(f.node(12), false);
    f.tree.set_run(f.node(4), false);
    f.tree.set_run(f.node(2), false);
    CHECK(f.later() == "1 10 11 2'(20) 12' 13 3 30 4' 40 5 41: 2");
    f.tree.set_run(f.node(4), true);
    CHECK(f.later() == "1 10 11 2'(20) 12' 13 3 30 4 40 5 41: 7");
    f.tree.set_run(f.node(2), true);
    f.tree.set_run(f.node(12), true);
    CHECK(f.later() == std::string(f.all) + ": 12");
    CHECK(f.events() == "f12 f4 f2 n4 n2 n12");
    // A paused node's first satellite doesn't wake it, nor does its last one's end.
    f.tree.set_run(f.node(1), false);
    f.synth(9, AddAction::succeeding, 1);
    CHECK(f.later() == "1' 9 10 11 2(20) 12 13 3 30 4 40 5 41: 11");
    f.tree.free(f.node(9));
    CHECK(f.later() == "1' 10 11 2(20) 12 13 3 30 4 40 5 41: 11");
}

TEST_CASE("a walk goes on where it was when satellites or their reference go in the middle of it") {
    // How many synths are computed in each of the first blocks; in the first one 10 acts.
    const auto computed = [](AddAction relation, int action, AddAction other) {
        SatelliteFixture f;
        f.synth(1);
        f.synth(2);
        f.synth(10, relation, 1, float(action));
        if (other != relation)
            f.synth(11, other, 1);
        std::string counts;
        for (int block = 0; block < 4; ++block)
            counts += std::to_string(f.computed());
        return counts + " " + f.shape();
    };
    constexpr AddAction front = AddAction::preceding, behind = AddAction::succeeding;
    CHECK(computed(front, 2, front) == "3222 1 2");
    CHECK(computed(behind, 2, behind) == "3222 1 2");
    CHECK(computed(front, 2, behind) == "4333 1 11 2");
    CHECK(computed(behind, 2, front) == "4333 11 1 2");
    CHECK(computed(front, 4, front) == "2111 2"); // the reference has no turn any more
    CHECK(computed(front, 4, behind) == "2111 2");
    CHECK(computed(behind, 3, front) == "4111 2");
    CHECK(computed(front, 10, behind) == "3211 1' 11 2"); // what was before it stands still a block later
}

TEST_CASE("a satellite that ends in the block in which its reference pauses is freed") {
    for (const AddAction relation : {AddAction::preceding, AddAction::succeeding}) {
        SatelliteFixture f;
        f.synth(1, AddAction::tail, 0, 1);
        f.synth(2, relation, 1, 2);
        f.synth(3, AddAction::succeeding, 1);
        f.later();
        CHECK(f.later() == "1' 3: 0");
    }
}

TEST_CASE("what is to be ended in front of a synth stays so when the last satellite of it goes first") {
    SatelliteFixture f;
    for (int32_t id = 1; id < 4; ++id)
        f.synth(id);
    f.synth(20, AddAction::succeeding, 2);
    f.tree.done_action(7, *f.tree.find_synth(3));
    f.tree.free(f.node(20));
    CHECK(f.later() == ": 0");
}

TEST_CASE("a synth that is freed first takes its satellites with it before the next block") {
    Clusters f;
    f.tree.free_first(*f.tree.find_synth(4));
    CHECK(f.events() == "e4");
    CHECK(f.tree.finish_frees());
    CHECK(f.shape() == "1 10 11 2(20) 12 13 3");
    f.synth(5);
    f.synth(50, AddAction::succeeding, 5);
    f.synth(51, AddAction::succeeding, 50);
    f.tree.free_first(*f.tree.find_synth(50));
    CHECK(f.tree.finish_frees());
    CHECK_FALSE(cluster_of(f.node(5)));
    CHECK(f.later() == "1 10 11 2(20) 12 13 3 5: 8");
}

TEST_CASE("done actions: a satellite's only neighbour is its reference, and it is nobody's") {
    struct Case {
        int action;
        int32_t beside; // the acting synth is a satellite of this one, or comes behind 3 …
        AddAction as;
        const char* expected;
    };
    constexpr AddAction front = AddAction::preceding, behind = AddAction::succeeding, plain = AddAction::after;
    const Case cases[] = {
        // of a satellite behind its reference
        {1, 4, behind, "1 10 11 2(20) 12 13 3 30 4 40 5 41 99': 12"},
        {2, 4, behind, "1 10 11 2(20) 12 13 3 30 4 40 5 41: 12"},
        {3, 4, behind, "1 10 11 2(20) 12 13 3: 7"},
        {4, 4, behind, "1 10 11 2(20) 12 13 3 30 4 40 5 41: 12"},
        {5, 2, behind, "1 10 11 2() 12 13 3 30 4 40 5 41: 11"},
        {6, 2, behind, "1 10 11 2(20) 12 13 3 30 4 40 5 41: 12"},
        {7, 2, behind, "1 3 30 4 40 5 41: 7"},
        {8, 2, behind, "1 10 11 2(20) 12 13 3 30 4 40 5 41: 12"},
        {9, 4, behind, "1 10 11 2(20) 12 13 3 30 4' 40 5 41: 7"},
        {10, 4, behind, "1 10 11 2(20) 12 13 3 30 4 40 5 41: 12"},
        {11, 2, behind, "1 10 11 2() 12 13 3 30 4 40 5 41: 11"},
        {13, 5, behind, "1 10 11 2(20) 12 13 3 30 4: 9"},
        {14, 20, behind, "1 3 30 4 40 5 41: 7"},
        {14, 5, behind, "1 10 11 2(20) 12 13 3 30 4 40 5 41 99: 13"},
        // of one in front of it
        {2, 4, front, "1 10 11 2(20) 12 13 3 30 4 40 5 41: 12"},
        {3, 4, front, "1 10 11 2(20) 12 13 3 30 4 40 5 41: 12"},
        {4, 4, front, "1 10 11 2(20) 12 13 3: 7"},
        {5, 2, front, "1 10 11 2(20) 12 13 3 30 4 40 5 41: 12"},
        {6, 2, front, "1 10 11 2() 12 13 3 30 4 40 5 41: 11"},
        {7, 2, front, "1 10 11 2(20) 12 13 3 30 4 40 5 41: 12"},
        {8, 5, front, "1 10 11 2(20) 12 13 3 30 4: 9"},
        {10, 4, front, "1 10 11 2(20) 12 13 3 30 4' 40 5 41: 7"},
        {12, 2, front, "1 10 11 2() 12 13 3 30 4 40 5 41: 11"},
        {13, 2, front, "1 3 30 4 40 5 41: 7"},
        // of no satellite; what is behind it is a cluster
        {4, 3, plain, "1 10 11 2(20) 12 13 3: 7"},
        {8, 1, plain, "1: 1"},
        {6, 1, plain, "1 10 11 2() 12 13 3 30 4 40 5 41: 11"},
        {10, 1, plain, "1 10 11 2'(20) 12 13 3 30 4 40 5 41: 7"},
        {12, 1, plain, "1 10 11 2() 12 13 3 30 4 40 5 41: 11"},
        {13, 3, plain, ": 0"},
        // … and what is in front of it
        {3, 2, plain, "1 3 30 4 40 5 41: 7"},
        {5, 2, plain, "1 10 11 2() 12 13 3 30 4 40 5 41: 11"},
        {7, 2, plain, "3 30 4 40 5 41: 6"},
        {9, 2, plain, "1 10 11 2'(20) 12 13 3 30 4 40 5 41: 7"},
        {11, 2, plain, "1 10 11 2() 12 13 3 30 4 40 5 41: 11"},
    };
    for (const Case& each : cases) {
        CAPTURE(each.action);
        CAPTURE(each.beside);
        CAPTURE(int(each.as));
        Clusters f;
        f.synth(99, each.as, each.beside, float(each.action));
        f.later();
        CHECK(f.later() == each.expected);
    }
    // The acting synth is a reference itself.
    const std::pair<int, const char*> of_reference[] = {
        {1, "1 2 98 99' 97 3: 3"},
        {2, "1 2 3: 3"},
        {3, "1 3: 2"},
        {4, "1 2: 2"},
        {7, "3: 1"},
        {8, "1 2: 2"},
        {13, ": 0"},
        {14, "1 2 98 99 97 3: 6"},
    };
    for (const auto& each : of_reference) {
        const int action = each.first;
        CAPTURE(action);
        SatelliteFixture f;
        for (int32_t id = 1; id < 4; ++id)
            f.synth(id);
        f.synth(99, AddAction::after, 2, float(action));
        f.synth(98, AddAction::preceding, 99);
        f.synth(97, AddAction::succeeding, 99);
        f.later();
        CHECK(f.later() == each.second);
    }
}

TEST_CASE("100,000 satellites are paused and moved in one step, and freed in pieces") {
    Settings settings;
    settings.max_nodes = 200'000;
    settings.rt_memory_kib = 256 * 1024;
    SatelliteFixture f(settings);
    f.group(1);
    f.group(2);
    f.synth(3);
    constexpr int32_t first = 10, many = 100'000;
    for (int32_t i = 0; i < many; ++i)
        f.synth(first + i, i % 2 ? AddAction::preceding : AddAction::succeeding, 3);
    CHECK(f.tree.root().children == many + 3);
    int64_t now = 0;
    f.engine->set_clock({[](void* time) { return *static_cast<int64_t*>(time) += 1000; }, &now});
    f.tree.set_run(f.node(3), false);
    CHECK(move_now(f.tree, f.node(3), AddAction::head, f.node(1)).ok());
    f.tree.set_run(f.node(3), true);
    CHECK(now == 0); // nobody asked what time it is
    CHECK(f.tree.find_group(1)->children == many + 1);
    CHECK(f.tree.root().children == 2);
    f.render(64);
    CHECK(f.tree.synth_count() == many + 1);
    f.tree.free(f.node(3));
    CHECK(f.tree.synth_count() == 0);
    CHECK(f.shape() == "1() 2()");
}

// ---- random trees

namespace {

/// A tree as it is described, with nothing clever in it.
struct Model {
    struct Item {
        int32_t id;
        bool is_group = false, runs = true;
        Item *group = nullptr, *reference = nullptr; ///< of a satellite only the reference
        std::vector<Item*> children, preceding, succeeding;
    };

    Model() { root = &add(0, true); }

    Item& add(int32_t id, bool is_group) {
        auto& item = items[id] = std::make_unique<Item>();
        item->id = id;
        item->is_group = is_group;
        return *item;
    }
    std::vector<Item*>& list_of(const Item& item) {
        if (!item.reference)
            return item.group->children;
        auto& in_front = item.reference->preceding;
        return std::count(in_front.begin(), in_front.end(), &item) ? in_front : item.reference->succeeding;
    }
    bool precedes(const Item& item) { return item.reference && &list_of(item) == &item.reference->preceding; }
    static Item& outermost(Item& item) { return item.reference ? outermost(*item.reference) : item; }
    static Item* group_of(Item& item) { return outermost(item).group; }
    static int depth(const Item& item) { return item.reference ? 1 + depth(*item.reference) : 0; }
    /// Whether the item is in the group, at any depth, or the group itself.
    static bool within(Item& item, const Item& group) {
        Item* const around = group_of(item);
        return &item == &group || (around && within(*around, group));
    }

    void put(Item& item, AddAction action, Item& target) {
        if (action == AddAction::preceding || action == AddAction::succeeding) {
            item.reference = &target;
            (action == AddAction::preceding ? target.preceding : target.succeeding).push_back(&item);
            return;
        }
        const bool into = goes_into(action);
        Item& beside = outermost(target);
        item.group = into ? &target : beside.group;
        auto& list = item.group->children;
        auto at = into ? (action == AddAction::tail ? list.end() : list.begin())
                       : std::find(list.begin(), list.end(), &beside) + (action == AddAction::after);
        list.insert(at, &item);
    }
    void take_out(Item& item) { std::erase(list_of(item), &item); }
    void replace(Item& item, Item& target) {
        item.group = target.group;
        item.reference = target.reference;
        std::replace(list_of(target).begin(), list_of(target).end(), &target, &item);
        forget(target);
    }
    /// Frees an item that is in no list any more.
    void forget(Item& item) {
        for (auto* list : {&item.children, &item.preceding, &item.succeeding})
            for (Item* each : std::vector(*list))
                forget(*each);
        ended.push_back(item.id);
        items.erase(item.id);
    }
    void free(int32_t id) {
        if (id == 0 || !items.count(id))
            return;
        Item& item = *items[id];
        take_out(item);
        forget(item);
    }
    void free_all(const std::vector<Item*>& all) {
        std::vector<int32_t> ids;
        for (const Item* item : all)
            ids.push_back(item->id);
        for (const int32_t id : ids)
            free(id);
    }
    void deep_free(Item& group) {
        std::vector<Item*> synths;
        for (auto& [id, item] : items)
            if (!item->is_group && group_of(*item) && within(*group_of(*item), group))
                synths.push_back(item.get());
        free_all(synths);
    }
    Item* neighbour(Item& item, bool behind) {
        if (item.reference)
            return behind == precedes(item) ? item.reference : nullptr;
        auto& list = item.group->children;
        const auto at = std::find(list.begin(), list.end(), &item) - list.begin() + (behind ? 1 : -1);
        return at >= 0 && at < ssize(list) ? list[size_t(at)] : nullptr;
    }
    /// What ends on one side by the done actions 7, 8 and 13.
    std::vector<Item*> side(Item& item, bool behind) {
        std::vector<Item*> all;
        for (Item* at = neighbour(item, behind); at; at = item.reference ? nullptr : neighbour(*at, behind))
            all.push_back(at);
        return all;
    }
    void act(Item& item, int action) {
        Item *const previous = neighbour(item, false), *const next = neighbour(item, true);
        Item* const other =
            action == 4 || action == 6 || action == 10 || action == 12 || action == 15 ? next : previous;
        std::vector<Item*> freed{&item};
        switch (action) {
        case 1: item.runs = false; return;
        case 3:
        case 4:
            if (other)
                freed.push_back(other);
            break;
        case 5:
        case 6:
            if (other && other->is_group)
                freed.insert(freed.end(), other->children.begin(), other->children.end());
            else if (other)
                freed.push_back(other);
            break;
        case 7:
        case 8:
        case 13:
            for (const bool behind : {false, true})
                if (action == 13 || behind == (action == 8))
                    for (Item* each : side(item, behind))
                        freed.push_back(each);
            break;
        case 9:
        case 10:
        case 15:
            if (other)
                other->runs = action == 15;
            break;
        case 11:
        case 12:
            if (other && other->is_group)
                deep_free(*other);
            else if (other)
                freed.push_back(other);
            break;
        case 14: freed = group_of(item) == root ? std::vector<Item*>() : std::vector{group_of(item)}; break;
        default: break;
        }
        free_all(freed);
    }
    std::string shape(const std::vector<Item*>& list) const {
        std::string text;
        for (const Item* item : list) {
            const auto add = [&](const std::string& part) { text += text.empty() || part.empty() ? part : " " + part; };
            add(shape(item->preceding));
            add(std::to_string(item->id) + (item->runs ? "" : "'") +
                (item->is_group ? "(" + shape(item->children) + ")" : ""));
            add(shape(item->succeeding));
        }
        return text;
    }
    bool computed(Item& item) {
        return &item == root || (item.runs && computed(item.reference ? *item.reference : *item.group));
    }
    int count_computed() {
        int count = 0;
        for (auto& [id, item] : items)
            count += !item->is_group && computed(*item);
        return count;
    }

    std::map<int32_t, std::unique_ptr<Item>> items;
    std::vector<int32_t> ended;
    Item* root;
};

class RandomTree {
public:
    RandomTree(unsigned seed, bool native) : f_(settings_for(native)), random_(seed) {}

    void step() {
        switch (below(10)) {
        case 0:
        case 1: make(false); break;
        case 2: make(true); break;
        case 3:
        case 4: make_satellite(); break;
        case 5: move(); break;
        case 6: pause(); break;
        case 7: free(); break;
        default: act();
        }
        compare();
    }

private:
    int below(int count) { return int(random_() % unsigned(count)); }
    template <class Wanted>
    Model::Item* any(Wanted wanted) {
        std::vector<Model::Item*> found;
        for (auto& [id, item] : m_.items)
            if (wanted(*item))
                found.push_back(item.get());
        return found.empty() ? nullptr : found[size_t(below(int(found.size())))];
    }
    Model::Item* any_node() {
        return any([&](auto& item) { return &item != m_.root; });
    }
    Model::Item& any_group() {
        return *any([](auto& item) { return item.is_group; });
    }
    Model::Item* target_for(AddAction action) { return goes_into(action) ? &any_group() : any_node(); }

    void make(bool is_group, float done_action = 0) {
        const AddAction action = AddAction(below(6));
        Model::Item* target = target_for(action);
        if (!target)
            return;
        // A replaced node gives its ID to the new one at times.
        const bool same = action == AddAction::replace && below(2) == 0;
        const int32_t id = same ? target->id : ++last_;
        Group* made = nullptr;
        const Status status =
            is_group ? f_.tree.new_group(id, action, target->id, made) : f_.make(id, action, target->id, done_action);
        if (is_group && action == AddAction::replace && target->reference) {
            CHECK(status.code == Code::satellite_no_group);
            return;
        }
        REQUIRE(status.ok());
        made_ = id;
        if (action != AddAction::replace) {
            m_.put(m_.add(id, is_group), action, *target);
            return;
        }
        const int32_t replaced = target->id;
        Model::Item& item = m_.add(++last_, is_group);
        m_.replace(item, *target);
        std::erase(m_.ended, replaced); // there is no /n_end
        auto handle = m_.items.extract(item.id);
        handle.key() = item.id = id;
        m_.items.insert(std::move(handle));
    }
    void make_satellite(float done_action = 0) {
        Model::Item* target = any_node();
        if (!target || Model::depth(*target) == most_nested)
            return;
        const AddAction relation = below(2) ? AddAction::preceding : AddAction::succeeding;
        f_.synth(++last_, relation, target->id, done_action);
        m_.put(m_.add(last_, false), relation, *target);
        made_ = last_;
    }
    void move() {
        constexpr AddAction actions[] = {AddAction::head, AddAction::tail, AddAction::before, AddAction::after};
        const AddAction action = actions[below(4)];
        Model::Item *moved = any_node(), *target = target_for(action);
        if (!moved || !target)
            return;
        const Status status = move_now(f_.tree, f_.node(moved->id), action, f_.node(target->id));
        Model::Item* const into = goes_into(action) ? target : Model::group_of(*target);
        if (moved->reference) {
            CHECK(status.code == Code::satellite_moved);
        } else if (Model::within(*into, *moved)) {
            CHECK(status.code == Code::move_into_itself);
        } else {
            REQUIRE(status.ok());
            if (!goes_into(action) && &Model::outermost(*target) == moved)
                return;
            m_.take_out(*moved);
            m_.put(*moved, action, *target);
        }
    }
    void pause() {
        if (Model::Item* item = any_node())
            f_.tree.set_run(f_.node(item->id), item->runs = !item->runs);
    }
    void free() {
        Model::Item* item = any_node();
        if (item && below(3)) {
            f_.tree.free(f_.node(item->id));
            m_.free(item->id);
            return;
        }
        Model::Item& group = any_group();
        if (below(2)) {
            CHECK(f_.tree.free_all_in_time(static_cast<Group&>(f_.node(group.id))));
            m_.free_all(group.children);
        } else {
            NodeWalk walk;
            CHECK(f_.tree.deep_free_in_time(static_cast<Group&>(f_.node(group.id)), walk));
            m_.deep_free(group);
        }
    }
    /// A new synth performs its done action in the middle of a block, if it is computed.
    void act() {
        const int action = 1 + below(15);
        made_ = 0;
        f_.render(64); // all others have run once
        if (below(2))
            make(false, float(action));
        else
            make_satellite(float(action));
        if (!made_)
            return;
        Model::Item& item = *m_.items[made_];
        if (below(2)) { // it is a reference, too
            const AddAction relation = below(2) ? AddAction::preceding : AddAction::succeeding;
            if (Model::depth(item) < most_nested) {
                f_.synth(++last_, relation, item.id);
                m_.put(m_.add(last_, false), relation, item);
            }
        }
        const bool computed = m_.computed(item);
        f_.render(acting_frames);
        if (computed) {
            m_.act(item, action);
        } else {
            f_.tree.free(f_.node(item.id));
            m_.free(item.id);
        }
        f_.render(64); // what has ended goes
    }
    void compare() {
        std::string ends;
        f_.pump();
        std::vector<int32_t> ended;
        for (const NodeEvent& event : f_.nodes)
            if (event.change == NodeChange::end)
                ended.push_back(event.id);
        f_.nodes.clear();
        std::sort(ended.begin(), ended.end());
        std::sort(m_.ended.begin(), m_.ended.end());
        CHECK(ended == m_.ended);
        m_.ended.clear();
        REQUIRE(f_.shape() == m_.shape(m_.root->children));
        CHECK(f_.tree.synth_count() + f_.tree.group_count() == int(m_.items.size()));
        CHECK(f_.computed() == m_.count_computed());
        REQUIRE(f_.shape() == m_.shape(m_.root->children));
    }

    SatelliteFixture f_;
    Model m_;
    std::mt19937 random_;
    int32_t last_ = 0, made_ = 0; ///< IDs: the last of all, and of the node that the last step made
};

} // namespace

TEST_CASE("random trees with satellites are what a plain description makes of them") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        RandomTree tree(seed, seed % 2);
        for (int i = 0; i < 120; ++i) {
            CAPTURE(i);
            tree.step();
        }
    }
}
