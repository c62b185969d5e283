// SPDX-License-Identifier: GPL-3.0-or-later
// Synths that nobody hears: what the node says then, and what WirePlumber's policy has it say.
#include "fixture.hpp"
#include "unheard.hpp"

#include <doctest/doctest.h>
#include <spa/param/props.h>
#include <spa/pod/builder.h>

#include <cerrno>
#include <initializer_list>
#include <string>

using namespace scs::test;
using scs::spa::Unheard;

namespace {

constexpr bool plays = true, linked = true;

/// As the policy tells it: keys and texts in the Props' params.
int tell(HostNode& node, std::initializer_list<const char*> words) {
    uint8_t memory[4096];
    spa_pod_builder b{};
    spa_pod_builder_init(&b, memory, sizeof memory);
    spa_pod_frame object, list;
    spa_pod_builder_push_object(&b, &object, SPA_TYPE_OBJECT_Props, SPA_PARAM_Props);
    spa_pod_builder_prop(&b, SPA_PROP_params, 0);
    spa_pod_builder_push_struct(&b, &list);
    for (const char* word : words)
        spa_pod_builder_string(&b, word);
    spa_pod_builder_pop(&b, &list);
    auto* pod = static_cast<spa_pod*>(spa_pod_builder_pop(&b, &object));
    return spa_node_set_param(node.spa(), SPA_PARAM_Props, 0, pod);
}

struct PlayingNode {
    explicit PlayingNode(const Host::Dict& settings = {}) : node(host.create(settings)) { host.fake.synths = 1; }
    void seconds(int count) {
        for (int i = 0; i < count; ++i)
            host.main().expire_timers();
    }
    const std::vector<std::string>& said() const { return host.fake.warnings; }

    FakeHost host;
    std::unique_ptr<HostNode> node;
};

} // namespace

TEST_CASE("nothing is said while an output is linked, or nothing plays") {
    Unheard unheard;
    for (int i = 0; i < 10; ++i) {
        CHECK(unheard.second(plays, linked).empty());
        CHECK(unheard.second(!plays, linked).empty());
    }
    for (int i = 0; i < 10; ++i)
        CHECK(unheard.second(!plays, !linked).empty());
    CHECK_FALSE(unheard.asks());
}

TEST_CASE("after two seconds it is said, once in each silence") {
    Unheard unheard;
    for (int silence = 0; silence < 2; ++silence) {
        CHECK(unheard.second(plays, !linked).empty());
        CHECK(unheard.asks());
        CHECK(unheard.second(plays, !linked).find("systemctl --user restart wireplumber") != std::string::npos);
        for (int i = 0; i < 100; ++i)
            CHECK(unheard.second(plays, !linked).empty());
        for (int i = 0; i < 100; ++i)
            CHECK(unheard.second(i % 7 == 0, !linked).empty());
        CHECK(unheard.second(plays, linked).empty());
        CHECK_FALSE(unheard.asks());
    }
}

TEST_CASE("the policy's answer is said, and an empty one isn't") {
    Unheard unheard;
    unheard.second(plays, !linked);
    unheard.answer("");
    for (int i = 0; i < 10; ++i)
        CHECK(unheard.second(plays, !linked).empty());
    unheard.answer("there is no sink");
    CHECK(unheard.second(plays, !linked) == "no output is linked, so nobody hears the synths: there is no sink");
}

TEST_CASE("short rests don't matter, and an old answer doesn't count after long ones") {
    Unheard unheard;
    unheard.second(plays, !linked);
    unheard.answer("");
    unheard.second(!plays, !linked);
    unheard.second(!plays, !linked);
    CHECK(unheard.asks());
    CHECK(unheard.second(plays, !linked).empty());
    for (int i = 0; i < 3; ++i)
        unheard.second(!plays, !linked);
    CHECK_FALSE(unheard.asks());
    CHECK(unheard.second(plays, !linked).empty()); // nobody had time to answer
    CHECK(unheard.asks());
    CHECK_FALSE(unheard.second(plays, !linked).empty());
}

