// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/test-rig.hpp"

#include <algorithm>
#include <sys/resource.h>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;
using Lines = std::vector<std::string>;

namespace {

ReplyArg text(std::string_view t) {
    return t;
}

ReplyArg blob(const Bytes& bytes) {
    return std::span<const std::byte>(bytes);
}

ReplyArg num(int32_t value) {
    return value;
}

void receive_definition(Client& client, std::string_view name) {
    client.send("/d_recv", {blob(synthdef(name, ""))});
    REQUIRE(client.receive() == "/done /d_recv");
}

/// synthdef() in version 3 of the format, with blocks of this many frames; 0: the server's.
Bytes synthdef_of_version_3(std::string_view name, int block_size) {
    constexpr int head = 10, version_at = 7, fields = 16;
    Bytes b = synthdef(name, "");
    b[version_at] = std::byte(3);
    Bytes size;
    put_int(size, 4 + b.size() - head + fields, 4);
    b.insert(b.begin() + head, size.begin(), size.end());
    put_int(b, uint64_t(block_size), 4);
    for (const uint32_t field : {0xffffffffu, 0x3f800000u, 0xffffffffu}) // no control, a factor of 1, no control
        put_int(b, field, 4);
    return b;
}

} // namespace

TEST_CASE("login") {
    Rig rig;
    Client first(rig), second(rig);
    first.send("/status");
    CHECK(first.receive().starts_with("/status.reply 1 0 0 1 0 "));
    first.send("status"); // the slash may be missing
    CHECK(first.receive().starts_with("/status.reply"));
    first.send("/notify", {num(1), num(2)});
    CHECK(first.receive() == "/done /notify 2 4");
    first.send("/notify", {num(1)});
    CHECK(first.receive() == "/fail /notify notify: already registered\n 2");
    second.send("/notify", {num(1), num(2)});
    CHECK(second.receive() == "/done /notify 0 4");
    second.send("/notify", {num(0)});
    CHECK(second.receive() == "/done /notify");
    second.send("/notify", {num(0)});
    CHECK(second.receive() == "/fail /notify not registered\n");
    second.send("/version");
    CHECK(second.receive().starts_with("/version.reply pw-scsynth 3 13 .0 "));
}

TEST_CASE("the real-time memory's status") {
    Rig rig;
    Client client(rig);
    const auto free_bytes = [&] {
        client.send("/rtMemoryStatus");
        const std::string reply = client.receive();
        int all = 0, largest = 0;
        REQUIRE(std::sscanf(reply.c_str(), "/rtMemoryStatus.reply %d %d", &all, &largest) == 2);
        CHECK(all >= largest);
        CHECK(largest > 0);
        return all;
    };
    const int before = free_bytes();
    client.send("/g_new", {num(1000)});
    CHECK(free_bytes() < before);
    client.send("/n_free", {num(1000)});
    CHECK(free_bytes() == before);
}

TEST_CASE("failures") {
    Rig rig;
    Client client(rig);
    client.send("/nosuch", {num(1)});
    CHECK(client.receive() == "/fail /nosuch Command not found");
    client.send("/n_free", {num(99)});
    CHECK(client.receive() == "/fail /n_free Node 99 not found");
    client.send("/s_new", {text("none")});
    CHECK(client.receive() == "/fail /s_new SynthDef not found");
    client.send("/s_new", {num(1)});
    CHECK(client.receive() == "/fail /s_new wrong argument type");
    client.send("/g_freeAll", {num(7)});
    CHECK(client.receive() == "/fail /g_freeAll Group 7 not found");
    client.send("/g_new", {num(-3), num(0), num(0)});
    CHECK(client.receive() == "/fail /g_new negative node IDs are reserved");
    client.send("/n_free", {num(0)});
    client.send("/error", {num(0)});
    client.send("/n_free", {num(99)});
    client.send("/error", {num(1)});
    client.send(bundle(1, {message("/error", {num(-1)}), message("/n_free", {num(98)})}));
    CHECK(client.until_synced().empty());
    client.send("/n_free", {num(97)});
    CHECK(client.receive() == "/fail /n_free Node 97 not found");
}

