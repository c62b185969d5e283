// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/descriptors.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/world/test-file-size-limit.hpp"
#include "osc/test-calm.hpp"
#include "osc/test-rig.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;
namespace fs = std::filesystem;

namespace {

/// A file that is removed at the end.
struct TemporaryFile {
    const std::string path = "/tmp/scs-test-state-" + std::to_string(getpid()) + ".osc";
    ~TemporaryFile() { ::unlink(path.c_str()); }
};

/// A folder that is removed at the end.
struct TemporaryFolder {
    const fs::path path = fs::canonical("/tmp") / ("scs-test-state-" + std::to_string(getpid()));
    TemporaryFolder() { fs::create_directory(path); }
    ~TemporaryFolder() { fs::remove_all(path); }
    std::string operator/(const char* name) const { return path / name; }
    ptrdiff_t files() const { return std::distance(fs::directory_iterator(path), fs::directory_iterator()); }
};

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The answer to such a command.
std::string answer(Client& client, std::string_view command, const std::string& path) {
    client.send(command, {std::string_view(path)});
    return client.receive();
}

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
    std::ofstream(file.path) << "no score";
    client.send("/state_restore", {std::string_view(file.path)});
    CHECK(client.receive().starts_with("/fail /state_restore File '" + file.path + "': bundle 1 at byte 0: "));
    client.send("/g_queryTree", {0, 0}); // and nothing has changed
    CHECK(client.receive() == "/g_queryTree.reply 0 0 1 5 0");
}

TEST_CASE("a state isn't restored of a file that has none, whatever its size") {
    const TemporaryFolder folder;
    Rig rig;
    Client client(rig);
    client.send("/g_new", {5});
    const std::string empty = folder / "empty", sparse = folder / "sparse", hole = folder / "hole";
    std::ofstream{empty};
    CHECK(answer(client, "/state_restore", empty) == "/fail /state_restore File '" + empty + "': it is empty");
    CHECK(answer(client, "/state_restore", "/proc/self/status") ==
          "/fail /state_restore File '/proc/self/status': it is empty");
    std::ofstream{sparse};
    fs::resize_file(sparse, 1 << 30);
    CHECK(answer(client, "/state_restore", sparse).find("bundle 1 at byte 0: ") != std::string::npos);
    std::ofstream(hole, std::ios::binary) << std::string("\x08\0\0\0", 4);
    fs::resize_file(hole, 1 << 30);
    CHECK(answer(client, "/state_restore", hole) == "/fail /state_restore File '" + hole +
                                                        "': bundle 1 at byte 0: its size is 134217728 bytes, more than "
                                                        "67108928");
    client.send("/g_queryTree", {0, 0});
    CHECK(client.receive() == "/g_queryTree.reply 0 0 1 5 0");
}

TEST_CASE("the state of a server that has nothing is a file, too") {
    const TemporaryFile file;
    Rig rig;
    Client client(rig);
    CHECK(answer(client, "/state_save", file.path) == "/done /state_save");
    CHECK(fs::file_size(file.path) > 0);
    client.send("/c_set", {0, 2.f});
    client.send("/g_new", {5});
    CHECK(answer(client, "/state_restore", file.path) == "/done /state_restore");
    client.send("/g_queryTree", {0, 0});
    CHECK(client.receive() == "/g_queryTree.reply 0 0 0");
    client.send("/c_get", {0});
    CHECK(client.receive() == "/c_set 0 0f"); // as it was
}

