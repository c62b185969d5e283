// SPDX-License-Identifier: GPL-3.0-or-later
// No rule of the data loop is broken while it plays, whatever is asked of it: each OSC command's part there, links
// made and broken, quanta, pauses, late and scheduled bundles, a full event ring.
#include "control-sequence.hpp"
#include "engine/world/test-reader.hpp"
#include "guarded.hpp"
#include "playing.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>
#include <utility>

using namespace scs::test;

namespace {

bool guarded_build() {
    std::string reason;
    if (rt_guard_works(reason))
        return true;
    MESSAGE("skipped: " << reason);
    return false;
}

void check_no_breach() {
    for (const Breach& breach : take_breaches(stock_breaches()))
        FAIL_CHECK(breach.what << " at " << breach.where);
}

scs::NtpTime now_and(double seconds) {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return scs::ntp_from_unix(now.tv_sec, uint32_t(now.tv_nsec)) + scs::NtpTime(int64_t(seconds * 4294967296.0));
}

/// A folder for files. It is destroyed after the node, whose worker may be writing a file.
struct Folder {
    Folder() {
        std::string name = std::filesystem::temp_directory_path() / "scs-rt-XXXXXX";
        REQUIRE(mkdtemp(name.data()));
        path = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    std::filesystem::path path;
};

/// A node that plays under guard, with synths, groups, buffers and a client that is notified.
struct Rig {
    static inline const Host::Dict native{{"scsynth.allow-quit", "true"}, {"scsynth.native-ugens", "true"}};
    Folder folder;
    Host host;
    Playing p;

