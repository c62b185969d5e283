// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/companion.hpp"

#include "cli/top/refusal.hpp"
#include "cli/top/test-reply.hpp"
#include "osc/socket-address.hpp"

#include <doctest/doctest.h>

#include <sys/socket.h>

using namespace scs;
using namespace scs::top;

namespace {

/// A port where nobody answers, and who goes there.
struct Stand {
    Stand() : socket(::socket(AF_INET, SOCK_DGRAM, 0)) {
        sockaddr_in name = osc::to_sockaddr("127.0.0.1", 0).value();
        socklen_t size = sizeof name;
        REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&name), size) == 0);
        REQUIRE(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size) == 0);
        options.port = ntohs(name.sin_port);
        auto opened = Companion::open(options, "test", others);
        REQUIRE(opened);
        companion = std::move(opened.value());
    }

    Descriptor socket;
    ServerOptions options;
    const Companion::Others others = [] { return ""; };
    std::unique_ptr<Companion> companion;
};

} // namespace

TEST_CASE("a time to wait that is over is not an endless one") {
    Stand stand;
    for (const int longest : {0, -1, -1000})
        stand.companion->wait(-1, longest, [](const osc::Message&) {});
    CHECK_FALSE(stand.companion->over());
}

TEST_CASE("a server's refusal ends it, and changes nothing where it is shown") {
    Stand stand;
    const auto fail = [&](std::string_view address) {
        const osc::Packet packet = scs::test::reply("/fail", {address, std::string_view("\x1b[2J\n")});
        return stand.companion->fail_if_refused(packet.messages()[0], "/hid");
    };
    CHECK_FALSE(fail("/s_new"));
    CHECK_FALSE(stand.companion->over());
    CHECK(fail("/hid"));
    CHECK(stand.companion->end().error() == "the server refuses /hid: \\x1b[2J\\x0a");
}

TEST_CASE("sentences for refusals") {
    CHECK(refusal("/a", "Command not found") == "the server has no /a: it is scsynth, or an older pw-scsynth");
    CHECK(refusal("/a", "no") == "the server refuses /a: no");
    CHECK(refusal("/a", "\x1b[2J\n\xff") == "the server refuses /a: \\x1b[2J\\x0a\\xff");
}