TEST_CASE("a broken SynthDef fails, and then is done") {
    Rig rig;
    Client client(rig);
    client.send("/d_recv", {blob(synthdef("bad", "NoSuchUGen")), blob(message("/status"))});
    CHECK(client.receive().starts_with("/status.reply "));
    CHECK(client.receive().starts_with("/fail /d_recv bad: UGen 'NoSuchUGen' not installed: "));
    CHECK(client.receive() == "/done /d_recv");
}

TEST_CASE("SynthDefs of version 3 play, those with blocks of their own, too") {
    Rig rig;
    Client client(rig);
    for (const int block : {0, 16}) {
        const int node = 1000 + block;
        client.send("/d_recv",
                    {blob(synthdef_of_version_3("later", block)), blob(message("/s_new", {text("later"), num(node)}))});
        CHECK(client.receive() == "/done /d_recv");
        client.send("/s_get", {num(node), text("gate")});
        CHECK(client.receive() == "/n_set " + std::to_string(node) + " gate 3f");
    }
}

TEST_CASE("a completion message is answered before the command, and a sync after all") {
    Rig rig;
    Client client(rig);
    client.send("/d_recv", {blob(synthdef("a", "")), blob(message("/s_new", {text("a"), num(1000)}))});
    client.send("/d_recv", {blob(synthdef("b", "")), blob(message("/s_get", {num(1000), text("gate"), num(0)}))});
    client.send("/sync", {num(5)});
    CHECK(client.receive() == "/done /d_recv");
    CHECK(client.receive() == "/n_set 1000 gate 3f 0 1f");
    CHECK(client.receive() == "/done /d_recv");
    CHECK(client.receive() == "/synced 5");
}

TEST_CASE("the tree is told, and can be asked for") {
    Rig rig;
    Client client(rig);
    receive_definition(client, "a");
    client.send("/notify", {num(1)});
    CHECK(client.receive() == "/done /notify 0 4");
    client.send("/g_new", {num(1), num(0), num(0)});
    CHECK(client.receive() == "/n_go 1 0 -1 -1 1 -1 -1");
    client.send("/s_new", {text("a"), num(1000), num(0), num(1), text("gate"), 9.0f});
    CHECK(client.receive() == "/n_go 1000 1 -1 -1 0");
    client.send("/n_map", {num(1000), text("freq"), num(12)});
    client.send("/g_queryTree", {num(0), num(1)});
    CHECK(client.receive() == "/g_queryTree.reply 1 0 1 1 1 1000 -1 a 3 freq c12 1 2f gate 9f");
    client.send("/g_queryTree", {num(0), num(0)});
    CHECK(client.receive() == "/g_queryTree.reply 0 0 1 1 1 1000 -1 a");
    client.send("/n_query", {num(1)});
    CHECK(client.receive() == "/n_info 1 0 -1 -1 1 1000 1000");
    client.send("/s_new", {text("a"), num(-1), num(3), num(1000)}); // negative IDs aren't told
    client.send("/n_set", {num(-1), text("gate"), 4.0f, num(0), text("a3")});
    client.send("/s_getn", {num(-1), text("freq"), num(2), num(2), num(1)});
    CHECK(client.receive() == "/n_setn -16 freq 2 1f 2f 2 1 4f");
    client.send("/n_after", {num(1000), num(-1)});
    CHECK(client.receive() == "/n_move 1000 1 -16 -1 0");
    client.send("/d_free", {text("a")});
    client.send("/g_freeAll", {num(0)});
    Lines lines{client.receive(), client.receive(), client.receive()};
    std::sort(lines.begin(), lines.end());
    CHECK(lines[0] == "/d_removed a");
    CHECK(lines[1].starts_with("/n_end 1 -1"));
    CHECK(lines[2].starts_with("/n_end 1000 -1"));
}

