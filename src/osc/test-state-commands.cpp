// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"
#include "osc/test-calm.hpp"
#include "osc/test-rig.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;

namespace {

/// A file that is removed at the end.
struct TemporaryFile {
    const std::string path = "/tmp/scs-test-state-" + std::to_string(getpid()) + ".osc";
    ~TemporaryFile() { ::unlink(path.c_str()); }
};

void settle(Client& client) {
    (void)client.until_synced();
}

/// Groups, a paused synth, one that is mapped, a satellite, buffers and buses.
void play(Client& client) {
    const Bytes calm = synthdef("calm", "TestCalm");
    client.send("/d_recv", {std::span<const std::byte>(calm)});
    CHECK(client.receive() == "/done /d_recv");
    client.send("/g_new", {1, 1, 0});
    client.send("/p_new", {2, 1, 1});
    client.send("/s_new", {std::string_view("calm"), 1000, 1, 2, std::string_view("gate"), 0.25f});
    client.send("/s_new", {std::string_view("calm"), 1001, 0, 1, 0, 5.f, 1, 6.f});
    client.send("/n_map", {1001, std::string_view("gate"), 7});
    client.send("/n_run", {1000, 0});
    client.send("/sat_new", {std::string_view("calm"), 1002, 0, 1001});
    client.send("/s_new", {std::string_view("calm"), -1, 1, 0});
    client.send("/b_alloc", {4, 3, 2});
    CHECK(client.receive() == "/done /b_alloc 4");
    client.send("/b_setn", {4, 0, 6, 1.f, 2.f, 3.f, 4.f, 5.f, 6.f});
    client.send("/c_setn", {7, 2, 0.5f, -1.5f});
    settle(client);
}

/// All that play() has made, as the server tells it.
std::vector<std::string> told(Client& client) {
    client.send("/g_queryTree", {0, 1});
    client.send("/b_query", {4});
    client.send("/b_getn", {4, 0, 6});
    client.send("/c_getn", {7, 2});
    return client.until_synced();
}

/// Synths that have no ID of their own get another one.
std::string without_hidden_ids(std::string text) {
    for (size_t at = text.find(" -"); at != std::string::npos; at = text.find(" -", at + 1))
        if (text.compare(at, 3, " -1") != 0 || std::isdigit(text[at + 3])) {
            const size_t end = text.find(' ', at + 1);
            text.replace(at, end - at, " hidden");
        }
    return text;
}

void check_all_there(Client& client, const std::vector<std::string>& before) {
    const std::vector<std::string> now = told(client);
    REQUIRE(now.size() == before.size());
    for (size_t i = 0; i < now.size(); ++i)
        CHECK(without_hidden_ids(now[i]) == without_hidden_ids(before[i]));
}

} // namespace

TEST_CASE("what a server has is saved, and restored by another one") {
    define_calm();
    const TemporaryFile file;
    std::vector<std::string> before;
    {
        Rig rig;
        Client client(rig);
        play(client);
        before = told(client);
        REQUIRE(before.size() == 4);
        client.send("/state_save", {std::string_view(file.path)});
        CHECK(client.receive() == "/done /state_save");
    }
    SUBCASE("by a command, which frees what it had") {
        Rig rig;
        Client client(rig);
        client.send("/g_new", {1, 0, 0});
        client.send("/g_new", {77, 0, 1});
        client.send("/b_alloc", {9, 5});
        CHECK(client.receive() == "/done /b_alloc 9");
        client.send("/notify", {1});
        CHECK(client.receive() == "/done /notify 0 4");
        client.send("/state_restore", {std::string_view(file.path)});
        std::vector<std::string> news;
        while (news.empty() || news.back() != "/done /state_restore") {
            news.push_back(client.receive());
            REQUIRE(news.back() != "");
        }
        CHECK(std::ranges::any_of(news, [](auto& line) { return line.starts_with("/n_end 77 "); }));
        CHECK(std::ranges::count_if(news, [](auto& line) { return line.starts_with("/n_go"); }) ==
              5); // nobody hears of the one without an ID
        check_all_there(client, before);
        client.send("/b_query", {9});
        CHECK(client.receive().starts_with("/b_info 9 5 1"));
        CHECK(rig.log().find("6 of 6 nodes are back") != std::string::npos);
    }
    SUBCASE("at its start") {
        ServerSettings settings;
        settings.restore = file.path;
        Rig rig(settings);
        Client client(rig);
        settle(client);
        check_all_there(client, before);
    }
}