    explicit Rig(Host::Dict info = {{"scsynth.allow-quit", "true"}}) : host(library()), p(host, std::move(info)) {
        p.define("sine", sine(1000));
        p.define("click", click);
        p.node->link(out, 0);
        p.node->link(in, 0);
        p.node->start();
        send({osc_message("/notify", {1}), osc_message("/g_new", {10, 0, 0, 11, 0, 0}),
              osc_message("/s_new", {"sine", 1000, 0, 10}), osc_message("/s_new", {"sine", 1001, 1, 11}),
              osc_message("/b_alloc", {0, 4096, 2}), osc_message("/b_alloc", {1, 4096, 1})});
    }
    std::string file(const char* name) const { return folder.path / name; }
    std::vector<std::string> send(const std::vector<Bytes>& messages) {
        for (const Bytes& message : messages)
            p.client->send(message);
        return p.settle(100);
    }
};

/// A message for each command, and for most of them several variants.
std::vector<Bytes> all_commands(const Rig& rig) {
    const auto m = [](const char* address, const std::vector<OscArg>& args = {}) { return osc_message(address, args); };
    return {
        m("/none"),
        m("/status"),
        m("/version"),
        m("/rtMemoryStatus"),
        m("/dumpOSC", {1}),
        m("/dumpOSC", {0}),
        m("/error", {0}),
        m("/error", {1}),
        m("/cmd", {"nothing"}),
        m("/u_cmd", {1000, 0, "nothing"}),
        m("/d_recv", {synthdef_file("other", sine(100))}),
        m("/d_recv", {Bytes(10)}),
        m("/d_load", {rig.file("*.scsyndef")}),
        m("/d_loadDir", {rig.folder.path.string()}),
        m("/s_new", {"other", 1002, 0, 0, "freq", 100.f, 0, 1.f}),
        m("/s_new", {"other", 1003, 2, 1002}),
        m("/s_new", {"other", 1004, 3, 1002}),
        m("/s_new", {"other", 1005, 4, 1004}),
        m("/s_new", {"other", -1, 0, 0}),
        m("/s_newargs", {"other", 1006, 0, 0}),
        m("/s_new", {"other", 1008, 5, 0}),
        m("/sat_new", {"other", 1010, 0, 1000, "freq", 100.f, 0, 1.f}),
        m("/sat_new", {"other", 1011, 1, 1000}),
        m("/sat_new", {"other", 1012, 1, 1011}),
        m("/sat_new", {"other", 1013, 1, 10}),
        m("/sat_new", {"other", 1014, 1, 1008}),
        m("/sat_new", {"other", 1015, 1, 0}),
        m("/sat_new", {"other", 1016, 2, 1000}),
        m("/s_new", {"other", 1014, 4, 1014}),
        m("/n_free", {1011, 1008}),
        m("/s_new", {"missing", 1007, 0, 0}),
        m("/s_new", {"other", 1002, 0, 0}),
        m("/s_get", {1002, 0}),
        m("/s_getn", {1002, 0, 1}),
        m("/s_noid", {1006}),
        m("/n_trace", {1000}),
        m("/n_cmd", {1000}),
        m("/n_run", {1000, 0}),
        m("/n_run", {1000, 1}),
        m("/n_set", {1000, 0, 1.f, "freq", 2.f}),
        m("/n_set", {10, "freq", 2.f}),
        m("/n_setn", {1000, 0, 1, 1.f}),
        m("/n_fill", {1000, 0, 1, 1.f}),
        m("/n_map", {1000, 0, 1}),
        m("/n_mapn", {1000, 0, 1, 1}),
        m("/n_mapa", {1000, 0, 1}),
        m("/n_mapan", {1000, 0, 1, 1}),
        m("/n_before", {1003, 1002}),
        m("/n_after", {1003, 1002}),
        m("/n_query", {1000, 10}),
        m("/n_order", {0, 10, 1000, 1001}),
        m("/n_set", {9999, 0, 1.f}),
        m("/n_free", {1003, 9999}),
        m("/g_new", {12, 0, 0, 13, 1, 12}),
        m("/p_new", {14, 0, 0, 15, 5, 14}),
        m("/g_head", {14, 11}),
        m("/g_head", {12, 1002}),
        m("/g_head", {12, 1010, 12, 1000}),
        m("/g_tail", {12, 1004}),
        m("/g_queryTree", {0, 0}),
        m("/g_queryTree", {0, 1}),
        m("/g_queryCost", {0}),
        m("/g_queryCost", {0, 10, 0, 11, 1}),
        m("/g_queryCost", {9999}),
        m("/n_list"),
        m("/n_list", {0, 9999, 0, 1000, -1}),
        m("/n_list", {9999}),
        m("/n_status", {1000, 10, 9999}),
        m("/s_query", {1000, 10, 9999}),
        m("/d_list"),
        m("/d_list", {1000, 1, 1}),
        m("/d_list", {0, 0, 0, "other"}),
        m("/b_list"),
        m("/b_list", {5}),
        m("/bind_list"),
        m("/server_info"),
        m("/trace_start"),
        m("/trace_start"),
        m("/trace_read", {1}),
        m("/trace_read", {9999}),
        m("/bind_keys", {1, "other", 0, 0, "voices", 4, "set", "freq", 2.f}),
        m("/bind_keys", {1, "other"}),
        m("/bind_keys", {2, "other", 0, 0, "voices", 0}),
        m("/bind_controller", {3, 7, "c5"}),
        m("/bind_controller", {4, "bend", 1000, "freq", "curve", "exponential", "low", 1.f}),
        m("/bind_command", {6, "trigger", "id", 1, "/c_set", 5, "$1"}),
        m("/bind_command", {7, "noteOn", "number", 60, "/s_new", "other", -1, 0, 1, "freq", "$2"}),
        m("/bind_command", {8, "reply", "path", "/x"}),
        m("/bind_midi", {5, "channel", 1}),
        m("/midi_send", {0, "noteOn", 0, 60, 1.f}),
        m("/midi_send", {0, "songPosition", 0, 0, 100}),
        m("/midi_send", {0, "none"}),
        m("/midi_send", {0, "bend", 0, 0, 5.f}),
        m("/bind_command", {9, "beat", "of", "transport", "division", 4, "/c_set", 5, "$1"}),
        m("/bind_beat", {16, "transport", "c8"}),
        m("/bind_beat", {17, "midi", "c12", "beats-per-bar", 3}),
        m("/bind_beat", {18, "sun", "c12"}),
        m("/bind_beat", {19, "link", "c16", "beats-per-bar", 3}),
        m("/bind_moved", {}),
        m("/bind_list"),
        m("/bind_list", {1, 2}),
        m("/bind_list", {1, 2, 3}),
        m("/bind_free", {1, 3, 6, 7, 16, 17, 19, 9}),
        m("/g_dumpTree", {0, 0}),
        m("/g_dumpTree", {0, 1}),
        m("/g_freeAll", {12}),
        m("/g_deepFree", {12}),
        m("/n_free", {13}),
        m("/pointer", {0.5f, 0.25f, 1}),
        m("/pointer", {2.f, 0.f, 0}),
        m("/bind_command", {20, "button", "/c_set", 5, "$1"}),
        m("/bind_controller", {21, "axis3", "c5"}),
        m("/hid", {1, "axis", 3, 0.5f}),
        m("/hid", {1, "button", 304, 1}),
        m("/pointer", {0.5f, 0.25f, 0}),
        m("/hid", {1, "button", 304, 0.5f}),
        m("/bind_moved", {}),
        m("/transport_next", {"begin"}),
        m("/transport", {"start"}),
        m("/transport_next", {}),
        m("/transport", {"tempo", 2.f}),
        m("/transport_next", {}),
        m("/link_set", {"tempo", 2.f}),
        m("/link", {7.f, 2.f, 2.f, 1, 0.f}),
        m("/link", {7.f, 2.f, 0.f, 1, 0.f}),
        m("/link_set", {"tempo", 2.5f}),
        m("/link_set", {"jump", 1, 4}),
        m("/link_set", {"none", 1, 4}),
        m("/c_set", {0, 1.f}),
        m("/c_setn", {0, 2, 1.f, 2.f}),
        m("/c_fill", {0, 2, 1.f}),
        m("/c_get", {0}),
        m("/c_getn", {0, 2}),
        m("/c_set", {-1, 1.f}),
        m("/b_gen", {1, "sine1", 7, 1.f, 0.5f}),
        m("/b_gen", {1, "sine2", 7, 1.f, 0.5f}),
        m("/b_gen", {1, "sine3", 7, 1.f, 0.5f, 0.f}),
        m("/b_gen", {1, "cheby", 7, 1.f, 0.5f}),
        m("/b_gen", {1, "copy", 0, 0, 0, -1}),
        m("/b_gen", {1, "normalize", 1.f}),
        m("/b_gen", {1, "nothing"}),
        m("/b_set", {0, 0, 1.f}),
        m("/b_setn", {0, 0, 2, 1.f, 2.f}),
        m("/b_fill", {0, 0, 2, 1.f}),
        m("/b_get", {0, 0}),
        m("/b_getn", {0, 0, 2}),
        m("/b_query", {0, 1, 2}),
        m("/b_setSampleRate", {0, 44100.f}),
        m("/b_write", {0, rig.file("a.wav"), "wav", "float", -1, 0, 0}),
        m("/b_allocRead", {2, rig.file("a.wav")}),
        m("/b_allocReadChannel", {3, rig.file("a.wav"), 0, 0, 0}),
        m("/b_read", {0, rig.file("a.wav"), 0, -1, 0, 0}),
        m("/b_readChannel", {1, rig.file("a.wav"), 0, -1, 0, 0, 0}),
        m("/b_read", {0, rig.file("none.wav")}),
        m("/b_write", {0, rig.file("b.wav"), "wav", "float", 0, 0, 1}),
        m("/b_close", {0}),
        m("/b_zero", {0}),
        m("/b_alloc", {0, 100, 1, m("/b_query", {0})}),
        m("/b_free", {2}),
        m("/b_free", {3}),
        m("/state_save", {rig.file("s.osc")}),
        m("/state_restore", {rig.file("s.osc")}),
        m("/state_restore", {rig.file("none.osc")}),
        m("/b_alloc", {-1, 1}),
        m("/d_free", {"other"}),
        m("/clearSched"),
        m("/notify", {0}),
        m("/notify", {1}),
        m("/nothing"),
        m("/sync", {1}),
        m("/trace_read", {1}),
        m("/trace_stop", {1}),
        m("/trace_stop", {9999}),
        m("/nrt_end"),
    };
}

} // namespace

namespace {

void each_command(Rig&& rig) {
    const Guarded guarded(rig.host);
    for (const Bytes& command : all_commands(rig)) {
        CAPTURE(std::string(reinterpret_cast<const char*>(command.data())));
        rig.send({command});
        check_no_breach();
    }
    rig.send({osc_message("/d_freeAll")});
    check_no_breach();
}

} // namespace

TEST_CASE("each command") {
    if (guarded_build())
        each_command(Rig());
}

TEST_CASE("each command, to native synths") {
    if (guarded_build())
        each_command(Rig(Rig::native));
}

TEST_CASE("scopes and control buses in shared memory, from the start of their synths to the end") {
    if (!guarded_build())
        return;
    Rig rig;
    ShmReader client("SuperColliderServer_" + rig.p.node->properties["scsynth.osc.port"]);
    rig.p.define("scope", {{"DC", {{-1, 0.5f}}},
                           {"ScopeOut2", {{-1, 3}, {-1, 4096}, {-1, 1000}, {0, 0}, {0, 0}}, false},
                           {"In", {{-1, 2}}}});
    const Guarded guarded(rig.host);
    for (int id = 2000; id < 2003; ++id) {
        rig.send({osc_message("/s_new", {"scope", id, 0, 0}), osc_message("/s_new", {"scope", id + 100, 0, 0}),
                  osc_message("/c_set", {2, 1.f})});
        rig.host.cycles(100, 256);
        check_no_breach();
        CHECK(ShmReader::pull(client.scope(3)) == 1000);
        CHECK(ShmReader::data(client.scope(3))[4096 + 999] == 0.5f);
        rig.send({osc_message("/n_free", {id, id + 100})});
        check_no_breach();
        CHECK_FALSE(ShmReader::valid(client.scope(3)));
    }
}

TEST_CASE("all commands at once, and in bundles that are due, late and far") {
    if (!guarded_build())
        return;
    Rig rig;
    const Guarded guarded(rig.host);
    rig.host.position().clock.nsec = 0; // from now on in step with the wall clock
    const std::vector<Bytes> commands = all_commands(rig);
    rig.send(commands);
    check_no_breach();
    for (const double when : {-5.0, 0.0, 0.05, 0.1}) {
        for (size_t i = 0; i < commands.size(); i += 8)
            rig.p.client->send(osc_bundle(now_and(when), {commands.begin() + long(i),
                                                          commands.begin() + long(std::min(i + 8, commands.size()))}));
        rig.p.client->send(osc_bundle(now_and(3600), {osc_message("/s_new", {"sine", 5000, 0, 0})}));
        rig.p.settle();
        rig.host.cycles(100, 256);
        check_no_breach();
    }
    rig.send({osc_message("/clearSched")});
    check_no_breach();
}

namespace {

void links_quanta_pauses_and_suspension(const Host::Dict& info) {
    if (!guarded_build())
        return;
    Rig rig(info);
    const Guarded guarded(rig.host);
    HostNode& node = *rig.p.node;
    constexpr uint32_t quanta[] = {64, 16, 100, 441, 1024, 8192, 1};
    for (int round = 0; round < 20; ++round) {
        rig.host.cycles(5, quanta[round % 7]);
        node.unlink(out, 0);
        rig.host.cycles(2, quanta[(round + 1) % 7]);
        node.link(out, 0, 8192, 2);
        node.link(out, 1);
        rig.host.cycles(2, quanta[(round + 2) % 7]);
        node.unlink(out, 1);
        node.unlink(in, 0);
        node.link(in, 0);
        node.pause();
        node.start();
        node.give_position(round % 2);
        rig.host.cycles(2, 256);
        node.suspend();
        node.link(out, 0);
        node.link(in, 0);
        node.start();
        rig.host.position().clock.rate = {1, round % 2 ? 44100u : 48000u};
        rig.send({osc_message("/s_new", {"sine", -1, 0, 0})});
    }
    check_no_breach();
}

} // namespace

TEST_CASE("links, quanta, rates, pauses and suspension") {
    links_quanta_pauses_and_suspension({});
}

TEST_CASE("the same, resampled from and to 44100 Hz at times, and from 96000 always") {
    links_quanta_pauses_and_suspension({{"scsynth.sample-rate", "44100"}});
    links_quanta_pauses_and_suspension({{"scsynth.sample-rate", "96000"}, {"scsynth.inputs", "0"}});
}

namespace {

void synths_come_and_go(Rig&& rig) {
    const Guarded guarded(rig.host);
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 200; ++i)
            rig.p.client->send(osc_message("/s_new", {i % 2 ? "sine" : "click", 2000 + i, 0, 0}));
        rig.send({osc_message("/s_new", {"sine", 2000, 0, 0})}); // the ID is taken
        rig.send({osc_message("/g_freeAll", {0})});
    }
    check_no_breach();
}

} // namespace