TEST_CASE("a node asks by a property, and warns") {
    PlayingNode playing;
    CHECK(playing.node->properties["scsynth.unheard"] == "false");
    playing.seconds(1);
    CHECK(playing.node->properties["scsynth.unheard"] == "true");
    CHECK(playing.said().empty());
    CHECK(tell(*playing.node, {"scsynth.unheard", "there is no sink"}) == 0);
    playing.seconds(5);
    REQUIRE(playing.said().size() == 1);
    CHECK(playing.said()[0].ends_with("there is no sink"));
    playing.host.fake.synths = 0;
    playing.seconds(3);
    CHECK(playing.node->properties["scsynth.unheard"] == "false");
}

TEST_CASE("nobody hears a node by its control outputs") {
    PlayingNode playing(Host::Dict{{"scsynth.control-outputs", "1"}});
    REQUIRE(playing.node->link_control(SPA_DIRECTION_OUTPUT, 2, 32768) == 0);
    playing.seconds(5);
    CHECK(playing.said().size() == 1);
    CHECK(playing.node->properties["scsynth.unheard"] == "true");
}

TEST_CASE("a node whose output is linked is heard") {
    PlayingNode playing;
    REQUIRE(playing.node->link(SPA_DIRECTION_OUTPUT, 1) == 0);
    playing.seconds(5);
    CHECK(playing.said().empty());
    CHECK(playing.node->properties["scsynth.unheard"] == "false");
    // The daemon takes the area with the last link, and leaves the buffers.
    spa_io_buffers* const none = nullptr;
    CHECK(spa_node_port_set_io(playing.node->spa(), SPA_DIRECTION_OUTPUT, 1, SPA_IO_Buffers, none, 0) == 0);
    playing.seconds(5);
    CHECK(playing.said().size() == 1);
}

TEST_CASE("in a client, an output without buffers isn't linked") {
    for (const bool format_goes : {false, true}) {
        CAPTURE(format_goes);
        PlayingNode playing;
        REQUIRE(playing.node->link(SPA_DIRECTION_OUTPUT, 0) == 0);
        playing.seconds(5);
        CHECK(playing.said().empty());
        if (format_goes)
            CHECK(spa_node_port_set_param(playing.node->spa(), SPA_DIRECTION_OUTPUT, 0, SPA_PARAM_Format, 0, nullptr) ==
                  0);
        else
            CHECK(spa_node_port_use_buffers(playing.node->spa(), SPA_DIRECTION_OUTPUT, 0, 0, nullptr, 0) == 0);
        playing.seconds(5);
        CHECK(playing.said().size() == 1);
    }
}

TEST_CASE("who links a node by hand, or needs no outputs, is told nothing") {
    for (const auto& setting : {std::pair{"scsynth.autoconnect", "false"}, std::pair{"scsynth.outputs", "0"}}) {
        CAPTURE(setting.first);
        PlayingNode playing(Host::Dict{{setting.first, setting.second}});
        REQUIRE(playing.node);
        playing.seconds(5);
        CHECK(playing.said().empty());
    }
}

TEST_CASE("the policy's notices are printed, and nothing else of the params is taken") {
    PlayingNode playing;
    playing.host.fake.synths = 0;
    CHECK(tell(*playing.node,
               {"scsynth.notice", "there is no Scarlett", "other", "words", "scsynth.notice", "twice"}) == 0);
    CHECK(playing.said() == std::vector<std::string>{"there is no Scarlett", "twice"});
    CHECK(tell(*playing.node, {}) == 0);
    CHECK(tell(*playing.node, {"scsynth.notice"}) == 0); // without a text
    CHECK(playing.said().size() == 2);
    CHECK(tell(*playing.node, {"scsynth.notice", std::string(2000, 'x').c_str()}) == 0);
    CHECK(playing.said().back().size() == 500);
}