TEST_CASE("arrays, fills and runs of control values") {
    Rig rig;
    Client client(rig);
    receive_definition(client, "a");
    const auto controls = [&] {
        client.send("/s_getn", {num(1000), num(0), num(3)});
        return client.receive();
    };
    client.send("/s_new", {text("a"), num(1000)});
    client.send("/n_setn", {num(1000), text("freq"), num(2), 5.0f, 6.0f, num(2), num(1), 7.0f});
    CHECK(controls() == "/n_setn 1000 0 3 5f 6f 7f");
    client.send("/n_fill", {num(1000), num(-5), num(7), 8.0f});
    CHECK(controls() == "/n_setn 1000 0 3 8f 8f 7f");
    client.send("/n_fill", {num(1000), num(1), num(2147483647), 9.0f});
    CHECK(controls() == "/n_setn 1000 0 3 8f 9f 9f");
    client.send("/n_set", {num(1000), text("none"), 1.0f, num(70), 1.0f});
    CHECK(controls() == "/n_setn 1000 0 3 8f 9f 9f");
    // liblo can't write arrays: ,is[ff] by hand
    Bytes raw = message("/n_set", {num(1000), text("freq"), 1.5f, 2.5f});
    const char tags[] = ",isff\0\0\0";
    const char with_array[] = ",is[ff]\0";
    const auto at = std::search(raw.begin(), raw.end(), reinterpret_cast<const std::byte*>(tags),
                                reinterpret_cast<const std::byte*>(tags) + 8);
    REQUIRE(at != raw.end());
    std::copy_n(reinterpret_cast<const std::byte*>(with_array), 8, at);
    client.send(raw);
    CHECK(controls() == "/n_setn 1000 0 3 1.5f 2.5f 9f");
}

TEST_CASE("groups: adding again, moving into themselves, ordering") {
    Rig rig;
    Client client(rig);
    client.send("/g_new", {num(1), num(0), num(0), num(2), num(0), num(1), num(3), num(3), num(1)});
    client.send("/g_new", {num(1), num(0), num(0)}); // there already, and there it may be
    client.send("/g_head", {num(2), num(1)});
    CHECK(client.receive() == "/fail /g_head a group can't be moved into itself");
    client.send("/g_new", {num(2), num(0), num(0)});
    CHECK(client.receive() == "/fail /g_new duplicate node ID");
    client.send("/n_order", {num(0), num(0), num(3), num(77), num(1)});
    client.send("/g_queryTree", {num(0), num(0)});
    CHECK(client.receive() == "/g_queryTree.reply 0 0 2 3 0 1 1 2 0");
    client.send("/g_dumpTree", {num(0), num(0)});
    client.until_synced();
    CHECK(rig.log().find("NODE TREE Group 0\n   3 group\n   1 group\n      2 group\n") != std::string::npos);
    CHECK(rig.log().find("Warning Node not found\n") != std::string::npos);
}

TEST_CASE("malformed packets are counted and change nothing") {
    Rig rig;
    Client client(rig);
    client.send(Bytes(5, std::byte('x')));
    client.send(bundle(1, {message("/g_new", {num(5), num(0), num(0)}), Bytes(4, std::byte(0xff))}));
    client.send("/g_queryTree", {num(0), num(0)});
    CHECK(client.receive() == "/g_queryTree.reply 0 0 0");
    const PacketCounters& counters = rig.server().counters();
    CHECK(counters.received == 3);
    CHECK(counters.rejected == 2);
    CHECK(counters.decoded == 1);
}

TEST_CASE("without cycles the data loop is woken") {
    Rig rig({}, false);
    Client client(rig);
    client.send("/status");
    CHECK(client.receive().starts_with("/status.reply 1 "));
    receive_definition(client, "a");
    CHECK(rig.wakes() > 0);
}