TEST_CASE("thousands of synths come and go") {
    if (guarded_build())
        synths_come_and_go(Rig());
}

TEST_CASE("thousands of native synths come and go") {
    if (guarded_build())
        synths_come_and_go(Rig(Rig::native));
}

TEST_CASE("more events than the ring holds") {
    if (!guarded_build())
        return;
    Rig rig;
    // 64 units that each send a trigger at every rise of the signal, faster than any thread can take them.
    std::vector<DefUnit> units = {{"Impulse", {{-1, 20000}, {-1, 0}}}};
    for (int i = 0; i < 64; ++i)
        units.push_back({"SendTrig", {{0, 0}, {-1, float(i)}, {-1, 1}}, false});
    rig.p.define("storm", units);
    const Guarded guarded(rig.host);
    rig.send({osc_message("/s_new", {"storm", 3000, 0, 0}), osc_message("/s_new", {"storm", 3001, 0, 0})});
    const auto dropped = [&] {
        rig.host.main().expire_timers();
        return rig.p.node->properties["scsynth.dropped-events"] != "0";
    };
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!dropped() && std::chrono::steady_clock::now() < end)
        rig.host.cycle(8192);
    CHECK(dropped());
    rig.p.client->send(osc_message("/g_freeAll", {0}));
    rig.host.cycles(10, 64);
    check_no_breach();
}

