// SPDX-License-Identifier: GPL-3.0-or-later
// The server while there is no memory: each allocation of its threads fails once, and runs of them do. It loses what
// it could not hold and serves on.
#include "osc/test-rig.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;

namespace {

// Allocations of the server's threads are counted from 0 when `counting` is set; those from `first_failing` on fail,
// `failures` of them.
std::atomic<bool> counting{false};
std::atomic<long> allocations{0}, first_failing{0}, failures{0};

bool is_servers_thread() {
    char name[16] = {};
    ::prctl(PR_GET_NAME, name);
    return std::string_view(name).starts_with("scsynth-");
}

bool fails() {
    if (!counting.load(std::memory_order_relaxed) || !is_servers_thread())
        return false;
    const long number = allocations.fetch_add(1) - first_failing.load();
    return number >= 0 && number < failures.load();
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) {
    return fails() ? (errno = ENOMEM, nullptr) : __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
    return fails() ? (errno = ENOMEM, nullptr) : __libc_calloc(count, size);
}

void* realloc(void* memory, size_t size) {
    return fails() ? (errno = ENOMEM, nullptr) : __libc_realloc(memory, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
    return fails() ? (errno = ENOMEM, nullptr) : __libc_memalign(alignment, size);
}

} // extern "C"
#pragma GCC visibility pop

namespace {

/// A connection that sends packets and may go away in the middle of one.
class Stream {
public:
    explicit Stream(Rig& rig) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in name{};
        name.sin_family = AF_INET;
        name.sin_port = htons(rig.server().port());
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::connect(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
    }
    ~Stream() { ::close(fd_); }
    void send(const Bytes& packet) {
        Bytes framed;
        put_int(framed, packet.size(), 4);
        framed.insert(framed.end(), packet.begin(), packet.end());
        (void)::send(fd_, framed.data(), framed.size(), MSG_NOSIGNAL);
    }

private:
    int fd_;
};

std::span<const std::byte> as_blob(const Bytes& bytes) {
    return bytes;
}

/// A bit of everything, on a fresh connection, too. Answers may come or not.
void send_script(Rig& rig, Client& client) {
    const Bytes definition = synthdef("memory", "");
    const Bytes completion = message("/b_query", {1});
    client.send("/notify", {1});
    client.send("/dumpOSC", {3});
    client.send("/d_recv", {as_blob(definition), as_blob(completion)});
    client.send("/b_alloc", {1, 4096, 1, as_blob(completion)});
    client.send("/b_gen", {1, "sine1", 7, 1.f});
    client.send("/b_getn", {1, 0, 512});
    client.send("/s_new", {"memory", 1000, 0, 0});
    client.send("/n_set", {1000, "gate", 0.5f});
    client.send("/g_queryTree", {0, 1});
    client.send("/n_free", {77777});
    client.send("/unknown", {1});
    client.send(bundle(uint64_t(3'990'000'000) << 32, {message("/n_free", {1000}), message("/n_free", {1})}));
    client.send(bundle(1, {message("/g_new", {5, 0, 0}), message("/n_free", {5})}));
    client.send(Bytes(12, std::byte(1)));
    {
        Stream stream(rig);
        stream.send(message("/notify", {1}));
        stream.send(message("/status"));
        stream.send(message("/g_queryTree", {0, 1}));
    }
    client.send("/d_free", {"memory"});
    client.send("/b_free", {1});
}

/// Clears up and waits until the server answers.
void settle(Rig& rig, Client& client) {
    std::string answer;
    for (int tries = 0; tries < 100 && answer.empty(); ++tries) {
        client.send("/sync", {7});
        do
            answer = client.receive(200);
        while (!answer.empty() && answer != "/synced 7");
    }
    REQUIRE(answer == "/synced 7");
    for (const std::string_view address : {"/clearSched", "/g_freeAll"})
        client.send(address, {0});
    client.send("/dumpOSC", {0});
    client.send("/notify", {0});
    client.until_synced();
    client.send("/status");
    const std::string status = client.receive();
    CHECK(status.starts_with("/status.reply 1 0 0 1 ")); // no synth, only the root
    const PacketCounters& counters = rig.server().counters();
    CHECK(counters.received == counters.decoded + counters.rejected);
}

/// Allocations of the script when `count` of them fail from the `first` on.
long run(Rig& rig, Client& client, long first, long count) {
    allocations = 0;
    first_failing = first;
    failures = count;
    counting = true;
    send_script(rig, client);
    client.send("/sync", {8});
    for (std::string answer = "-"; !answer.empty() && answer != "/synced 8";)
        answer = client.receive(20);
    counting = false;
    settle(rig, client);
    return allocations;
}

} // namespace

TEST_CASE("whichever allocation fails, the server serves on") {
    Rig rig;
    Client client(rig);
    const long all = run(rig, client, 0, 0);
    CHECK(all > 100);
    CHECK(rig.log().find("out of memory") == std::string::npos);
    for (const long failing : {1L, 3L, 30L, all})
        for (long first = 0; first<all; first += failing> 1 ? 5 : 1) {
            CAPTURE(failing);
            CAPTURE(first);
            run(rig, client, first, failing);
        }
    CHECK(rig.log().find("out of memory") != std::string::npos);
}
