// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/schedule/test-threads.hpp"
#include "engine/world/buffers.hpp"
#include "engine/world/test-reader.hpp"
#include "osc/clients.hpp"
#include "osc/osc-command.hpp"
#include "osc/reply-port.hpp"
#include "osc/test-calm.hpp"
#include "osc/test-command-bench.hpp"
#include "osc/test-rig.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <semaphore>
#include <span>
#include <thread>
#include <unistd.h>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;

namespace {

/// Writes over what lies after it in the real-time memory.
void scribble(::Unit* unit) {
    unit->mCalcFunc = [](::Unit*, int) {};
    std::memset(unit + 1, 3, 65536);
}

ServerSettings keeping(const char* what) {
    ServerSettings settings;
    settings.keep = what;
    return settings;
}

/// Breaks the rig's engine and waits for the next one.
void break_engine(Rig& rig, Client& client) {
    Engine* const before = rig.server().engine();
    const Bytes definition = synthdef("evil", "TestScribble");
    client.send("/d_recv", {std::span<const std::byte>(definition)});
    REQUIRE(client.receive() == "/done /d_recv");
    client.send("/s_new", {"evil", 1000});
    for (int id = 2000; id < 2010; ++id)
        client.send("/g_new", {id});
    REQUIRE(wait_until([&] { return rig.server().engine() != before; }));
    while (!client.receive(200).empty()) {
    }
}

} // namespace

TEST_CASE("an engine that a UGen broke is made anew") {
    PluginRegistry::instance().define_unit("TestScribble", sizeof(::Unit), scribble, nullptr, 0);
    Rig rig(keeping("none"));
    Client client(rig);
    client.send("/notify", {1});
    CHECK(client.receive() == "/done /notify 0 4");
    for (int round = 0; round < 2; ++round) {
        break_engine(rig, client);
        client.send("/s_new", {"evil", 1000}); // its SynthDef is gone, too
        CHECK(client.receive() == "/fail /s_new SynthDef not found");
        client.send("/g_new", {5});
        CHECK(client.receive().starts_with("/n_go 5 0"));
    }
    CHECK(rig.log().find("it starts again without the nodes") != std::string::npos);
}

namespace {

/// A group with a synth, a buffer and a control bus.
void play(Client& client) {
    define_calm();
    const Bytes calm = synthdef("calm", "TestCalm");
    client.send("/d_recv", {std::span<const std::byte>(calm)});
    client.send("/g_new", {1, 1, 0});
    client.send("/b_alloc", {7, 3});
    (void)client.until_synced();
    client.send("/b_setn", {7, 0, 3, 1.f, 2.f, 3.f});
    client.send("/c_set", {9, 0.5f});
    (void)client.until_synced();
    client.send("/s_new", {"calm", 500, 1, 1, "gate", 0.25f});
    (void)client.until_synced();
    const std::string file = "/tmp/scs-test-broken-" + std::to_string(getpid()) + ".osc";
    client.send("/state_save", {std::string_view(file)}); // which is done when all is copied
    CHECK(client.receive() == "/done /state_save");
    ::unlink(file.c_str());
}

const std::string tree_with{"/g_queryTree.reply 1 0 1 1 1 500 -1 calm 3 freq 1f 1 2f gate 0.25f"};
const std::string tree_without{"/g_queryTree.reply 1 0 0"};
const std::string samples{"/b_setn 7 0 3 1f 2f 3f"};
const std::string no_samples{"/fail /b_getn index out of range"};

std::string answer(Client& client, std::string_view address, std::initializer_list<ReplyArg> args) {
    client.send(address, args);
    std::string lines;
    for (const std::string& line : client.until_synced())
        lines += line;
    return lines;
}

} // namespace