TEST_CASE("once a /b_fill that the worker did is over, the data loop is left alone") {
    Rig rig({}, false);
    Client client(rig);
    client.send("/b_alloc", {num(0), num(100000)});
    CHECK(client.receive() == "/done /b_alloc 0");
    client.send("/b_fill", {num(0), num(0), num(100000), 0.5f});
    CHECK(client.until_synced() == Lines{});
    std::this_thread::sleep_for(std::chrono::milliseconds(800)); // what the /sync itself needs, and a copy of the tree
    const int wakes = rig.wakes();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    CHECK(rig.wakes() == wakes);
}

TEST_CASE("quit frees everything, and ends the server if it may") {
    for (const bool allowed : {true, false}) {
        ServerSettings settings;
        settings.allow_quit = allowed;
        Rig rig(settings);
        Client client(rig);
        receive_definition(client, "a");
        client.send("/s_new", {text("a"), num(1000)});
        client.send("/quit");
        CHECK(client.receive() == "/done /quit");
        if (allowed) {
            CHECK(rig.wait_for_quit());
        } else {
            client.send("/status");
            CHECK(client.receive().starts_with("/status.reply 1 0 0 1 0 "));
        }
    }
}

TEST_CASE("what comes right after a /quit is answered before the end") {
    Rig rig;
    Client client(rig);
    client.send("/quit");
    client.send("/sync", {num(7)});
    client.send("/c_get", {num(3)});
    Lines answers{client.receive(), client.receive()};
    std::ranges::sort(answers);
    CHECK(answers == Lines{"/c_set 3 0f", "/synced 7"});
    CHECK(client.receive() == "/done /quit");
    CHECK(rig.wait_for_quit());
}

TEST_CASE("the answer to /quit is the last word, and no failure is told after the command") {
    for (const bool ends : {true, false}) {
        CAPTURE(ends);
        ServerSettings settings;
        settings.allow_quit = ends;
        Rig rig(settings);
        Client client(rig), other(rig);
        for (Client* each : {&client, &other}) {
            each->send("/notify", {num(1)});
            CHECK(each->receive().starts_with("/done /notify"));
        }
        // As sclang's s.quit does with s.volume in use: the synth is gone when it is to be released.
        client.send(bundle(1, {message("/quit"), message("/n_set", {num(1000), text("gate"), 0.f})}));
        client.send("/n_free", {num(1000)});
        CHECK(client.receive() == "/done /quit");
        CHECK(client.receive(300) == "");
        CHECK(other.receive(10) == "");
        CHECK(rig.log().find("FAILURE") == std::string::npos);
        if (!ends) { // it goes on as before
            client.send("/n_free", {num(1000)});
            CHECK(client.receive() == "/fail /n_free Node 1000 not found");
        }
    }
}

TEST_CASE("a server that stays is silent for a second when it is told to quit again") {
    // sclang takes it for gone then, and starts another.
    ServerSettings settings;
    settings.allow_quit = false;
    Rig rig(settings);
    Client client(rig);
    for (int i = 0; i < 2; ++i) {
        client.send("/quit");
        CHECK(client.receive() == "/done /quit");
        client.send("/sync", {num(i)});
        CHECK(client.receive(300) == (i == 0 ? "/synced 0" : ""));
    }
    std::string answer;
    for (int tries = 0; tries < 100 && answer.empty(); ++tries) {
        client.send("/sync", {num(7)});
        answer = client.receive(100);
    }
    CHECK(answer == "/synced 7");
}

TEST_CASE("a client that goes on sending does not put off the end") {
    Rig rig;
    Client client(rig);
    client.send("/quit");
    std::atomic<bool> ended{false};
    std::thread sender([&, sync = message("/sync", {num(1)})] {
        while (!ended)
            (void)client.try_send(sync);
    });
    const bool quit = rig.wait_for_quit();
    ended = true;
    sender.join();
    CHECK(quit);
}

TEST_CASE("a malformed completion message fails its command, which does nothing") {
    Rig rig;
    Client client(rig);
    client.send("/d_recv", {blob(synthdef("a", "")), blob(Bytes(8, std::byte('?')))});
    CHECK(client.receive().starts_with("/fail /d_recv completion message: "));
    client.send("/s_new", {text("a")});
    CHECK(client.receive() == "/fail /s_new SynthDef not found");
}

