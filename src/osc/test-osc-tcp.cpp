// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/test-sanitized.hpp"
#include "osc/tcp-port.hpp"
#include "osc/test-rig.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;

namespace {

Bytes framed(const Bytes& packet) {
    Bytes all;
    put_int(all, packet.size(), 4);
    all.insert(all.end(), packet.begin(), packet.end());
    return all;
}

/// A TCP client that waits for its answers at most `patience`.
class Stream {
public:
    explicit Stream(Rig& rig) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(rig.server().port());
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const timeval limit{patience, 0};
        REQUIRE(::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
        REQUIRE(::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0);
        REQUIRE(::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    }
    Stream(Stream&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    ~Stream() {
        if (fd_ >= 0)
            ::close(fd_);
    }

    bool try_raw(const Bytes& bytes) {
        return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == ssize_t(bytes.size());
    }
    void raw(const Bytes& bytes) { REQUIRE(try_raw(bytes)); }
    /// Sends again and again, until the server takes nothing for a while. Returns the bytes that went.
    size_t send_as_many_as_go(const Bytes& bytes) {
        Bytes many;
        for (int i = 0; i < 1000; ++i)
            many.insert(many.end(), bytes.begin(), bytes.end());
        size_t sent = 0;
        pollfd fd{fd_, POLLOUT, 0};
        while (::poll(&fd, 1, 100) > 0) {
            const size_t at = sent % many.size();
            const ssize_t size = ::send(fd_, many.data() + at, many.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (size < 0)
                break;
            sent += size_t(size);
        }
        return sent;
    }
    void send(std::string_view address, std::initializer_list<ReplyArg> args = {}) {
        raw(framed(message(address, args)));
    }
    /// The next message's address and whole numbers; "" when the server closed the connection.
    std::string receive() {
        Bytes head(4);
        if (!fill(head))
            return "";
        uint32_t size = 0;
        for (const std::byte b : head)
            size = size << 8 | uint32_t(b);
        Bytes body(size);
        REQUIRE(fill(body));
        const auto packet = decode(body);
        REQUIRE(packet);
        const Message& m = packet.value().messages()[0];
        std::string text(m.address);
        for (const Arg& arg : m.args)
            text += arg.type == Arg::Type::int32    ? " " + std::to_string(arg.i)
                    : arg.type == Arg::Type::string ? " " + std::string(arg.text())
                                                    : "";
        return text;
    }

private:
    bool fill(Bytes& bytes) {
        for (size_t at = 0; at < bytes.size();) {
            const ssize_t size = ::recv(fd_, bytes.data() + at, bytes.size() - at, 0);
            REQUIRE((size >= 0 || errno == ECONNRESET));
            if (size <= 0)
                return false;
            at += size_t(size);
        }
        return true;
    }
    int fd_;
};

ServerSettings with_password(const char* password) {
    ServerSettings settings;
    settings.password = password;
    return settings;
}

Bytes password_packet(std::string_view text) {
    Bytes packet;
    for (const char c : text)
        packet.push_back(std::byte(c));
    packet.push_back({});
    return framed(packet);
}

/// The connection is shut down first and dropped, which is logged, when it is served next.
bool is_logged_as_not_reading(Rig& rig) {
    const auto is_logged = [&] { return rig.log().find("it doesn't read") != std::string::npos; };
    for (int i = 0; i < 1000 && !is_logged(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return is_logged();
}

} // namespace

TEST_CASE("packets may come in any pieces") {
    Rig rig;
    Stream client(rig);
    const Bytes two = [] {
        Bytes all = framed(message("/sync", {1}));
        const Bytes second = framed(message("/sync", {2}));
        all.insert(all.end(), second.begin(), second.end());
        return all;
    }();
    client.raw(two);
    CHECK(client.receive() == "/synced 1");
    CHECK(client.receive() == "/synced 2");
    for (const std::byte b : two)
        client.raw({b});
    CHECK(client.receive() == "/synced 1");
    CHECK(client.receive() == "/synced 2");
}

TEST_CASE("a packet larger than any datagram") {
    Rig rig;
    Stream client(rig);
    std::vector<Bytes> messages(20000, message("/c_set", {0, 1.f}));
    messages.push_back(message("/sync", {7}));
    client.raw(framed(bundle(1, messages)));
    CHECK(client.receive() == "/synced 7");
    client.send("/c_getn", {0, 128});
    CHECK(client.receive() == "/c_setn 0 128");
    CHECK(rig.server().counters().decoded == 2);
}

TEST_CASE("a client whose connection ends is logged out") {
    ServerSettings settings;
    settings.max_logins = 1;
    Rig rig(settings);
    for (int round = 0; round < 3; ++round) {
        Stream client(rig);
        std::string reply;
        // The end of the one before may be seen a little later.
        for (int tries = 0; tries < 1000 && reply != "/done /notify 0 1"; ++tries) {
            client.send("/notify", {1});
            reply = client.receive();
        }
        CHECK(reply == "/done /notify 0 1");
        client.send("/g_new", {5 + round, 0, 0});
        CHECK(client.receive().starts_with("/n_go " + std::to_string(5 + round)));
    }
}

TEST_CASE("a connection whose framing is lost is closed, and others live") {
    Rig rig;
    Stream other(rig);
    for (const uint64_t size : {uint64_t(0xffffffff), uint64_t(0x80000000), uint64_t(TcpPort::max_packet) + 1}) {
        Stream client(rig);
        Bytes head;
        put_int(head, size, 4);
        client.raw(head);
        CHECK(client.receive() == "");
    }
    Stream(rig).raw(Bytes(7)); // ends in the middle of a packet
    Stream empty(rig);
    empty.raw(framed({}));
    empty.send("/sync", {4});
    CHECK(empty.receive() == "/synced 4");
    CHECK(rig.server().counters().rejected >= 1);
    other.send("/sync", {3});
    CHECK(other.receive() == "/synced 3");
}

TEST_CASE("a client that doesn't read waits until it does, and others are served") {
    Rig rig;
    Stream lazy(rig), other(rig);
    const Bytes request = framed(message("/version"));
    const size_t sent = lazy.send_as_many_as_go(request) / request.size();
    CHECK(sent > 10000);
    CHECK(rig.server().counters().decoded < sent);
    other.send("/sync", {3});
    CHECK(other.receive() == "/synced 3");
    size_t answers = 0;
    while (answers < sent && lazy.receive().starts_with("/version.reply"))
        ++answers;
    CHECK(answers == sent);
    CHECK(rig.log() == "");
}

TEST_CASE("those who ask for much, don't read and vanish don't delay the others") {
    Rig rig;
    Client udp(rig);
    Stream other(rig);
    const auto decoded = [&] { return rig.server().counters().decoded.load(); };
    std::vector<ReplyArg> ranges;
    for (int i = 0; i < 40; ++i)
        ranges.insert(ranges.end(), {0, 128}); // 40 times 128 values, of 26 kB in the answer
    ReplyComposer composer;
    const auto composed = composer.compose("/c_getn", ranges);
    REQUIRE(composed);
    const Bytes request = framed({composed.value().begin(), composed.value().end()});

#if defined(SCS_SANITIZED)
    constexpr int crowd = 4; // the server takes minutes for more
#else
    constexpr int crowd = 40;
#endif
    size_t sent = 0;
    uint64_t at_end = 0;
    {
        std::vector<Stream> lazy;
        for (int i = 0; i < crowd; ++i)
            lazy.emplace_back(rig);
        for (Stream& each : lazy)
            sent += each.send_as_many_as_go(request) / request.size();
        int calm = 0; // times in a row that the server has read nothing of theirs
        for (int i = 0; i < 5000 && calm < 10; ++i) {
            const uint64_t before = decoded();
            other.send("/sync", {i});
            CHECK(other.receive() == "/synced " + std::to_string(i));
            udp.until_synced();
            CHECK(decoded() - before < 1000);
            calm = decoded() - before <= 4 ? calm + 1 : 0;
        }
        CHECK(calm == 10);
        at_end = decoded();
    }
    for (int i = 0; i < 200; ++i) {
        udp.until_synced();
        other.send("/sync", {i});
        CHECK(other.receive() == "/synced " + std::to_string(i));
    }
    CHECK(sent > at_end + 20 * crowd);
    CHECK(decoded() - at_end < 400 + 2 * crowd);
}

TEST_CASE("what a client has sent is done, though it ends at once") {
    Rig rig;
    constexpr int count = 20000;
    {
        Stream client(rig);
        Bytes all;
        for (int id = 0; id < count; ++id) {
            const Bytes one = framed(message("/c_set", {id % 128, float(id)}));
            all.insert(all.end(), one.begin(), one.end());
        }
        client.raw(all);
    }
    CHECK(wait_until([&] { return rig.server().counters().decoded == count; }));
    Client(rig).until_synced();
}

TEST_CASE("a client that doesn't read what it is notified of is closed, and the log says why") {
    Rig rig;
    Stream lazy(rig), other(rig);
    lazy.send("/notify", {1});
    lazy.send("/sync", {1});
    for (int round = 0; round < 400 && rig.log().empty(); ++round) {
        for (int id = 1000; id < 1500; ++id)
            other.send("/g_new", {id, 0, 0});
        other.send("/g_freeAll", {0});
        other.send("/sync", {round});
        CHECK(other.receive() == "/synced " + std::to_string(round));
    }
    CHECK(is_logged_as_not_reading(rig));
}

TEST_CASE("two hundred connections at once") {
    Rig rig;
    std::vector<Stream> clients;
    for (int i = 0; i < 200; ++i)
        clients.emplace_back(rig);
    for (Stream& client : clients)
        client.send("/sync", {1});
    for (Stream& client : clients)
        CHECK(client.receive() == "/synced 1");
}

TEST_CASE("more packets than the engine takes at once wait, and none is lost") {
    Rig rig;
    Stream client(rig);
    Bytes all;
    constexpr int count = 50000;
    for (int i = 0; i < count; ++i) {
        const Bytes one = framed(message("/sync", {i}));
        all.insert(all.end(), one.begin(), one.end());
    }
    std::thread writer([&] { client.raw(all); });
    int missing = 0;
    for (int i = 0; i < count; ++i)
        missing += client.receive() != "/synced " + std::to_string(i);
    writer.join();
    CHECK(missing == 0);
}

TEST_CASE("a password") {
    Rig rig(with_password("secret"));
    SUBCASE("the right one") {
        Stream client(rig);
        Bytes all = password_packet("secret");
        const Bytes next = framed(message("/sync", {1}));
        all.insert(all.end(), next.begin(), next.end());
        client.raw(all);
        CHECK(client.receive() == "/synced 1");
    }
    SUBCASE("none") {
        Stream client(rig);
        client.raw(framed(message("/notify", {1, 2, 3, 4, 5, 6})));
        CHECK(client.receive() == "");
    }
    SUBCASE("a wrong one costs a second") {
        Stream client(rig);
        const auto began = std::chrono::steady_clock::now();
        client.raw(password_packet("guess"));
        client.raw(password_packet("secret"));
        client.send("/sync", {1});
        CHECK(client.receive() == "/synced 1");
        CHECK(std::chrono::steady_clock::now() - began >= std::chrono::seconds(1));
    }
    SUBCASE("one that begins like it") {
        Stream client(rig);
        client.raw(password_packet("secre"));
        client.raw(password_packet("secrets"));
        client.raw(password_packet(""));
        client.raw(password_packet("x"));
        CHECK(client.receive() == "");
    }
}

TEST_CASE("a password turns UDP off, unless it is asked for") {
    for (const char* udp : {"auto", "true", "false"})
        for (const char* password : {"", "secret"}) {
            CAPTURE(udp);
            CAPTURE(password);
            ServerSettings settings = with_password(password);
            settings.udp = udp;
            Rig rig(settings);
            REQUIRE(rig.server().port() > 0);
            Stream tcp(rig);
            if (*password)
                tcp.raw(password_packet(password));
            tcp.send("/sync", {1});
            CHECK(tcp.receive() == "/synced 1");
            Client client(rig);
            client.try_send(message("/sync", {2}));
            const bool expected = udp == std::string("true") || (udp == std::string("auto") && !*password);
            if (expected)
                CHECK(client.receive() == "/synced 2");
            else
                CHECK(client.receive(200) == "");
        }
}

TEST_CASE("neither UDP nor TCP makes no server") {
    ServerSettings settings = with_password("secret");
    settings.port = 0;
    settings.tcp = false;
    const auto started = Server::start(settings);
    REQUIRE_FALSE(started);
    CHECK(started.error().find("scsynth.osc.udp") == 0);
}