TEST_CASE("a state takes the place of nothing but a file, and nothing that lies there is waited for") {
    const TemporaryFolder folder;
    Rig rig;
    Client client(rig);
    client.send("/g_new", {5});
    const auto refused = [&](const std::string& path, const std::string& why) {
        CHECK(answer(client, "/state_save", path) == "/fail /state_save File '" + path + "': " + why);
    };
    const std::string fifo = folder / "fifo", socket = folder / "socket", link = folder / "link";
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    refused(fifo, "it is a FIFO, not a file");
    const Descriptor reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK)); // nor with one who reads
    refused(fifo, "it is a FIFO, not a file");
    CHECK(fs::is_fifo(fifo));
    const Descriptor listener(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{AF_UNIX, {}};
    socket.copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    refused(socket, "it is a socket, not a file");
    CHECK(fs::is_socket(socket));
    // No file can be made beside it, so that it stays a device whatever the server does.
    if (const std::string device = "/dev/pts/ptmx"; fs::exists(device))
        refused(device, "it is a device, not a file");
    else
        MESSAGE("skipped: there is no " << device);
    refused(folder.path, "it is a folder, not a file");
    refused(folder / "", "it is a folder, not a file");
    fs::create_symlink("fifo", link);
    refused(link, "it is a FIFO, not a file");
    fs::create_symlink("loop", folder / "loop");
    refused(folder / "loop", "Too many levels of symbolic links");

    // Names that are near: somebody else's.
    const std::string state = folder / "x.osc", near = folder / "x.osc.new", with_fifo = folder / "y.osc";
    std::ofstream(near) << "precious";
    REQUIRE(mkfifo(folder.operator/("y.osc.new").c_str(), 0600) == 0);
    CHECK(answer(client, "/state_save", state) == "/done /state_save");
    CHECK(answer(client, "/state_save", with_fifo) == "/done /state_save");
    CHECK(text_of(near) == "precious");
    CHECK(text_of(with_fifo) == text_of(state));
    CHECK(folder.files() == 8);
}

TEST_CASE("a state is saved where a link leads to, and who may read the file stays") {
    const TemporaryFolder folder;
    fs::create_directory(folder / "other");
    const std::string real = folder / "other/real", link = folder / "link", second = folder / "second";
    std::ofstream(real) << "x";
    fs::permissions(real, fs::perms(0640));
    fs::create_symlink("other/real", link);
    fs::create_symlink(link, second);
    fs::create_symlink("other/new", folder / "dangling");
    Rig rig;
    Client client(rig);
    client.send("/g_new", {5});
    CHECK(answer(client, "/state_save", second) == "/done /state_save");
    CHECK(fs::is_symlink(link));
    CHECK(fs::is_symlink(second));
    CHECK(fs::file_size(real) > 1);
    CHECK(fs::status(real).permissions() == fs::perms(0640));
    CHECK(answer(client, "/state_save", folder / "dangling") == "/done /state_save");
    CHECK(text_of(folder / "other/new") == text_of(real));
    CHECK(answer(client, "/state_restore", second) == "/done /state_restore");
}

TEST_CASE("a state that can't be written whole leaves the one before, and nothing else") {
    const TemporaryFolder folder;
    const std::string path = folder / "x.osc";
    Rig rig;
    Client client(rig);
    client.send("/g_new", {5});
    CHECK(answer(client, "/state_save", path) == "/done /state_save");
    const std::string before = text_of(path);
    client.send("/g_new", {6});
    {
        const FileSizeLimit limit(60);
        CHECK(answer(client, "/state_save", path) ==
              "/fail /state_save File '" + path + "': it isn't written whole: File too large");
    }
    CHECK(text_of(path) == before);
    CHECK(folder.files() == 1);
    CHECK(answer(client, "/state_save", path) == "/done /state_save");
    CHECK(text_of(path) != before);
}

TEST_CASE("a server that may touch one folder saves nothing elsewhere") {
    const TemporaryFolder folder;
    const fs::path inside = folder.path / "inside";
    fs::create_directory(inside);
    fs::create_symlink("../out", inside / "out");
    fs::create_symlink("in", inside / "link");
    ServerSettings settings;
    settings.restricted_path = inside;
    Rig rig(settings);
    Client client(rig);
    const auto refused = [&](const std::string& path, const std::string& why) {
        CHECK(answer(client, "/state_save", path) == "/fail /state_save File '" + path + "': " + why);
    };
    for (const char* path : {"/tmp/x.osc", "../out", "out"})
        refused(path, "access denied");
    refused("nothing/../../out", "No such file or directory");
    refused("..", "it is a folder, not a file");
    CHECK(!fs::exists(folder / "out"));
    CHECK(fs::is_symlink(inside / "out"));
    for (const std::string& path : {std::string("link"), (inside / "y").string()})
        CHECK(answer(client, "/state_save", path) == "/done /state_save");
    CHECK(fs::exists(inside / "in"));
    CHECK(fs::is_symlink(inside / "link"));
}

TEST_CASE("a server that may touch a folder that isn't there saves nothing") {
    ServerSettings settings;
    settings.restricted_path = "/tmp/nonexistent";
    Rig rig(settings);
    Client client(rig);
    CHECK(answer(client, "/state_save", "/tmp/x.osc") == "/fail /state_save File '/tmp/x.osc': access denied");
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