TEST_CASE("what can't be saved or restored is answered") {
    define_calm();
    const TemporaryFile file;
    Rig rig;
    Client client(rig);
    client.send("/state_save", {std::string_view("/nonexistent/x")});
    CHECK(client.receive() == "/fail /state_save File '/nonexistent/x': No such file or directory");
    client.send("/state_restore", {std::string_view("/nonexistent/x")});
    CHECK(client.receive() == "/fail /state_restore File '/nonexistent/x': No such file or directory");
    client.send("/state_restore", {5});
    CHECK(client.receive() == "/fail /state_restore wrong argument type");
    client.send("/g_new", {5});
    client.send("/state_save", {std::string_view("/dev/full")});
    CHECK(client.receive().starts_with("/fail /state_save File '/dev/full': it isn't written whole: "));
    std::ofstream(file.path) << "no score";
    client.send("/state_restore", {std::string_view(file.path)});
    CHECK(client.receive().starts_with("/fail /state_restore File '" + file.path + "': bundle 1 at byte 0: "));
    client.send("/g_queryTree", {0, 0}); // and nothing has changed
    CHECK(client.receive() == "/g_queryTree.reply 0 0 1 5 0");
}

TEST_CASE("a server that may touch one folder saves nothing elsewhere") {
    ServerSettings settings;
    settings.restricted_path = "/tmp/nonexistent";
    Rig rig(settings);
    Client client(rig);
    client.send("/state_save", {std::string_view("/tmp/x.osc")});
    CHECK(client.receive() == "/fail /state_save File '/tmp/x.osc': access denied");
}

TEST_CASE("what is sent after a /state_save waits for it as after any job") {
    const TemporaryFile file;
    Rig rig;
    Client client(rig);
    client.send("/g_new", {5});
    client.send("/state_save", {std::string_view(file.path)});
    client.send("/sync", {7});
    CHECK(client.receive() == "/done /state_save");
    CHECK(client.receive() == "/synced 7");
}

TEST_CASE("a synth of a SynthDef that was replaced comes back with the new one's controls") {
    define_calm();
    const TemporaryFile file;
    Rig rig;
    Client client(rig);
    const Bytes calm = synthdef("calm", "TestCalm");
    client.send("/d_recv", {std::span<const std::byte>(calm)});
    CHECK(client.receive() == "/done /d_recv");
    client.send("/s_new", {std::string_view("calm"), 1000, 0, 0, 0, 5.f});
    settle(client);
    client.send("/d_recv", {std::span<const std::byte>(calm)});
    CHECK(client.receive() == "/done /d_recv");
    client.send("/s_new", {std::string_view("calm"), 1001, 1, 0, 0, 6.f});
    client.send("/state_save", {std::string_view(file.path)});
    CHECK(client.receive() == "/done /state_save");
    client.send("/state_restore", {std::string_view(file.path)});
    CHECK(client.receive() == "/done /state_restore");
    client.send("/g_queryTree", {0, 1});
    CHECK(client.receive() == "/g_queryTree.reply 1 0 2 1000 -1 calm 3 freq 1f 1 2f gate 3f "
                              "1001 -1 calm 3 freq 6f 1 2f gate 3f");
}

TEST_CASE("samples lie in files if all is kept, and not if SynthDefs alone are") {
    const std::filesystem::path folder = "/dev/shm/scs-test-keeping-" + std::to_string(getpid());
    for (const bool all : {true, false}) {
        ServerSettings settings;
        settings.keep = all ? "all" : "definitions";
        settings.keep_path = folder;
        Rig rig(settings);
        Client client(rig);
        client.send("/b_alloc", {4, 100});
        CHECK(client.receive() == "/done /b_alloc 4");
        const auto is_of_samples = [](auto& file) { return file.path().filename().string().starts_with("samples-"); };
        CHECK(std::ranges::count_if(std::filesystem::directory_iterator(folder), is_of_samples) == all);
    }
    CHECK(std::filesystem::is_empty(folder));
    std::filesystem::remove_all(folder);
}