TEST_CASE("keys, controllers and what is malformed, on two ports that are linked and unlinked") {
    if (!guarded_build())
        return;
    for (const char* native : {"true", "false"}) {
        Rig rig({{"scsynth.native-ugens", native}, {"scsynth.control-inputs", "2"}, {"scsynth.control-osc", "true"}});
        for (const uint32_t port : {2u, 3u})
            REQUIRE(rig.p.node->link_control(port) == 0);
        rig.p.define("tells", {{"Impulse", {{-1, 400}, {-1, 0}}}, {"SendTrig", {{0, 0}, {-1, 2}, {-1, 440}}, false}});
        rig.send({osc_message("/s_new", {"tells", 1000, 0, 0}),
                  osc_message("/bind_command", {9, "trigger", "id", 2, "/s_new", "click", -1, 0, 0}),
                  osc_message("/bind_command", {10, "trigger", "/n_set", 0, "freq", "$1"}),
                  osc_message("/bind_command", {11, "trigger", "/n_free", 77}),
                  osc_message("/bind_command", {12, "noteOn", "/s_new", "sine", -1, 0, 0, "freq", "$2"}),
                  osc_message("/bind_command", {13, "noteOff", "/g_freeAll", 77}),
                  osc_message("/bind_keys", {1, "click", 0, 0, "voices", 4}),
                  osc_message("/bind_keys", {2, "sine", 0, 0, "voices", 8, "steal", "newest", "bend", "none"}),
                  osc_message("/bind_keys", {3, "sine", 0, 0, "mode", "legato", "curve", 3}),
                  osc_message("/bind_keys", {4, "missing", 0, 0}),
                  osc_message("/bind_keys", {5, "sine", 0, 77}),
                  osc_message("/bind_controller", {6, 7, "c5", "low", 1.f, "high", 2.f, "curve", "exponential"}),
                  osc_message("/bind_controller", {7, "bend", 1000, "freq"}),
                  osc_message("/bind_midi", {8}),
                  osc_message("/bind_beat", {14, "transport", "c8"}),
                  osc_message("/bind_beat", {15, "midi", "c12"}),
                  osc_message("/bind_command", {16, "beat", "division", 0.25f, "/n_set", 0, "freq", "$1"}),
                  osc_message("/bind_command", {17, "beat", "of", "midi", "/n_set", 0, "freq", "$1"}),
                  osc_message("/bind_beat", {16, "link", "c16"}),
                  osc_message("/link", {7.f, 2.f, 2.f, 1, 0.f})});
        const std::vector<Bytes> packets = {osc_message("/s_new", {"sine", -1, 0, 0, "freq", 300.f}),
                                            osc_message("/s_new", {"missing"}),
                                            osc_message("/n_set", {0, "freq", 200.f}),
                                            osc_message("/c_set", {1, 2.f, -1, 3.f}),
                                            osc_message("/b_alloc", {1, 64}),
                                            osc_message("/g_freeAll", {77})};
        std::mt19937 random(1);
        const auto events = [&] {
            std::vector<Control> found;
            for (int i = int(random() % 20); i > 0; --i) {
                const auto status = uint8_t(0x80 | (random() % 7) << 4 | random() % 2);
                found.push_back({uint32_t(random() % 300),
                                 SPA_CONTROL_Midi,
                                 {status, uint8_t(random() % 130), uint8_t(random() % 128)}});
                const Bytes& command = packets[random() % packets.size()];
                std::vector<uint8_t> body(command.size() - random() % 3);
                std::memcpy(body.data(), command.data(), body.size());
                found.push_back({uint32_t(random() % 300), SPA_CONTROL_OSC, body});
                found.push_back({uint32_t(random() % 300), SPA_CONTROL_Midi, {uint8_t(0xf8 + random() % 5)}});
                found.push_back(packet(uint32_t(random() % 300), {0x40000000 | uint32_t(random()) % 0x10000000, 7}));
            }
            return sequence(found);
        };
        rig.p.node->feed_control = [&](uint32_t, uint8_t* to, size_t size) {
            std::vector<uint8_t> bytes = events();
            bytes.resize(std::min(bytes.size() - random() % 3, size));
            std::copy(bytes.begin(), bytes.end(), to);
            return bytes.size();
        };
        // What feeds the port is no part of the node, and allocates: it runs before the guard.
        const Guarded guarded(rig.host);
        for (int i = 0; i < 300; ++i) {
            if (i % 100 == 50)
                rig.p.node->unlink(in, 2);
            if (i % 100 == 60)
                REQUIRE(rig.p.node->link_control(2) == 0);
            spa_io_position& position = rig.host.position();
            position.state = random() % 4;
            position.n_segments = random() % 3;
            position.segments[0].rate = 1;
            position.segments[0].position = random();
            position.segments[0].bar.flags = SPA_IO_SEGMENT_BAR_FLAG_VALID;
            position.segments[0].bar.signature_num = 4;
            position.segments[0].bar.bpm = double(random() % 300);
            position.segments[0].bar.beat = double(random());
            rig.host.cycle(uint32_t(64 + i % 3 * 100));
        }
        rig.send({osc_message("/bind_free", {1, 2, 3, 9, 12, 14, 15})});
        rig.host.cycles(20, 100);
        check_no_breach();
    }
}

