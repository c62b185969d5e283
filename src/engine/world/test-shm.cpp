// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/world/shared-memory.hpp"
#include "engine/world/test-reader.hpp"

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace scs;
using scs::test::ShmReader;

namespace {

/// Unique to this process, so that tests that run at the same time don't collide.
std::string test_name() {
    return "scs-test-" + std::to_string(::getpid());
}

std::string path_of(const std::string& name) {
    return "/dev/shm/" + name;
}

bool exists(const std::string& name) {
    struct stat info;
    return ::stat(path_of(name).c_str(), &info) == 0;
}

std::shared_ptr<SharedMemory> make(int control_buses = 16384) {
    auto made = SharedMemory::create(test_name(), control_buses);
    if (!made)
        FAIL(made.error());
    return made.value();
}

} // namespace

TEST_CASE("the layout is scsynth's") {
    using shm::Root, shm::Scope, shm::ScopeRegion;
    CHECK(offsetof(Scope, status) == 0);
    CHECK(offsetof(Scope, max_frames) == 4);
    CHECK(offsetof(Scope, channels) == 8);
    CHECK(offsetof(Scope, data) == 16);
    CHECK(offsetof(Scope, stage) == 24);
    CHECK(offsetof(Scope, writing) == 28);
    CHECK(offsetof(Scope, reading) == 32);
    CHECK(offsetof(Scope, regions) == 40);
    CHECK(offsetof(ScopeRegion, frames) == 8);
    CHECK(offsetof(ScopeRegion, changed) == 12);

    auto server = make(16);
    ShmReader client(test_name());
    Root& root = client.root();
    const auto offset = [&](auto& member) { return reinterpret_cast<char*>(&member) - reinterpret_cast<char*>(&root); };
    CHECK(offset(root.control_buses) == 32);
    CHECK(offset(root.scopes) == 40);
}

TEST_CASE("a client sees the control buses and the server what the client sets") {
    auto server = make();
    ShmReader client(test_name());
    CHECK(client.bytes() == size_t(8) << 20);
    CHECK(client.root().scopes.size() == 128);
    CHECK(client.control_buses()[16383] == 0.f);
    server->control_buses()[16383] = 3.f;
    CHECK(client.control_buses()[16383] == 3.f);
    client.control_buses()[7] = -1.f;
    CHECK(server->control_buses()[7] == -1.f);
    server->reset();
    CHECK(client.control_buses()[7] == 0.f);
}

TEST_CASE("many control buses make it larger") {
    auto server = make(1 << 20);
    ShmReader client(test_name());
    CHECK(client.bytes() > size_t(8) << 20);
    server->control_buses()[(1 << 20) - 1] = 2.f;
    CHECK(client.control_buses()[(1 << 20) - 1] == 2.f);
    CHECK_FALSE(SharedMemory::create("scs-test-none", -1));
}

