// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/registry.hpp"
#include "engine/plugins/world-abi.hpp"
#include "osc/test-rig.hpp"

#include <chrono>
#include <cstring>
#include <functional>
#include <span>
#include <thread>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;

namespace {

/// Writes over what lies behind it in the real-time memory.
void scribble(::Unit* unit) {
    unit->mCalcFunc = [](::Unit*, int) {};
    std::memset(unit + 1, 3, 65536);
}

bool wait_until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return condition();
}

} // namespace

TEST_CASE("an engine that a UGen broke is made anew") {
    PluginRegistry::instance().define_unit("TestScribble", sizeof(::Unit), scribble, nullptr, 0);
    Rig rig;
    Client client(rig);
    const Bytes definition = synthdef("evil", "TestScribble");
    client.send("/notify", {1});
    CHECK(client.receive() == "/done /notify 0 4");
    for (int round = 0; round < 2; ++round) {
        Engine* const before = rig.server().engine();
        client.send("/d_recv", {std::span<const std::byte>(definition)});
        REQUIRE(client.receive() == "/done /d_recv");
        client.send("/s_new", {"evil", 1000});
        for (int id = 2000; id < 2010; ++id)
            client.send("/g_new", {id});
        REQUIRE(wait_until([&] { return rig.server().engine() != before; }));
        while (!client.receive(200).empty()) {
        }
        client.send("/s_new", {"evil", 1000}); // its SynthDef is gone, too
        CHECK(client.receive() == "/fail /s_new SynthDef not found");
        client.send("/g_new", {5});
        CHECK(client.receive().starts_with("/n_go 5 0"));
    }
    CHECK(rig.log().find("it starts again without the nodes") != std::string::npos);
}