TEST_CASE("notes and what synths tell, on control outputs that are linked, unlinked and too small") {
    if (!guarded_build())
        return;
    for (const char* native : {"true", "false"}) {
        Rig rig({{"scsynth.native-ugens", native},
                 {"scsynth.outputs", "1"},
                 {"scsynth.control-outputs", "3"},
                 {"scsynth.sample-rate", native == std::string("true") ? "44100" : "48000"}});
        HostNode& node = *rig.p.node;
        for (const uint32_t port : {1u, 2u})
            REQUIRE(node.link_control(out, port, 32768) == 0);
        REQUIRE(node.link_control(out, 3, 64) == 0);
        rig.p.define("tells", {{"Impulse", {{-1, 4000}, {-1, 0}}},
                               {"SendTrig", {{0, 0}, {-1, 2}, {-1, 0.5f}}, false},
                               {"SendReply", {{0, 0}, {-1, 2}, {-1, 2}, {-1, '/'}, {-1, 'a'}, {-1, 0.5f}}, false}});
        rig.send({osc_message("/s_new", {"tells", 2000, 0, 0}),
                  osc_message("/bind_command", {1, "trigger", "/midi_send", 0, "noteOn", 9, 36, "$1"}),
                  osc_message("/bind_command", {2, "trigger", "/midi_send", 1, "bend", 9, 0, "$1"}),
                  osc_message("/bind_command", {3, "reply", "path", "/a", "/midi_send", 2, "midiClock"}),
                  osc_message("/bind_command", {4, "trigger", "/midi_send", 3, "start"})});
        const Guarded guarded(rig.host);
        // What reads the ports is no part of the node: it runs after the guard.
        for (int i = 0; i < 200; ++i) {
            if (i == 50)
                node.unlink(out, 2);
            if (i == 60)
                REQUIRE(node.link_control(out, 2, 32768) == 0);
            if (i % 10 == 0)
                for (int note = 0; note < 20; ++note)
                    rig.p.client->send(osc_bundle(now_and(0.001 * note),
                                                  {osc_message("/midi_send", {note % 3, "noteOn", 0, note, 1.f})}));
            rig.host.cycle(uint32_t(64 + i % 3 * 100));
        }
        CHECK(node.sent(1).size() > 1000);
        CHECK(node.sent(2).size() > 300);
        CHECK(node.sent(3).size() > 100);
        rig.host.main().expire_timers();
        CHECK(std::stoi(node.properties["scsynth.control.unsent"]) > 100);
        check_no_breach();
    }
}

TEST_CASE("/quit and what comes after it") {
    if (!guarded_build())
        return;
    Rig rig;
    const Guarded guarded(rig.host);
    rig.p.client->send(osc_message("/quit"));
    CHECK(rig.host.main().run_until([&] {
        rig.host.cycle(100);
        return rig.p.node->properties["scsynth.state"] == "quit";
    }));
    rig.host.cycles(20, 100);
    check_no_breach();
}
