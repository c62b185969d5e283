// SPDX-License-Identifier: GPL-3.0-or-later
// Every crash of a plugin's code is told where the server prints, also where no client waits for an answer.
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"
#include "osc/test-rig.hpp"

#include <span>
#include <string>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;

namespace {

volatile int* volatile nowhere = nullptr;

void crash() {
    *nowhere = 1;
}

void define_all() {
    PluginRegistry& registry = PluginRegistry::instance();
    registry.define_unit(
        "TestBadEnd", sizeof(::Unit), [](::Unit* unit) { unit->mCalcFunc = [](::Unit*, int) {}; },
        [](::Unit*) { crash(); }, 0);
    registry.define_command(
        "testBadBegin", [](::World*, void*, ::sc_msg_iter*, void*) { crash(); }, nullptr);
    registry.define_buf_gen("testBad", [](::World*, ::SndBuf*, ::sc_msg_iter*) { crash(); });
}

void play(Client& client, int id) {
    const Bytes definition = synthdef("bad", "TestBadEnd");
    client.send("/d_recv", {std::span<const std::byte>(definition)});
    REQUIRE(client.receive() == "/done /d_recv");
    client.send("/s_new", {"bad", id});
    REQUIRE(client.until_synced().empty());
}

std::string bad_end(int id) {
    return "UGen 'TestBadEnd' of synth " + std::to_string(id) + " (bad) crashed when its synth was freed\n";
}

} // namespace

TEST_CASE("a UGen's destructor") {
    define_all();
    Rig rig;
    Client client(rig);
    play(client, 1000);
    CHECK(rig.log().find("crashed") == std::string::npos);
    client.send("/n_free", {1000});
    CHECK(client.until_synced().empty());
    CHECK(rig.log().find(bad_end(1000)) != std::string::npos);
}

TEST_CASE("a UGen's destructor when the server ends") {
    define_all();
    Rig rig;
    Client client(rig);
    play(client, 1000);
    play(client, 1001);
    const std::string log = rig.end();
    CHECK(log.find(bad_end(1000)) != std::string::npos);
    CHECK(log.find(bad_end(1001)) != std::string::npos);
}

TEST_CASE("a command's first stage, and a buffer's generator") {
    define_all();
    Rig rig;
    Client client(rig);
    client.send("/cmd", {"testBadBegin"});
    CHECK(client.receive() == "/fail /cmd failed");
    CHECK(rig.log().find("plugin command 'testBadBegin' crashed\n") != std::string::npos);
    client.send("/b_alloc", {5, 16});
    CHECK(client.receive() == "/done /b_alloc 5");
    client.send("/b_gen", {5, "testBad", 1});
    CHECK(client.receive() == "/fail /b_gen buf gen routine 'testBad' crashed");
    CHECK(rig.log().find("FAILURE IN SERVER /b_gen buf gen routine 'testBad' crashed\n") != std::string::npos);
}
