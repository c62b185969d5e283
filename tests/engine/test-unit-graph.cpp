// SPDX-License-Identifier: GPL-3.0-or-later
// Synths of very many plugins' units.
#include "engine/plugins/unit-graph.hpp"
#include "engine/rt/deadline.hpp"
#include "test-support.hpp"

#include <doctest/doctest.h>

using namespace scs;
using namespace scs::test;

namespace {

/// A plugin's noise, to which nothing is added `count` times, to the bus that control 0 names.
SynthDef chain_def(int count) {
    SynthDef def;
    def.name = "chain";
    def.constants = {0.f, 1.f, 20000.f, 1.9f};
    def.controls = {1e9f};
    def.control_names = {{"out", 0}};
    def.units = {
        unit("Control", Rate::control, {}, {Rate::control}),
        unit("CuspN", Rate::audio, {{-1, 2}, {-1, 1}, {-1, 3}, {-1, 0}}, {Rate::audio}),
    };
    for (int i = 0; i < count; ++i)
        def.units.push_back(unit("BinaryOpUGen", Rate::audio, {{i + 1, 0}, {-1, 0}}, {Rate::audio}));
    def.units.push_back(unit("Out", Rate::audio, {{0, 0}, {count + 1, 0}}, {}));
    return def;
}

} // namespace

TEST_CASE("a graph is laid out and constructed in pieces, and may be asked for a command before its units are there") {
    const int count = 1000;
    const auto sound = [&](bool in_pieces) {
        Fixture f(plugins_alone());
        Synth& synth = f.play(*f.define(chain_def(count)), 1);
        synth.graph->set_control(0, 0.f);
        if (in_pieces) {
            // Each question reads the clock, which comes to the deadline with the third.
            int64_t now = 0;
            Deadline deadline({[](void* data) { return ++*static_cast<int64_t*>(data); }, &now});
            int calls = 0;
            while (!synth.graph->constructed()) {
                now = 0;
                deadline.begin(3, 0);
                REQUIRE(synth.graph->construct(deadline));
                if (++calls == 1)
                    CHECK(synth.graph->command(count, "none", {}, {}).failed());
            }
            CHECK(calls > count);
        }
        return f.render(128);
    };
    const auto whole = sound(false);
    CHECK(*std::max_element(whole.begin(), whole.end()) > 0.001f);
    CHECK(sound(true) == whole);
}

TEST_CASE("a graph may have more units than the plugins' index of a unit can count") {
    for (const bool native : {true, false}) {
        Settings settings;
        settings.native_ugens = native;
        settings.rt_memory_kib = 64 << 10;
        Fixture f(settings);
        Definition* definition = f.define(chain_def(40'000));
        CHECK((!definition->kernels.empty() && definition->kernels[2] != nullptr) == native);
        Synth& synth = f.play(*definition, 1);
        f.render(64);
        CHECK(f.engine->tree().find(1) == &synth);
        CHECK(f.printed == "");
        synth.graph->set_control(0, 0.f);
        CHECK(f.render(64) != std::vector<float>(64));
    }
}
