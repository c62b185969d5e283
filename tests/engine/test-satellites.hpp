// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/nodes/cluster.hpp"
#include "test-support.hpp"

#include <doctest/doctest.h>

#include <string>

// What the tests of satellites share.
namespace scs::test {

constexpr float acting_time = 0.001f; // s, from a synth's start to its done action; less than two blocks
constexpr int acting_frames = 128;

/// Adds 1 to control bus 0, and has a done action soon. Control 0 is its number.
inline SynthDef acting_def() {
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

inline Settings settings_for(bool native) {
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

} // namespace scs::test
