// SPDX-License-Identifier: GPL-3.0-or-later
#include "test-satellites.hpp"
#include "engine/rt/deadline.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace scs;
using namespace scs::test;

namespace {

/// 1 [10 11 2(20) 12 13] 3 [30 4 [40 5 41]]: 2 and 4 with satellites before and after them, 5 is one of 4 and has its
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
    f.tree.events().notify(f.node(13), NodeChange::info);
    f.tree.events().notify(f.node(2), NodeChange::info);
    f.tree.events().notify(f.tree.root(), NodeChange::info);
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
    CHECK(f.tree.counts().synths() == 0);
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
    CHECK(f.tree.freeing().deep_free_in_time(f.tree.root(), walk));
    CHECK(f.shape() == "2()");
    CHECK_FALSE(cluster_of(f.node(2)));
    f.synth(6, AddAction::succeeding, 2);
    f.group(7, AddAction::tail, 2);
    f.synth(8, AddAction::succeeding, 7);
    CHECK(f.tree.freeing().free_all_in_time(f.tree.root()));
    CHECK(f.later() == ": 0");
    CHECK(f.tree.counts().groups() == 1);
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
    f.tree.runs().set_run(f.node(12), false);
    f.tree.runs().set_run(f.node(4), false);
    f.tree.runs().set_run(f.node(2), false);
    CHECK(f.later() == "1 10 11 2'(20) 12' 13 3 30 4' 40 5 41: 2");
    f.tree.runs().set_run(f.node(4), true);
    CHECK(f.later() == "1 10 11 2'(20) 12' 13 3 30 4 40 5 41: 7");
    f.tree.runs().set_run(f.node(2), true);
    f.tree.runs().set_run(f.node(12), true);
    CHECK(f.later() == std::string(f.all) + ": 12");
    CHECK(f.events() == "f12 f4 f2 n4 n2 n12");
    // A paused node's first satellite doesn't wake it, nor does its last one's end.
    f.tree.runs().set_run(f.node(1), false);
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
    f.tree.freeing().free_first(*f.tree.find_synth(4));
    CHECK(f.events() == "e4");
    CHECK(f.tree.freeing().finish());
    CHECK(f.shape() == "1 10 11 2(20) 12 13 3");
    f.synth(5);
    f.synth(50, AddAction::succeeding, 5);
    f.synth(51, AddAction::succeeding, 50);
    f.tree.freeing().free_first(*f.tree.find_synth(50));
    CHECK(f.tree.freeing().finish());
    CHECK_FALSE(cluster_of(f.node(5)));
    CHECK(f.later() == "1 10 11 2(20) 12 13 3 5: 8");
}

TEST_CASE("done actions: a satellite's only neighbour is its reference, and it is nobody's") {
    struct Case {
        int action;
        int32_t beside; // the acting synth is a satellite of this one, or comes after 3 …
        AddAction as;
        const char* expected;
    };
    constexpr AddAction front = AddAction::preceding, behind = AddAction::succeeding, plain = AddAction::after;
    const Case cases[] = {
        // of a satellite after its reference
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
        // of no satellite; what comes after it is a cluster
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
    f.tree.runs().set_run(f.node(3), false);
    CHECK(move_now(f.tree, f.node(3), AddAction::head, f.node(1)).ok());
    f.tree.runs().set_run(f.node(3), true);
    CHECK(now == 0); // nobody asked what time it is
    CHECK(f.tree.find_group(1)->children == many + 1);
    CHECK(f.tree.root().children == 2);
    f.render(64);
    CHECK(f.tree.counts().synths() == many + 1);
    f.tree.free(f.node(3));
    CHECK(f.tree.counts().synths() == 0);
    CHECK(f.shape() == "1() 2()");
}
