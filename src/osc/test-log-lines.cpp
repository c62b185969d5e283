// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/line-limit.hpp"
#include "engine/base/printable.hpp"
#include "engine/plugins/interface-table.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"
#include "osc/test-rig.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;

namespace {

/// Sends half a packet of impossible size, and waits until the server has closed the connection.
void break_connection(uint16_t port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    const uint32_t size = ~0u;
    REQUIRE(::send(fd, &size, sizeof size, MSG_NOSIGNAL) == ssize_t(sizeof size));
    char byte;
    REQUIRE(::recv(fd, &byte, 1, 0) <= 0);
    ::close(fd);
}

size_t count(const std::string& text, std::string_view what) {
    size_t found = 0;
    for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1))
        ++found;
    return found;
}

/// Has a plugin's command print what its Poll does, that often.
void define_poll() {
    PluginRegistry::instance().define_command(
        "testPoll",
        [](::World*, void*, ::sc_msg_iter* args, void*) {
            for (int left = args->geti(); left > 0; --left)
                interface_table()->fPrint("%s: %g\n", "label\n<3>fake", 0.5);
        },
        nullptr);
}

} // namespace

TEST_CASE("what isn't printable is escaped, byte by byte") {
    const std::pair<std::string_view, const char*> cases[] = {
        {"", ""},
        {"plain ~text", "plain ~text"},
        {"\x1b[31mred\n\t\x7f", "\\x1b[31mred\\x0a\\x09\\x7f"},
        {std::string_view("a\0b", 3), "a\\x00b"},
        {"für, 音, 🎹, \xc2\xa0", "für, 音, 🎹, \xc2\xa0"},
        {"\xff\xc3", "\\xff\\xc3"},
        {"\xc3(", "\\xc3("},
        {"\xc0\xaf\xe0\x80\xaf", "\\xc0\\xaf\\xe0\\x80\\xaf"},                   // longer than need be
        {"\xc2\x9b", "\\xc2\\x9b"},                                              // a control character in two bytes
        {"\xed\xa0\x80\xf4\x90\x80\x80", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80"}, // no characters
        {"\xe2\x80\xae", "\\xe2\\x80\\xae"},                                     // turns the rest round
        {"\xe9\x9f", "\\xe9\\x9f"},                                              // cut off
    };
    for (const auto& each : cases) {
        CAPTURE(each.second);
        CHECK(printable(each.first) == each.second);
        CHECK(is_printable(printable(each.first)));
        CHECK(is_printable(each.first) == (each.first == each.second));
    }
}

TEST_CASE("some lines at once, then one in each interval that says what was left out") {
    using std::chrono::milliseconds;
    LineLimit limit(3, milliseconds(1000));
    const auto start = LineLimit::Clock::now();
    for (int i = 0; i < 3; ++i)
        CHECK(limit.pass("line", start) == "line");
    for (int i = 0; i < 7; ++i)
        CHECK_FALSE(limit.pass("line", start));
    CHECK(limit.pass("line", start + milliseconds(1100)) == "line (7 such lines were left out)");
    CHECK_FALSE(limit.pass("line", start + milliseconds(1200)));
    CHECK(limit.pass("line", start + milliseconds(60'000)) == "line (1 such lines were left out)");
    for (int i = 0; i < 2; ++i)
        CHECK(limit.pass("line", start + milliseconds(60'000)) == "line");
    CHECK_FALSE(limit.pass("line", start + milliseconds(60'000)));
}

TEST_CASE("five hundred broken connections give a handful of lines") {
    Rig rig;
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 500; ++i)
        break_connection(rig.server().port());
    const auto seconds =
        size_t(std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began).count());
    const size_t lines = count(rig.log(), "connection is closed: a packet is too large");
    CHECK(lines >= 1);
    CHECK(lines <= 6 + seconds);
}

TEST_CASE("a thousand mistakes that are told of give a part of the lines") {
    Rig rig;
    Client client(rig);
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) {
        client.send("/s_new", {std::string_view("nothing"), 1000, 0, 0});
        if (i % 100 == 99) // a socket doesn't hold a thousand answers
            client.until_synced();
    }
    const auto tenths = size_t((std::chrono::steady_clock::now() - began) / std::chrono::milliseconds(100));
    const size_t lines = count(rig.log(), "SynthDef nothing not found");
    CHECK(lines >= 1);
    CHECK(lines <= 51 + tenths);
}

TEST_CASE("names with control characters are printed without them") {
    Rig rig;
    Client client(rig);
    client.send("/d_recv", {std::span<const std::byte>(synthdef("evil\x1b[2J\r\x9b", "NoSuchUGen"))});
    CHECK(client.receive().starts_with("/fail /d_recv evil\x1b[2J"));
    client.receive();
    client.send("/dumpOSC", {1});
    client.until_synced();
    client.send("/no\x1b]0;such\x07", {std::string_view("text\n\x1b[1A")});
    client.receive();
    client.until_synced();
    const std::string log = rig.log();
    CHECK(log.find("evil\\x1b[2J\\x0d\\x9b: UGen") != std::string::npos);
    CHECK(log.find("\"text\\x0a\\x1b[1A\"") != std::string::npos);
    CHECK(std::none_of(log.begin(), log.end(), [](char c) { return c != '\n' && uint8_t(c) < 0x20; }));
}

TEST_CASE("labels and names with newlines begin no line") {
    define_poll();
    Rig rig;
    Client client(rig);
    client.send("/cmd", {std::string_view("testPoll"), 1});
    client.send("/d_recv", {std::span<const std::byte>(synthdef("def\n<3>fake", ""))});
    CHECK(client.receive() == "/done /d_recv");
    client.send("/s_new", {std::string_view("def\n<3>fake"), 1000, 0, 0});
    client.send("/g_dumpTree", {0, 0});
    client.send("/n_trace", {0});
    CHECK(wait_until([&] { return count(rig.log(), " 1000 def") == 2; }));
    const std::string log = rig.log();
    CHECK(log.find("label\\x0a<3>fake: 0.5\n") != std::string::npos);
    CHECK(count(log, "   1000 def\\x0a<3>fake\n") == 2);
    CHECK(log.find("\n<3>") == std::string::npos);
}

TEST_CASE("of what is polled the log gets a thousand lines at once, and then a thousand a second") {
    define_poll();
    Rig rig;
    Client client(rig);
    constexpr size_t all = 6000; // for which the ring has room
    const auto began = std::chrono::steady_clock::now();
    client.send("/cmd", {std::string_view("testPoll"), int32_t(all)});
    client.until_synced();
    const auto ms = size_t((std::chrono::steady_clock::now() - began) / std::chrono::milliseconds(1));
    const size_t lines = count(rig.log(), "fake: 0.5");
    CHECK(lines >= 1000);
    CHECK(lines <= 1001 + ms);
    CHECK(lines < all);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    client.send("/cmd", {std::string_view("testPoll"), 1});
    client.until_synced();
    CHECK(rig.log().find(" such lines were left out)\n") != std::string::npos);
}