TEST_CASE("what an engine had that a UGen broke comes back, but not what may break the next one again and again") {
    PluginRegistry::instance().define_unit("TestScribble", sizeof(::Unit), scribble, nullptr, 0);
    Rig rig(keeping("all"));
    Client client(rig);
    play(client);
    break_engine(rig, client);
    CHECK(answer(client, "/g_queryTree", {0, 1}) == tree_with);
    CHECK(answer(client, "/b_getn", {7, 0, 3}) == samples);
    CHECK(answer(client, "/c_get", {9}) == "/c_set 9 0.5f");
    CHECK(rig.log().find("it starts again with the SynthDefs, buffers, buses and lasting nodes") != std::string::npos);
    CHECK(rig.log().find("2 of 2 nodes are back") != std::string::npos);
    break_engine(rig, client);
    CHECK(answer(client, "/g_queryTree", {0, 1}) == tree_without);
    CHECK(answer(client, "/b_getn", {7, 0, 3}) == samples);
    CHECK(answer(client, "/s_new", {"calm", 501}) == "");
    break_engine(rig, client);
    CHECK(answer(client, "/g_queryTree", {0, 1}) == tree_without);
    CHECK(answer(client, "/b_getn", {7, 0, 3}) == no_samples);
    CHECK(answer(client, "/s_new", {"calm", 501}) == "/fail /s_new SynthDef not found");
    CHECK(rig.log().find("it starts again without the nodes") != std::string::npos);
}

TEST_CASE("what was freed after an engine broke doesn't come back") {
    PluginRegistry::instance().define_unit("TestScribble", sizeof(::Unit), scribble, nullptr, 0);
    Rig rig(keeping("all"));
    Client client(rig);
    play(client);
    break_engine(rig, client);
    client.send("/g_freeAll", {0}); // as long as a synth is of it, a SynthDef comes back, too
    client.send("/d_free", {"calm"});
    client.send("/b_free", {7});
    (void)client.until_synced();
    break_engine(rig, client);
    CHECK(answer(client, "/b_getn", {7, 0, 3}) == no_samples);
    CHECK(answer(client, "/s_new", {"calm", 501}) == "/fail /s_new SynthDef not found");
}

TEST_CASE("SynthDefs come back alone if that is asked for") {
    PluginRegistry::instance().define_unit("TestScribble", sizeof(::Unit), scribble, nullptr, 0);
    Rig rig(keeping("definitions"));
    Client client(rig);
    play(client);
    break_engine(rig, client);
    CHECK(answer(client, "/g_queryTree", {0, 1}) == tree_without);
    CHECK(answer(client, "/b_getn", {7, 0, 3}) == no_samples);
    CHECK(answer(client, "/s_new", {"calm", 501}) == "");
}

TEST_CASE("a generator that a broken engine left behind leaves the next one's buffers alone") {
    PluginRegistry& registry = PluginRegistry::instance();
    registry.define_unit("TestScribble", sizeof(::Unit), scribble, nullptr, 0);
    static std::binary_semaphore go_on{0};
    static std::atomic<bool> begun{false};
    registry.define_buf_gen("testExchanges", [](::World*, ::SndBuf* buffer, ::sc_msg_iter*) {
        begun = true;
        go_on.acquire();
        buffer->data = allocate_samples(buffer->samples);
    });
    const std::string path = "/tmp/scs-test-left-behind-" + std::to_string(getpid()) + ".wav";
    Rig rig;
    Client client(rig);
    const auto allocate = [&] {
        client.send("/b_alloc", {7, 65536});
        CHECK(client.receive() == "/done /b_alloc 7");
    };
    allocate();
    client.send("/b_gen", {7, "testExchanges", 1});
    REQUIRE(wait_until([] { return begun.load(); }));
    break_engine(rig, client);
    CHECK(answer(client, "/b_getn", {7, 0, 3}) == no_samples); // the generator may go on writing there
    allocate();
    client.send("/b_write", {7, std::string_view(path), "wav", "float", 0, 0, 1});
    CHECK(client.receive() == "/done /b_write 7");
    const Buffers& buffers = rig.server().engine()->buffers();
    REQUIRE(buffers.latest(7).stream);
    go_on.release();
    CHECK(wait_until([] { return scs::test::threads_named("scsynth-plugins").empty(); }));
    CHECK(buffers.latest(7).stream);
    ::unlink(path.c_str());
}

