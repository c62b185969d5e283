// SPDX-License-Identifier: GPL-3.0-or-later
// The Unix socket beside the port.
#include "osc/test-rig.hpp"
#include "osc/unix-address.hpp"
#include "osc/unix-listener.hpp"

#include <arpa/inet.h>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;

namespace {

struct Folder {
    Folder() {
        char name[] = "/tmp/scs-unix-XXXXXX";
        REQUIRE(::mkdtemp(name));
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    bool empty() const { return std::filesystem::is_empty(path); }
    std::string path;
};

ServerSettings with_socket(const std::string& path) {
    ServerSettings settings;
    settings.socket = path;
    return settings;
}

std::string error_of(const std::string& path) {
    const auto opened = UnixListener::open(path);
    return opened ? "" : opened.error();
}

/// A client of the Unix socket.
class Local {
public:
    explicit Local(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const sockaddr_un name = unix_address(path);
        connected = ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
    }
    void send(const Bytes& packet) {
        Bytes all;
        put_int(all, packet.size(), 4);
        all.insert(all.end(), packet.begin(), packet.end());
        size_t sent = 0;
        while (sent < all.size()) {
            const ssize_t size = ::send(fd_.get(), all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
            REQUIRE(size > 0);
            sent += size_t(size);
        }
    }
    /// The next answer's address, or "" if there is none any more.
    std::string receive() {
        uint32_t size = 0;
        if (::recv(fd_.get(), &size, 4, MSG_WAITALL) != 4)
            return "";
        Bytes bytes(ntohl(size));
        REQUIRE(::recv(fd_.get(), bytes.data(), bytes.size(), MSG_WAITALL) == ssize_t(bytes.size()));
        const auto packet = decode(bytes);
        REQUIRE(packet);
        return std::string(packet.value().messages()[0].address);
    }
    bool connected = false;

private:
    Descriptor fd_;
};

} // namespace

TEST_CASE("a server answers by its Unix socket, of which only its user has the file") {
    const Folder folder;
    const std::string path = folder.path + "/socket";
    const mode_t before = ::umask(0);
    {
        ServerSettings settings = with_socket(path);
        settings.password = "secret"; // of TCP
        Rig rig(settings);
        struct stat status;
        REQUIRE(::lstat(path.c_str(), &status) == 0);
        CHECK(status.st_mode == (S_IFSOCK | 0600));
        Local client(path);
        REQUIRE(client.connected);
        client.send(message("/status"));
        CHECK(client.receive() == "/status.reply");
        client.send(message("/b_alloc", {1, 64, 1}));
        CHECK(client.receive() == "/done");
        CHECK(rig.server().counters().refused == 0);
    }
    ::umask(before);
    CHECK(folder.empty());
}

TEST_CASE("it is there without TCP, and beside UDP; nothing is lost") {
    const Folder folder;
    const std::string path = folder.path + "/socket";
    ServerSettings settings = with_socket(path);
    settings.tcp = false;
    Rig rig(settings);
    Client udp(rig);
    udp.send("/sync", {1});
    CHECK(udp.receive() == "/synced 1");
    constexpr int count = 20000;
    Local client(path);
    std::thread sender([&] {
        for (int i = 0; i < count; ++i)
            client.send(message("/sync", {i}));
    });
    int answers = 0;
    while (answers < count && client.receive() == "/synced")
        ++answers;
    sender.join();
    CHECK(answers == count);
}

TEST_CASE("/quit ends it") {
    const Folder folder;
    const std::string path = folder.path + "/socket";
    Rig rig(with_socket(path));
    Local client(path);
    client.send(message("/quit"));
    CHECK(client.receive() == "/done");
    CHECK(client.receive() == "");
    CHECK(rig.wait_for_quit());
    CHECK_FALSE(Local(path).connected);
    CHECK(folder.empty());
}

TEST_CASE("by itself it is named after the port, in the runtime folder") {
    const Folder folder;
    const char* const was = std::getenv("XDG_RUNTIME_DIR");
    const std::string before = was ? was : "";
    ::setenv("XDG_RUNTIME_DIR", folder.path.c_str(), 1);
    {
        Rig rig;
        const std::string path = usual_socket_path(rig.server().port());
        CHECK(path == folder.path + "/pw-scsynth-" + std::to_string(rig.server().port()));
        CHECK(Local(path).connected);
    }
    CHECK(folder.empty());
    SUBCASE("what is in its place stays, and the server does without, and says so") {
        ServerSettings settings;
        settings.port = 0;
        // A port that is free, in whose place a link is planted.
        auto probe = UdpSocket::open("127.0.0.1", 0);
        REQUIRE(probe);
        const std::string path = usual_socket_path(probe.value().port());
        const std::string victim = folder.path + "/victim";
        std::ofstream(victim) << "text";
        std::filesystem::create_symlink(victim, path);
        const uint16_t port = probe.value().port();
        probe.value().close();
        settings.port = port;
        std::string log;
        std::mutex mutex;
        settings.log = [&](ServerSettings::Level, const std::string& line) {
            const std::lock_guard lock(mutex);
            log += line + "\n";
        };
        settings.wake = settings.quit = [] {};
        settings.state = [](const std::string&) {};
        settings.load_synthdefs = false;
        {
            const auto server = Server::start(std::move(settings));
            REQUIRE(server);
            const std::lock_guard lock(mutex);
            CHECK(log.find(path + " cannot be opened: there is a link in its place") != std::string::npos);
        }
        CHECK(std::filesystem::is_symlink(path));
        CHECK(std::filesystem::file_size(victim) == 4);
    }
    SUBCASE("no runtime folder") {
        ::unsetenv("XDG_RUNTIME_DIR");
        CHECK(usual_socket_path(1) == "");
        Rig rig;
        CHECK(rig.log() == "");
    }
    SUBCASE("one that isn't there") {
        ::setenv("XDG_RUNTIME_DIR", "/nowhere", 1);
        Rig rig;
        CHECK(rig.log().find("/nowhere/pw-scsynth-") != std::string::npos);
    }
    was ? ::setenv("XDG_RUNTIME_DIR", before.c_str(), 1) : ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_CASE("what can't be a Unix socket is an error") {
    const Folder folder;
    const std::string path = folder.path + "/socket";
    CHECK(error_of(folder.path + "/" + std::string(200, 'x')).find("too long") != std::string::npos);
    CHECK(error_of("/nowhere/socket").find("No such file or directory") != std::string::npos);
    std::ofstream(path) << "text";
    CHECK(error_of(path).find("a file in its place") != std::string::npos);
    CHECK(std::filesystem::file_size(path) == 4);
    std::filesystem::remove(path);
    std::filesystem::create_symlink("/nowhere", path);
    CHECK(error_of(path).find("a link in its place") != std::string::npos);
    std::filesystem::remove(path);
    std::filesystem::create_symlink(folder.path + "/elsewhere", path + ".lock");
    CHECK(error_of(path) != "");
    CHECK_FALSE(std::filesystem::exists(folder.path + "/elsewhere"));
    std::filesystem::remove(path + ".lock");
    ServerSettings settings = with_socket("here");
    settings.port = 0;
    auto server = Server::start(std::move(settings));
    REQUIRE_FALSE(server);
    CHECK(server.error().find("scsynth.osc.socket") != std::string::npos);
    settings = with_socket("/nowhere/socket");
    settings.port = 0;
    server = Server::start(std::move(settings));
    REQUIRE_FALSE(server);
    CHECK(server.error().find("/nowhere/socket") != std::string::npos);
    CHECK(folder.empty());
}

TEST_CASE("what a killed daemon has left is replaced, and nothing that is in use") {
    const Folder folder;
    const std::string path = folder.path + "/socket";
    int ready[2];
    REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto opened = UnixListener::open(path);
        const char byte = opened ? 1 : 0;
        static_cast<void>(!::write(ready[1], &byte, 1));
        ::pause();
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    REQUIRE(byte == 1);
    CHECK(error_of(path).find("another server has it") != std::string::npos);
    CHECK(Local(path).connected);
    REQUIRE(::kill(child, SIGKILL) == 0);
    ::waitpid(child, nullptr, 0);
    CHECK(std::filesystem::exists(path));
    CHECK_FALSE(Local(path).connected);
    {
        auto opened = UnixListener::open(path);
        REQUIRE(opened);
        CHECK(Local(path).connected);
    }
    CHECK(folder.empty());
    SUBCASE("another program's, which knows no lock") {
        const Descriptor other(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        const sockaddr_un name = unix_address(path);
        REQUIRE(::bind(other.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
        REQUIRE(::listen(other.get(), 1) == 0);
        CHECK(error_of(path).find("another program serves it") != std::string::npos);
        CHECK(std::filesystem::exists(path));
    }
}

TEST_CASE("no other user comes by it") {
    if (::geteuid() != 0) {
        MESSAGE("skipped: only root can be another user");
        return;
    }
    const Folder folder;
    REQUIRE(::chmod(folder.path.c_str(), 0755) == 0);
    const std::string path = folder.path + "/socket";
    Rig rig(with_socket(path));
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(::setresuid(65534, 65534, 65534) == 0 && !Local(path).connected && errno == EACCES ? 0 : 1);
    int status = 1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
}