TEST_CASE("a variant's values are those that a synth starts with") {
    Rig rig;
    Client client(rig);
    receive_definition(client, "a.loud");
    client.send("/s_new", {text("a.loud"), num(1000)}); // a definition with a dot in its name
    client.send("/s_new", {text("a.soft"), num(1001)});
    CHECK(client.receive() == "/fail /s_new SynthDef not found");
    client.send("/s_get", {num(1000), num(0)});
    CHECK(client.receive() == "/n_set 1000 0 1f");
}

TEST_CASE("an idle server sleeps") {
    Rig rig;
    Client client(rig);
    client.send("/status");
    client.receive();
    const auto switches = [] {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_nvcsw;
    };
    // The rig's data loop stops, so that what is counted is the server's.
    rig.stop_cycles();
    const long before = switches();
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
#if defined(__SANITIZE_THREAD__)
    constexpr long most = 50; // its runtime has a thread of its own
#else
    constexpr long most = 15;
#endif
    CHECK(switches() - before < most);
}

TEST_CASE("a taken port is an error that names it") {
    Rig rig;
    ServerSettings settings;
    settings.port = rig.server().port();
    const auto second = Server::start(std::move(settings));
    REQUIRE_FALSE(second);
    CHECK(second.error().find(std::to_string(rig.server().port())) != std::string::npos);
}

TEST_CASE("a client that asks for the status again and again while the engine starts is answered once") {
    ServerSettings settings;
    settings.port = 0;
    settings.load_synthdefs = false;
    settings.print_to = "/nowhere/socket"; // the worker complains of it before it makes the engine
    std::atomic<bool> go_on{false};
    settings.log = [&](ServerSettings::Level, const std::string&) {
        while (!go_on)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    std::atomic<Server*> running{nullptr};
    settings.wake = [&] {
        if (Server* server = running)
            server->engine()->run_idle();
    };
    auto started = Server::start(std::move(settings));
    REQUIRE(started);
    Server& server = *started.value();
    running = &server;
    const UdpPeer to{__builtin_bswap32(0x7f000001), __builtin_bswap16(server.port())};
    auto first = UdpSocket::open("127.0.0.1", 0), second = UdpSocket::open("127.0.0.1", 0);
    REQUIRE(first);
    REQUIRE(second);
    for (int i = 0; i < 5; ++i)
        for (UdpSocket* socket : {&first.value(), &second.value()})
            REQUIRE(socket->send(to, message("/status")));
    // What else waits is answered as ever: two messages in a packet, and another command.
    REQUIRE(first.value().send(to, bundle(1, {message("/status"), message("/sync", {num(1)})})));
    REQUIRE(first.value().send(to, message("/sync", {num(2)})));
    for (int i = 0; i < 10000 && server.counters().received < 12; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(server.counters().received == 12);
    go_on = true;

    const auto answers = [](UdpSocket& socket, int wait_ms) {
        Lines addresses;
        for (pollfd fd{socket.fd(), POLLIN, 0}; ::poll(&fd, 1, wait_ms) > 0;) {
            const auto datagram = socket.receive();
            REQUIRE(datagram);
            const auto packet = decode(datagram->bytes);
            REQUIRE(packet);
            addresses.emplace_back(packet.value().messages()[0].address);
            if (addresses.back() == "/synced" && addresses.size() >= 4)
                break;
        }
        return addresses;
    };
    CHECK(answers(first.value(), 10000) == Lines{"/status.reply", "/status.reply", "/synced", "/synced"});
    CHECK(answers(second.value(), 300) == Lines{"/status.reply"});
    // From now on each is answered.
    for (int i = 0; i < 2; ++i)
        REQUIRE(second.value().send(to, message("/status")));
    CHECK(answers(second.value(), 300).size() == 2);
    running = nullptr;
}
