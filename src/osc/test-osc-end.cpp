// SPDX-License-Identifier: GPL-3.0-or-later
// The end of a server while its OSC thread is at work.
#include "osc/test-rig.hpp"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;

namespace {

template <class Condition>
bool wait_for(Condition condition, std::chrono::milliseconds time) {
    const auto deadline = std::chrono::steady_clock::now() + time;
    while (!condition() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return condition();
}

/// Holds the OSC thread in the next reply that it sends.
std::atomic<bool> hold{false}, held{false};

/// Threads with the worker's name: it, and those that plugins start on it.
int workers() {
    int count = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::ifstream(task.path() / "comm") >> name;
        count += name == "scsynth-worker";
    }
    return count;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" ssize_t sendto(int fd, const void* data, size_t size, int flags, const sockaddr* to, socklen_t to_size) {
    char name[16] = {};
    ::prctl(PR_GET_NAME, name);
    if (std::string_view(name) == "scsynth-osc" && hold) {
        held = true;
        wait_for([] { return !hold; }, std::chrono::seconds(10));
    }
    return ::syscall(SYS_sendto, fd, data, size, flags, to, to_size);
}
#pragma GCC visibility pop

TEST_CASE("jobs that come while the server ends are given back") {
    auto rig = std::make_unique<Rig>(ServerSettings{}, false); // without cycles the first job stays on its way back
    Client client(*rig);
    hold = true;
    client.send(bundle(1, {message("/sync", {int32_t(1)}), message("/status"), message("/sync", {int32_t(2)})}));
    REQUIRE(wait_for([] { return held.load(); }, std::chrono::seconds(10)));
    const int before = workers();
    std::thread end([&] { rig.reset(); });
    // Long enough for a worker that doesn't wait for the OSC thread.
    wait_for([&] { return workers() < before; }, std::chrono::milliseconds(500));
    hold = false;
    end.join();
    CHECK(workers() < before); // it wasn't left behind
}