TEST_CASE("all of its pages are reserved from the start") {
    auto server = make();
    struct stat info;
    REQUIRE(::stat(path_of(test_name()).c_str(), &info) == 0);
    CHECK(info.st_blocks * 512 >= 8 << 20);
    CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("it is gone with its owner, also while a client has it open, but never another's") {
    auto server = make();
    ShmReader client(test_name());
    server->remove();
    CHECK_FALSE(exists(test_name()));
    client.control_buses()[0] = 1.f;
    CHECK(server->control_buses()[0] == 1.f);
    auto next = make();
    server.reset();
    CHECK(exists(test_name()));
    next.reset();
    CHECK_FALSE(exists(test_name()));
}

TEST_CASE("what a killed process left is replaced, a living one's is not") {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const std::string name = test_name();
    const pid_t child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL); // also if a check fails
        auto made = SharedMemory::create(name, 16);
        const char ok = made ? 'y' : 'n';
        (void)!::write(ready[1], &ok, 1);
        for (;;)
            ::pause();
    }
    char answer = 0;
    REQUIRE(::read(ready[0], &answer, 1) == 1);
    REQUIRE(answer == 'y');
    auto refused = SharedMemory::create(name, 16);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().find(path_of(name)) != std::string::npos);
    ::kill(child, SIGKILL);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    CHECK(exists(name));
    auto server = make(16);
    ShmReader client(name);
    server->control_buses()[3] = 5.f;
    CHECK(client.control_buses()[3] == 5.f);
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_CASE("what killed servers left is removed, and nothing that may be somebody's") {
    const std::string name = test_name() + "_";
    const auto write = [&](const std::string& at, const std::string& text) {
        std::ofstream(path_of(at), std::ios::binary) << text;
    };
    const pid_t killed = ::fork();
    REQUIRE(killed >= 0);
    if (killed == 0) {
        const auto left = SharedMemory::create(name + "1", 16), other = SharedMemory::create(name + "2x", 16);
        const auto aside = SharedMemory::create(name + "7", 16);
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    REQUIRE(::waitpid(killed, &status, 0) == killed);
    REQUIRE(exists(name + "1"));
    const std::string aside = name + "7.abandoned-12"; // as by a server that was killed while it removed one
    REQUIRE(std::rename(path_of(name + "7").c_str(), path_of(aside).c_str()) == 0);
    auto living = SharedMemory::create(name + "2", 16);
    REQUIRE(living);
    write(name + "3", std::string(100, '\0')); // as scsynth's, which has nothing there, and locks nothing
    write(name + "4", "");
    REQUIRE(::symlink(path_of(name + "2x").c_str(), path_of(name + "5").c_str()) == 0);
    REQUIRE(::mkfifo(path_of(name + "6").c_str(), 0600) == 0);

    SharedMemory::remove_abandoned(name);
    CHECK_FALSE(exists(name + "1"));
    CHECK_FALSE(exists(aside));
    for (const char* kept : {"2", "2x", "3", "4", "5", "6"}) {
        CAPTURE(kept);
        CHECK(exists(name + kept));
    }
    SharedMemory::remove_abandoned(name, "/proc/none");
    living.value().reset();
    for (const char* end : {"2x", "3", "4", "5", "6"})
        ::unlink(path_of(name + end).c_str());
}

TEST_CASE("a segment that is abandoned, but another user's, is kept") {
    if (::geteuid() != 0) {
        MESSAGE("skipped: only root can make another user's file");
        return;
    }
    const std::string name = test_name() + "_";
    const pid_t killed = ::fork();
    REQUIRE(killed >= 0);
    if (killed == 0) {
        const auto left = SharedMemory::create(name + "1", 16);
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    REQUIRE(::waitpid(killed, &status, 0) == killed);
    REQUIRE(::chown(path_of(name + "1").c_str(), 65534, 65534) == 0);
    SharedMemory::remove_abandoned(name);
    CHECK(exists(name + "1"));
    REQUIRE(::chown(path_of(name + "1").c_str(), 0, 0) == 0);
    SharedMemory::remove_abandoned(name);
    CHECK_FALSE(exists(name + "1"));
}

TEST_CASE("something else that has the name is replaced, too") {
    std::ofstream(path_of(test_name())) << "stale";
    auto server = make(16);
    CHECK(ShmReader(test_name()).root().scopes.size() == 128);
}

TEST_CASE("without a folder there is an error") {
    std::string folder = "/tmp/scs-test-XXXXXX";
    REQUIRE(::mkdtemp(folder.data()));
    REQUIRE(::rmdir(folder.c_str()) == 0);
    const auto nowhere = SharedMemory::create(test_name(), 16, folder);
    REQUIRE_FALSE(nowhere);
    CHECK(nowhere.error() == "no shared memory for clients: " + folder + ": No such file or directory");
}

TEST_CASE("without space there is an error, and no fault later") {
    std::string folder = "/tmp/scs-test-XXXXXX";
    REQUIRE(::mkdtemp(folder.data()));
    constexpr int refused = 0, made_it = 1, no_mount = 2;
    const pid_t child = ::fork();
    if (child == 0) {
        // On a file system of its own that is too small.
        if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("none", folder.c_str(), "tmpfs", 0, "size=1m") != 0)
            ::_exit(no_mount);
        auto made = SharedMemory::create("full", 16, folder);
        ::_exit(!made && made.error().find("No space left") != std::string::npos ? refused : made_it);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    ::rmdir(folder.c_str());
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == no_mount)
        MESSAGE("skipped: only root may mount a file system");
    else
        CHECK(WEXITSTATUS(status) == refused);
}

TEST_CASE("a scope buffer is taken, written, read and given back") {
    auto server = make();
    ScopeBuffers& scopes = server->scopes();
    ShmReader client(test_name());
    shm::Scope& scope = client.scope(5);
    CHECK_FALSE(ShmReader::valid(scope));
    CHECK(scopes.push(5, 1) == nullptr);

    float* to = scopes.acquire(5, 2, 100);
    REQUIRE(to);
    CHECK(scopes.acquire(5, 2, 100) == nullptr);
    REQUIRE(ShmReader::valid(scope));
    CHECK(scope.channels == 2);
    CHECK(scope.max_frames == 100);
    CHECK(ShmReader::pull(scope) == 0);
    for (int round = 1; round <= 5; ++round) {
        to[0] = to[199] = float(round);
        to = scopes.push(5, 90 + round);
        REQUIRE(to);
        CHECK(ShmReader::pull(scope) == uint32_t(90 + round));
        CHECK(ShmReader::data(scope)[0] == float(round));
        CHECK(ShmReader::data(scope)[199] == float(round));
    }
    to[0] = 6.f; // only the newest frames are read
    to = scopes.push(5, 1);
    to[0] = 7.f;
    to = scopes.push(5, 1000);
    CHECK(ShmReader::pull(scope) == 100);
    CHECK(ShmReader::data(scope)[0] == 7.f);

    scopes.release(5);
    CHECK_FALSE(ShmReader::valid(scope));
    REQUIRE(scopes.acquire(5, 1, 10));
    CHECK(ShmReader::pull(scope) == 0);
    server->reset();
    CHECK_FALSE(ShmReader::valid(scope));
    CHECK(scopes.acquire(5, 1, 10));
}

TEST_CASE("scope buffers that can't be are refused") {
    auto server = make();
    ScopeBuffers& scopes = server->scopes();
    for (const auto& [index, channels, frames] : std::initializer_list<std::array<int64_t, 3>>{
             {-1, 1, 1}, {128, 1, 1}, {0, 0, 1}, {0, 1, 0}, {0, -1, -1}, {0, 1 << 20, 1}, {0, INT32_MAX, INT32_MAX}})
        CHECK(scopes.acquire(index, channels, frames) == nullptr);
    for (const int index : {-1, 0, 128}) {
        scopes.release(index);
        CHECK(scopes.push(index, 1) == nullptr);
    }
    CHECK(scopes.acquire(127, 1, 1));
}

TEST_CASE("the room for samples is used up and comes back") {
    auto server = make();
    ScopeBuffers& scopes = server->scopes();
    // Three regions of two channels of 4096 frames take 24 of the 1024 units.
    int taken = 0;
    while (scopes.acquire(taken, 2, 4096))
        ++taken;
    CHECK(taken == 1024 / 24);
    CHECK(scopes.acquire(127, 2, 4096) == nullptr);
    scopes.release(3);
    float* const hole = scopes.acquire(127, 2, 4096);
    CHECK(hole);
    for (int i = 0; i < taken; ++i)
        scopes.release(i);
    scopes.release(127);
    CHECK(scopes.acquire(0, 1, 1024 * 1024 / 3));
}

TEST_CASE("what a client writes over a scope buffer doesn't lead the server astray") {
    auto server = make();
    ScopeBuffers& scopes = server->scopes();
    ShmReader client(test_name());
    float* const first = scopes.acquire(0, 1, 64);
    shm::Scope& scope = client.scope(0);
    for (const int nonsense : {-1, 3, INT32_MAX, INT32_MIN}) {
        scope.stage = nonsense;
        scope.writing = nonsense;
        scope.max_frames = scope.channels = 0xffffffff;
        scope.data = nullptr;
        for (auto& region : scope.regions)
            region.data = nullptr;
        float* const to = scopes.push(0, 64);
        REQUIRE(to);
        CHECK(std::abs(to - first) <= 2 * 64);
    }
    scope.status = 77;
    scopes.release(0);
    CHECK(scopes.acquire(0, 1, 64) == first);
    CHECK(client.scope(0).max_frames == 64);
}

TEST_CASE("reader and writer never meet in a region") {
    constexpr uint32_t frames = 256;
    auto server = make();
    ShmReader client(test_name());
    float* to = server->scopes().acquire(0, 1, frames);
    REQUIRE(to);
    std::atomic<bool> done{false};
    std::thread writer([&] {
        for (int round = 1; round <= 20000; ++round) {
            std::fill_n(to, frames, float(round));
            to = server->scopes().push(0, frames);
        }
        done = true;
    });
    // At the server's address: a race detector doesn't see that one memory is mapped at two addresses.
    const auto from_client =
        reinterpret_cast<char*>(&client.scope(0)) - reinterpret_cast<char*>(client.control_buses());
    auto& scope = *reinterpret_cast<shm::Scope*>(reinterpret_cast<char*>(server->control_buses()) + from_client);
    float last = 0;
    int torn = 0, backwards = 0, seen = 0;
    for (bool finished = false; !finished;) {
        finished = done;
        if (ShmReader::pull(scope) == 0)
            continue;
        const float* data = ShmReader::data(scope);
        const float value = data[0];
        for (uint32_t i = 1; i < frames; ++i)
            torn += data[i] != value;
        backwards += value < last;
        seen += value != last;
        last = value;
    }
    writer.join();
    CHECK(torn == 0);
    CHECK(backwards == 0);
    CHECK(seen > 0);
    CHECK(last == 20000.f);
}