TEST_CASE("the threads that helped a broken engine end") {
    PluginRegistry::instance().define_unit("TestScribble", sizeof(::Unit), scribble, nullptr, 0);
    ServerSettings settings;
    settings.engine.threads = 3;
    Rig rig(settings);
    Client client(rig);
    for (int round = 0; round < 2; ++round) {
        CHECK(wait_until([] { return scs::test::helper_threads().size() == 2; }));
        break_engine(rig, client);
    }
    CHECK(wait_until([] { return scs::test::helper_threads().size() == 2; }));
    CHECK(rig.log().find("left behind") == std::string::npos);
}

TEST_CASE("clients' shared memory becomes the new engine's, unless it is spoilt") {
    PluginRegistry::instance().define_unit("TestScribble", sizeof(::Unit), scribble, nullptr, 0);
    Rig rig(keeping("none"));
    Client client(rig);
    const std::string segment = "SuperColliderServer_" + std::to_string(rig.server().port());
    const auto set = [&] {
        client.send("/c_set", {7, 0.5f});
        client.send("/sync", {1});
        REQUIRE(client.receive() == "/synced 1");
    };
    scs::test::ShmReader reader(segment);
    set();
    CHECK(reader.control_buses()[7] == 0.5f);
    reader.control_buses()[100] = 1.f;
    break_engine(rig, client);
    CHECK(reader.control_buses()[100] == 0.f);
    set();
    CHECK(reader.control_buses()[7] == 0.5f);

    REQUIRE(::truncate(("/dev/shm/" + segment).c_str(), 100) == 0);
    break_engine(rig, client);
    set();
    scs::test::ShmReader again(segment);
    CHECK(again.control_buses()[7] == 0.5f);
}

namespace {

volatile int* volatile nowhere = nullptr;

class CrashingJob final : public OscJob {
public:
    using OscJob::OscJob;

private:
    void do_work() override { set_done_value(*nowhere); }
};

} // namespace

TEST_CASE("a job that crashes fails") {
    Engine::prepare_process();
    const Bytes bytes = message("/crash");
    const auto packet = std::make_shared<const Packet>(std::move(decode(bytes).value()));
    constexpr CommandSpec spec{.name = "/crash"};
    const ServerSettings settings;
    Services services(settings);
    CrashingJob job({packet, &packet->messages()[0], &spec, &services, {}});
    job.work();
    struct Port final : ReplyPort {
        bool send(const Endpoint&, std::string_view address, std::span<const ReplyArg> args) override {
            said = std::string(address) + " " + std::string(std::get<std::string_view>(args[1]));
            return true;
        }
        Clients& clients() override { return none; }
        void set_dump_mode(int) override {}
        void quit(const Endpoint&) override {}
        Clients none{1};
        std::string said;
    } port;
    job.answer(port);
    CHECK(port.said == "/fail crashed");
}

TEST_CASE("commands of plugins and units that crash end nothing else") {
    osc::test::CommandBench bench;
    PluginRegistry& registry = PluginRegistry::instance();
    registry.define_command(
        "testCrash", [](auto...) { (void)*nowhere; }, nullptr);
    define_calm();
    registry.define_unit_command("TestCalm", "crash", {[](::Unit*, ::sc_msg_iter*) { (void)*nowhere; }});
    CHECK(bench("/cmd", "testCrash", 1) == "[ \"/fail\", \"/cmd\", \"failed\" ]\n");
    const Bytes definition = synthdef("calm", "TestCalm");
    bench.run(message("/d_recv", {std::span<const std::byte>(definition)}));
    bench("/s_new", "calm", 1000, 0, 0);
    bench.render();
    CHECK(bench("/s_get", 1000, 0) == "[ \"/n_set\", 1000, 0, 1 ]\n");
    bench("/u_cmd", 1000, 0, "crash");
    CHECK(bench("/n_query", 1000) == "[ \"/fail\", \"/n_query\", \"Node 1000 not found\" ]\n");
}
